// Prompt store laws: versions that only grow, and who may write the next one (context P1-P6).

import * as assert from "node:assert/strict"
import { type PromptChange, PromptConflict, type PromptLine, PromptStore, type PromptVersion } from "@reverie/context"
import { type Json, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { LAW_START_MILLIS, type Law } from "../law.ts"
import { aMegabyte, hostileTexts } from "./steps.ts"

const harbor = TenantId.make("harbor")
const tower = TenantId.make("tower")

const greeting: PromptLine = { kind: "template", key: "greeting" }
const namesake: PromptLine = { kind: "component", key: "greeting" }
const other: PromptLine = { kind: "template", key: "other" }

const change = (line: PromptLine, expected: number, body: Json | null = { no: expected + 1 }): PromptChange => ({
  ...line,
  expected,
  body
})

const append = (tenant: TenantId, ...changes: ReadonlyArray<PromptChange>) =>
  PromptStore.use((store) => store.append(tenant, changes))

const history = (
  tenant: TenantId,
  line: PromptLine,
  page: { readonly before?: number; readonly limit?: number } = {}
) => PromptStore.use((store) => store.history(tenant, line, { limit: 100, ...page }))

const current = (tenant: TenantId, kind: PromptLine["kind"] = "template") =>
  PromptStore.use((store) => store.current(tenant, kind))

const numbers = (versions: ReadonlyArray<PromptVersion>) => versions.map(({ version }) => version)

const shown = (versions: ReadonlyArray<PromptVersion>) => versions.map(({ body, key, version }) => [key, version, body])

/** Everything that two tenants have. */
const witness = Effect.gen(function* () {
  const found: Array<unknown> = []
  for (const tenant of [harbor, tower]) {
    for (const kind of ["template", "component", "place"] as const) found.push(yield* current(tenant, kind))
    for (const line of [greeting, namesake, other]) found.push(yield* history(tenant, line))
  }
  return JSON.stringify(found)
})

/** Asserts that an append is refused for this line, with these facts, and that nothing has changed. */
const refused = (
  line: PromptLine,
  at: { readonly expected: number; readonly current: number },
  ...changes: ReadonlyArray<PromptChange>
) =>
  Effect.gen(function* () {
    const before = yield* witness
    const outcome = yield* Effect.result(append(harbor, ...changes))
    assert.ok(Result.isFailure(outcome), "a change was written that stands on another version")
    const error = outcome.failure
    assert.ok(error instanceof PromptConflict, error._tag)
    const { current, expected, key, kind } = error
    assert.deepEqual({ kind, key, expected, current }, { ...line, ...at })
    assert.equal(yield* witness, before)
  })

const growth: ReadonlyArray<Law<PromptStore>> = [
  {
    id: "P1.count",
    says: "versions of a line are numbered 1, 2, 3 ..., whatever is written to other lines in between",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      yield* append(harbor, change(other, 0), change(namesake, 0))
      yield* append(harbor, change(greeting, 1))
      yield* append(harbor, change(greeting, 2))
      assert.deepEqual(numbers(yield* history(harbor, greeting)), [3, 2, 1])
      assert.deepEqual(numbers(yield* history(harbor, other)), [1])
    })
  },
  {
    id: "P1.kept",
    says: "what was written stays as it was, also when it is taken away and written again",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      const [first] = yield* history(harbor, greeting)
      yield* append(harbor, change(greeting, 1, null))
      yield* append(harbor, change(greeting, 2))
      const versions = yield* history(harbor, greeting)
      assert.deepEqual(
        versions.map(({ body }) => body),
        [{ no: 3 }, null, { no: 1 }]
      )
      assert.deepEqual(versions[2], first)
    })
  },
  {
    id: "P1.page",
    says: "history is read from the newest back, or from before a version back, no more of it than asked for",
    check: Effect.gen(function* () {
      for (let version = 0; version < 12; version++) yield* append(harbor, change(greeting, version))
      assert.deepEqual(numbers(yield* history(harbor, greeting, { limit: 3 })), [12, 11, 10])
      assert.deepEqual(numbers(yield* history(harbor, greeting, { before: 10, limit: 2 })), [9, 8])
      assert.deepEqual(numbers(yield* history(harbor, greeting, { before: 2 })), [1])
      assert.deepEqual(yield* history(harbor, greeting, { before: 1 }), [])
      assert.deepEqual(yield* history(harbor, greeting, { limit: 0 }), [])
      assert.deepEqual(yield* history(harbor, other), [])
    })
  }
]

const guarded: ReadonlyArray<Law<PromptStore>> = [
  {
    id: "P2.stale",
    says: "a change on an earlier version than the newest writes nothing, and learns what the newest is",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      yield* append(harbor, change(greeting, 1))
      yield* refused(greeting, { expected: 1, current: 2 }, change(greeting, 1))
      yield* refused(greeting, { expected: 0, current: 2 }, change(greeting, 0))
    })
  },
  {
    id: "P2.ahead",
    says: "a change on a version that is not there yet writes nothing",
    check: Effect.gen(function* () {
      yield* refused(greeting, { expected: 1, current: 0 }, change(greeting, 1))
      yield* append(harbor, change(greeting, 0))
      yield* refused(greeting, { expected: 2, current: 1 }, change(greeting, 2))
    })
  },
  {
    id: "P2.gone",
    says: "a key that was taken away goes on from the version that took it away, not from the beginning",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      yield* append(harbor, change(greeting, 1, null))
      yield* refused(greeting, { expected: 0, current: 2 }, change(greeting, 0))
      yield* append(harbor, change(greeting, 2))
      assert.deepEqual(shown(yield* current(harbor)), [["greeting", 3, { no: 3 }]])
    })
  },
  {
    id: "P2.whole",
    says: "of several changes all are written, or none when one of them stands on another version",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0), change(namesake, 0), change(other, 0))
      assert.deepEqual(numbers(yield* history(harbor, namesake)), [1])
      yield* refused(other, { expected: 0, current: 1 }, change(greeting, 1), change(other, 0))
      yield* refused(greeting, { expected: 3, current: 1 }, change(greeting, 3), change(other, 1))
    })
  },
  {
    id: "P2.race",
    says: "of many who change the same version at once, one is written and the others learn of it",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      const outcomes = yield* Effect.forEach(
        [1, 2, 3, 4],
        (writer) => Effect.result(append(harbor, change(greeting, 1, { writer }), change(other, 0, { writer }))),
        { concurrency: "unbounded" }
      )
      assert.equal(outcomes.filter(Result.isSuccess).length, 1)
      const [greetings, others] = [yield* history(harbor, greeting), yield* history(harbor, other)]
      assert.deepEqual([numbers(greetings), numbers(others)], [[2, 1], [1]])
      assert.deepEqual(greetings[0]?.body, others[0]?.body)
    })
  }
]

const seen: ReadonlyArray<Law<PromptStore>> = [
  {
    id: "P3.newest",
    says: "current is the newest version of every key, in the order of the keys",
    check: Effect.gen(function* () {
      const keys = ["other", "b", "a", "B", "a-b", "a.b", "a_b", "10", "9", "greeting"]
      for (const key of keys) yield* append(harbor, change({ kind: "template", key }, 0))
      yield* append(harbor, change(greeting, 1))
      yield* append(harbor, change(greeting, 2))
      const expected = keys.toSorted().map((key) => (key === "greeting" ? [key, 3, { no: 3 }] : [key, 1, { no: 1 }]))
      assert.deepEqual(shown(yield* current(harbor)), expected)
      assert.deepEqual((yield* current(harbor))[5], (yield* history(harbor, { kind: "template", key: "a.b" }))[0])
    })
  },
  {
    id: "P3.gone",
    says: "a key whose newest version takes it away is not current, and is again when it is written again",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0), change(other, 0))
      yield* append(harbor, change(greeting, 1, null))
      assert.deepEqual(shown(yield* current(harbor)), [["other", 1, { no: 1 }]])
      yield* append(harbor, change(greeting, 2), change(other, 1, null))
      assert.deepEqual(shown(yield* current(harbor)), [["greeting", 3, { no: 3 }]])
    })
  },
  {
    id: "P4.tenant",
    says: "a tenant sees and changes only its own versions, of the same key too",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0, "harbor"))
      assert.deepEqual([yield* current(tower), yield* history(tower, greeting)], [[], []])
      yield* append(tower, change(greeting, 0, "tower"))
      yield* append(tower, change(greeting, 1, null))
      assert.deepEqual(shown(yield* current(harbor)), [["greeting", 1, "harbor"]])
      assert.deepEqual(shown(yield* history(harbor, greeting)), [["greeting", 1, "harbor"]])
      assert.deepEqual(numbers(yield* history(tower, greeting)), [2, 1])
    })
  },
  {
    id: "P4.kind",
    says: "kinds have nothing to do with one another, of the same key too",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0, "template"), change(namesake, 0, "component"))
      yield* append(harbor, change(namesake, 1, null))
      assert.deepEqual(shown(yield* current(harbor)), [["greeting", 1, "template"]])
      assert.deepEqual(yield* current(harbor, "component"), [])
      assert.deepEqual(numbers(yield* history(harbor, greeting)), [1])
    })
  },
  {
    id: "P5.exact",
    says: "a body comes back exactly, whatever text is in it and however long it is",
    check: Effect.gen(function* () {
      const bodies: ReadonlyArray<Json> = [
        ...hostileTexts,
        { texts: hostileTexts, deep: [{ at: 1.5 }] },
        aMegabyte,
        false,
        0
      ]
      for (const [version, body] of bodies.entries()) yield* append(harbor, change(greeting, version, body))
      const versions = (yield* history(harbor, greeting)).toReversed()
      for (const [index, body] of bodies.entries()) assert.deepEqual(versions[index]?.body, body)
      assert.deepEqual((yield* current(harbor))[0]?.body, bodies.at(-1))
    })
  },
  {
    id: "P5.restores",
    says: "a version that brings an earlier one back says which, and any other says nothing",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      yield* append(harbor, { ...change(greeting, 1, null), restores: 0 })
      yield* append(harbor, { ...change(greeting, 2), restores: 1 })
      const versions = yield* history(harbor, greeting)
      assert.deepEqual(
        versions.map((version) => ("restores" in version ? version.restores : "none")),
        [1, 0, "none"]
      )
      assert.equal((yield* current(harbor))[0]?.restores, 1)
    })
  },
  {
    id: "P6.clock",
    says: "a version bears the time of its append",
    check: Effect.gen(function* () {
      yield* append(harbor, change(greeting, 0))
      yield* TestClock.adjust(1_234)
      yield* append(harbor, change(greeting, 1), change(other, 0))
      const times = (versions: ReadonlyArray<PromptVersion>) => versions.map(({ at }) => at - LAW_START_MILLIS)
      assert.deepEqual(times(yield* history(harbor, greeting)), [1_234, 0])
      assert.deepEqual(times(yield* current(harbor)), [1_234, 1_234])
    })
  }
]

export const promptStoreLaws: ReadonlyArray<Law<PromptStore>> = [...growth, ...guarded, ...seen]
