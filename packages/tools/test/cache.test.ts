import { assert, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import { describe } from "vitest"
import { defineTool, selfTools, type Tool, toolCache, type ToolResult } from "../src/index.ts"
import { type CachePolicy } from "../src/tool.ts"
import { DEFAULT_CACHED_RESULTS } from "../src/execute.ts"
import { ToolDefinitionInvalid } from "../src/errors.ts"
import { type ToolDefinition } from "../src/define.ts"

const cached = (cache?: CachePolicy, more: Partial<ToolDefinition<undefined>> = {}): Tool =>
  defineTool({
    name: "lookup",
    description: "For tests.",
    ...(cache === undefined ? {} : { cache }),
    ...more,
    run: () => ""
  })

const result: ToolResult = { ok: true, content: "berth 4", sends: [] }
const session = cached({ scope: "session" })
const tick = cached({ scope: "tick" }, { name: "by_tick" })
const ttl = cached({ scope: "ttl", ttlMs: 1_000 }, { name: "by_time" })

describe("cache I1: equal calls", () => {
  it("are the same tool and arguments, whatever the order of their keys", () => {
    const cache = toolCache()
    assert.isTrue(cache.keep(session, { quay: "north", deep: { a: 1, b: [2, 3] } }, result, 0))
    assert.strictEqual(cache.find(session, { deep: { b: [2, 3], a: 1 }, quay: "north" }, 0), result)
  })

  it("are distinguished by tool, argument and order of a list", () => {
    const cache = toolCache()
    cache.keep(session, { list: [1, 2] }, result, 0)
    const others: ReadonlyArray<Json> = [{ list: [2, 1] }, { list: [1, "2"] }, { list: [1, 2], more: null }, {}, null]
    for (const args of others) assert.isUndefined(cache.find(session, args, 0))
    assert.isUndefined(cache.find(tick, { list: [1, 2] }, 0))
  })

  it("are of one definition: a tool that was defined anew runs again", () => {
    const cache = toolCache()
    cache.keep(session, {}, result, 0)
    assert.isUndefined(cache.find(cached({ scope: "session" }), {}, 0))
  })
})

describe("cache I2: what is kept", () => {
  const never: ReadonlyArray<readonly [string, ToolResult]> = [
    ["a failure", { ok: false, content: "no", sends: [], failure: "threw" }],
    ["a result with sends", { ...result, sends: [{ v: 1 } as unknown as ToolResult["sends"][number]] }],
    ["a result with records", { ...result, records: [{ kind: "state", key: "a", value: 1 }] }],
    ["a pending result", { ...result, pending: true }],
    ["a result with a later report", { ...result, pending: true, report: "done" }]
  ]
  for (const [title, kept] of never) {
    it(`is not ${title}`, () => {
      const cache = toolCache()
      assert.isFalse(cache.keep(session, {}, kept, 0))
      assert.isUndefined(cache.find(session, {}, 0))
      assert.strictEqual(cache.size(), 0)
    })
  }

  it("is nothing of a tool that names no cache: that is the default", () => {
    const plain = cached()
    const cache = toolCache()
    assert.isUndefined(plain.cache)
    assert.isFalse(cache.keep(plain, {}, result, 0))
    assert.isUndefined(cache.find(plain, {}, 0))
  })

  it("is a result whose list of records is empty", () => {
    assert.isTrue(toolCache().keep(session, {}, { ...result, records: [] }, 0))
  })
})

describe("cache I3: scopes", () => {
  it("tick: ends with the next tick, not with the same one told twice", () => {
    const cache = toolCache()
    cache.onTick(7)
    cache.keep(tick, {}, result, 0)
    cache.onTick(7)
    assert.strictEqual(cache.find(tick, {}, 1e12), result)
    cache.onTick(8)
    assert.isUndefined(cache.find(tick, {}, 0))
    assert.strictEqual(cache.size(), 0)
  })

  it("session: outlives ticks and time", () => {
    const cache = toolCache()
    cache.onTick(1)
    cache.keep(session, {}, result, 0)
    cache.onTick(2)
    assert.strictEqual(cache.find(session, {}, 1e12), result)
  })

  it("ttl: lasts its time over ticks, to the millisecond, and no longer", () => {
    const cache = toolCache()
    cache.onTick(1)
    cache.keep(ttl, {}, result, 5_000)
    cache.onTick(2)
    assert.strictEqual(cache.find(ttl, {}, 5_999), result)
    assert.isUndefined(cache.find(ttl, {}, 6_000))
    assert.strictEqual(cache.size(), 0, "an expired result is forgotten")
  })

  it("ttl: using a result does not lengthen its time, keeping a new one does", () => {
    const cache = toolCache()
    cache.keep(ttl, {}, result, 0)
    cache.find(ttl, {}, 900)
    assert.isUndefined(cache.find(ttl, {}, 1_000))
    cache.keep(ttl, {}, result, 0)
    cache.keep(ttl, {}, result, 900)
    assert.strictEqual(cache.find(ttl, {}, 1_800), result)
  })

  it("ttl: a clock that was set back makes a result unusable", () => {
    const cache = toolCache()
    cache.keep(ttl, {}, result, 10_000)
    assert.isUndefined(cache.find(ttl, {}, 9_999))
  })
})

describe("cache I4: the records", () => {
  it("F67 list_projects is cacheable within a tick, and forgotten as soon as a project changes", () => {
    const listing = selfTools.find(({ name }) => name === "list_projects") ?? assert.fail("there is no list_projects")
    assert.deepStrictEqual(listing.cache, { scope: "tick" })
    const cache = toolCache()
    cache.onTick(1)
    cache.keep(listing, {}, result, 0)
    cache.keep(session, {}, result, 0)
    assert.strictEqual(cache.find(listing, {}, 0), result)
    cache.onRecordChange()
    assert.isUndefined(cache.find(listing, {}, 0))
    assert.strictEqual(cache.find(session, {}, 0), result, "what was not read from the records stays")
  })
})

describe("cache I5: bounded", () => {
  it("the result longest unused goes first", () => {
    const cache = toolCache(2)
    cache.keep(session, { n: 1 }, result, 0)
    cache.keep(session, { n: 2 }, result, 0)
    cache.find(session, { n: 1 }, 0)
    cache.keep(session, { n: 3 }, result, 0)
    assert.isUndefined(cache.find(session, { n: 2 }, 0))
    assert.strictEqual(cache.find(session, { n: 1 }, 0), result)
    assert.strictEqual(cache.find(session, { n: 3 }, 0), result)
  })

  it("by default", () => {
    const cache = toolCache()
    for (let n = 0; n < DEFAULT_CACHED_RESULTS * 2; n++) cache.keep(session, { n }, result, 0)
    assert.strictEqual(cache.size(), DEFAULT_CACHED_RESULTS)
  })

  it("by a capacity that is one", () => {
    for (const capacity of [0, -1, 1.5, Number.NaN, Infinity]) assert.throws(() => toolCache(capacity), RangeError)
  })

  it("is what a plain list of the last uses would be, over any course of calls", () => {
    const step = fc.record({ n: fc.nat({ max: 6 }), keep: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, capacity) => {
        const cache = toolCache(capacity)
        let model: ReadonlyArray<number> = []
        for (const { keep, n } of steps) {
          const known = model.includes(n)
          if (keep) cache.keep(session, { n }, result, 0)
          else assert.strictEqual(cache.find(session, { n }, 0) !== undefined, known)
          if (keep || known) model = [...model.filter((other) => other !== n), n].slice(-capacity)
        }
        assert.strictEqual(cache.size(), model.length)
      })
    )
  })
})

describe("define I1: a cache that can not be is refused", () => {
  const refused = (definition: () => Tool): string => {
    try {
      definition()
    } catch (thrown) {
      assert.instanceOf(thrown, ToolDefinitionInvalid)
      return thrown.message
    }
    return assert.fail("was not refused")
  }

  for (const kind of ["needsApproval", "final", "background"] as const) {
    it(`for a tool with ${kind}`, () => {
      assert.strictEqual(
        refused(() => cached({ scope: "tick" }, { [kind]: true })),
        `tool "lookup": a tool with needsApproval, final or background can not be cached: a call that does not run has no effect`
      )
    })
  }

  it("for a scope or a time that is none", () => {
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      [{ scope: "forever" }, "must have the scope"],
      [{}, "must have the scope"],
      [null, "must have the scope"],
      ["tick", "must have the scope"],
      [{ scope: "tick", ttlMs: 5 }, "which only the scope ttl has"],
      [{ scope: "ttl" }, "needs a ttlMs"],
      [{ scope: "ttl", ttlMs: 0 }, "needs a ttlMs"],
      [{ scope: "ttl", ttlMs: 1.5 }, "needs a ttlMs"],
      [{ scope: "ttl", ttlMs: Infinity }, "needs a ttlMs"]
    ]
    for (const [cache, why] of wrong)
      assert.include(
        refused(() => cached(cache as CachePolicy)),
        why
      )
  })

  it("and one that can be is kept as it was written, out of reach of later changes", () => {
    const written: { scope: "ttl"; ttlMs: number } = { scope: "ttl", ttlMs: 5 }
    const tool = cached(written)
    written.ttlMs = 7
    assert.deepStrictEqual(tool.cache, { scope: "ttl", ttlMs: 5 })
  })
})
