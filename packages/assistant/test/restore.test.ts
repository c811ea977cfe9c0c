import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as Result from "effect/Result"
import { creation, contextOf, restore, SnapshotUnfit, storedContext } from "../src/index.ts"
import { creationContext } from "../src/context.ts"
import { asking, compact, message, Rig, skipped, sleep, stored, worked } from "./rig.ts"

type Fields = { readonly [key: string]: Json }

/** A tick in hand, with a call that runs: a snapshot in which every part is used. */
const busy = () => stored(new Rig().hear(message("m1")).ends("infer", asking("safe_chain", "terminal")).decoded)

const refused = (snapshot: unknown): string => {
  const result = restore(snapshot as Json)
  if (Result.isSuccess(result)) assert.fail(`fits: ${JSON.stringify(snapshot)}`)
  assert.instanceOf(result.failure, SnapshotUnfit)
  assert.strictEqual(result.failure.recovery, "stop")
  return result.failure.message
}

const changed = (change: (snapshot: { [key: string]: Json }) => void): Json => {
  const snapshot = busy() as { [key: string]: Json }
  change(snapshot)
  return snapshot
}

const inContext = (change: Fields): Json =>
  changed((snapshot) => {
    snapshot["context"] = { ...(snapshot["context"] as Fields), ...change }
  })

const without = (key: string): Json =>
  changed((snapshot) => {
    const { [key]: _, ...context } = snapshot["context"] as Fields
    snapshot["context"] = context
  })

/** Context fields that format 1 did not begin with, and what they decode to when absent. */
const laterFields: Fields = {
  contextType: "tick_event",
  sleepUntil: 0,
  dreamNext: "",
  round: 0,
  account: null,
  subAgents: [],
  assignment: null,
  tries: 0,
  outage: null,
  modelFailures: 0,
  toolFailures: 0,
  repairs: 0
}

describe("snapshot S4: field by field is judged as the whole is", () => {
  const junk: ReadonlyArray<Json> = [null, -1, 0, 1.5, "", "x", "awake", true, false, [], {}, [1], [{}], { a: 1 }]
  const fields = (busy() as { readonly context: Fields }).context
  /** In another order the whole schema judges. */
  const turned = (context: Fields): Fields => Object.fromEntries(Object.entries(context).toReversed())
  const judged = (context: Fields): boolean => storedContext({ ...(busy() as Fields), context }) !== undefined

  it("whatever stands in a field", () => {
    let accepted = 0
    for (const name of [...Object.keys(fields), "budget", "unknown"]) {
      for (const value of junk) {
        const { account: _, ...rest } = fields
        const placed = name === "budget" ? { ...rest, budget: value, account: null } : { ...fields, [name]: value }
        const fits = judged(placed)
        assert.strictEqual(fits, judged(turned(placed)), `${name}: ${JSON.stringify(value)}`)
        if (fits) accepted++
      }
      const { [name]: _, ...without } = fields
      assert.strictEqual(judged(without), judged(turned(without)), `without ${name}`)
    }
    assert.isAbove(accepted, 40)
  })

  it("what fits comes out as it was stored, a field added later in its place", () => {
    assert.deepStrictEqual(JSON.stringify(storedContext(busy())), JSON.stringify(fields))
    for (const [name, value] of Object.entries(laterFields)) {
      const { [name]: _, ...without } = fields
      assert.deepInclude(storedContext({ ...(busy() as Fields), context: without }), { [name]: value })
    }
  })
})

describe("decide I3: a snapshot that does not fit is refused", () => {
  it("the snapshot all of these are made from fits", () => {
    assert.isTrue(Result.isSuccess(restore(busy())))
  })

  it("what is no snapshot at all: XState would start a new assistant in its place", () => {
    for (const nothing of [null, undefined, 0, "", false, true, 7, "awake", [], {}, [busy()]]) refused(nothing)
  })

  it("a state of another chart", () => {
    const values = ["gone", "toString", "__proto__", { awake: "gone" }, { gone: "idle" }, { awake: { idle: "deep" } }]
    for (const value of values) refused(changed((snapshot) => (snapshot["value"] = value)))
    for (const value of [null, 0, [], ["awake"]]) refused(changed((snapshot) => (snapshot["value"] = value)))
  })

  it("half a state, or two at once: XState would fill in the first one", () => {
    const values = [
      "awake",
      {},
      { awake: {} },
      { awake: "thinking" },
      { awake: { acting: "running" }, dreaming: "resting" }
    ]
    for (const value of values) refused(changed((snapshot) => (snapshot["value"] = value)))
  })

  it("a status that does not go with the state", () => {
    for (const status of ["done", "error", "stopped", "on strike", null, 0]) {
      refused(changed((snapshot) => (snapshot["status"] = status)))
    }
    const retired = stored(new Rig().hear({ type: "retire" }).decoded) as Fields
    refused({ ...retired, status: "active" })
  })

  it("a context without one of its fields of format 1, whichever: a guess would be another assistant", () => {
    const fields = Object.keys(creationContext({})).filter((field) => !(field in laterFields))
    assert.isNotEmpty(fields)
    for (const field of fields) assert.include(refused(without(field)), field)
    for (const context of [null, [], "x", {}]) refused(changed((snapshot) => (snapshot["context"] = context)))
    refused(changed((snapshot) => delete snapshot["context"]))
  })

  it("S3 a field that came later has the value of an assistant that never had it", () => {
    for (const [field, value] of Object.entries(laterFields)) {
      const restored = restore(without(field) as Json)
      if (Result.isFailure(restored)) return assert.fail(restored.failure.message)
      assert.deepStrictEqual((contextOf(restored.success) as unknown as Fields)[field], value)
    }
  })

  it("a context with a field this statechart does not know: it was written by a newer one", () => {
    assert.include(refused(inContext({ mood: "merry" })), "mood")
    assert.include(refused(inContext({ settings: { mood: true } })), "mood")
  })

  it("a field of another type", () => {
    const [call] = (busy() as unknown as { readonly context: { readonly calls: ReadonlyArray<Fields> } }).context.calls
    const damages: ReadonlyArray<Fields> = [
      { tick: "1" },
      { tick: -1 },
      { iteration: 1.5 },
      { envelope: 7 },
      { calls: {} },
      { calls: [null] },
      { calls: [{ ...call, phase: "asleep" }] },
      { calls: [{ ...call, category: "harmless" }] },
      { restriction: null },
      { restriction: { maxIterations: null } },
      { restriction: { categories: ["harmless"] } },
      { signals: {} },
      { signals: { tokenRatio: null, mailWaiting: false } },
      { settings: { maxIterations: "many" } },
      { settings: { maxIterations: null } },
      { compactingFrom: "halted" },
      { wakeWanted: 1 },
      { haltReason: false }
    ]
    for (const damage of damages) assert.include(refused(inContext(damage)), Object.keys(damage).join())
  })

  it("a child of a source this statechart does not know: XState would drop it in silence", () => {
    const snapshot = changed((whole) => {
      const children = whole["children"] as Fields
      whole["children"] = { ...children, "tool.0": { ...(children["tool.0"] as Fields), src: "teleport" } }
    })
    assert.strictEqual(refused(snapshot), 'the job tool.0 runs "teleport", which this statechart does not know')
    for (const src of ["toString", "constructor", 7, null]) {
      refused(changed((whole) => (whole["children"] = { "tool.0": { src, snapshot: { status: "active" } } as Json })))
    }
  })

  it("jobs that do not go with the state: one missing, one too many, one of another kind", () => {
    const children = (busy() as Fields)["children"] as Fields
    const { "tool.0": first, "tool.1": _second, ...none } = children
    assert.deepStrictEqual(none, {})
    const sets: ReadonlyArray<Json> = [
      {},
      { "tool.0": first as Json },
      { ...children, "tool.2": first as Json },
      { ...children, infer: { ...(first as Fields), src: "infer" } },
      { ...children, "tool.0": { ...(first as Fields), src: "dream" } },
      { ...children, "tool.0": null },
      null,
      []
    ]
    for (const set of sets) refused(changed((snapshot) => (snapshot["children"] = set)))
    refused(changed((snapshot) => delete snapshot["children"]))
  })
})

describe("a snapshot of a compaction that was ordered", () => {
  it("is restored, wherever the order was heard", () => {
    const asleep = (settings = {}) => new Rig(settings).hear(sleep("s1", { forMs: 90_000, at: 1 }))
    const rested = asleep()
    while (rested.jobs.size > 0) rested.ends("dream", skipped())
    const paused = asleep({ sleepTickMs: 5 }).ends("dream", worked())
    const places = [new Rig(), rested, paused].map((rig) => {
      const { decoded } = rig.hear(compact(2))
      return contextOf(Result.getOrThrow(restore(stored(decoded)))).compactingFrom
    })
    assert.deepStrictEqual(places, ["idle", "resting", "pausing"])
  })
})

describe("decide I2: a restore changes nothing", () => {
  it("the bytes of a snapshot are the same before and after", () => {
    const restriction = { confirmDangerous: true, categories: ["terminal"], maxIterations: 2 }
    const rigs = [
      new Rig({ sleepMs: 5, assessTask: true, maxErrors: 3 }),
      new Rig({ assessTask: true }).hear(message("m1")).ends("assess", { restriction })
    ]
    for (const { decoded } of rigs) {
      const bytes = JSON.stringify(stored(decoded))
      assert.strictEqual(JSON.stringify(stored(Result.getOrThrow(restore(JSON.parse(bytes) as Json)))), bytes)
    }
  })

  it("settings are kept in one form, whatever was given", () => {
    const { next } = creation({ maxErrors: 5, approvalMs: Infinity, maxIterations: 199 })
    assert.deepStrictEqual((stored(next) as { readonly context?: Fields }).context?.["settings"], {
      maxIterations: 100,
      approvalMs: Number.MAX_SAFE_INTEGER
    })
    const ada = new Rig().hear(message("m1", { settings: { maxIterations: NaN, multiAction: true } }))
    assert.deepStrictEqual(ada.context.settings, { maxIterations: 1 })
  })
})
