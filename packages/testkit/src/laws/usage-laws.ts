// Usage laws: what model calls used is there with the commit that says so, once, and summed as it is asked for (ledger I12).

import * as assert from "node:assert/strict"
import { Ledger, type UsageDimension, type UsageQuery, type UsageSum } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import { type Address, type Entry, HOUR_MILLIS, type ModelUse, NOTHING_USED, type StepRecord } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { ada, bob, claimBy, commitAll, commitOn, give, hostileTexts, pageThrough } from "./steps.ts"

/** The same name in another tenant. */
const namesake = anAddress("ada", "elsewhere")

const use = (over: Partial<ModelUse> = {}): ModelUse => ({
  model: "small",
  calls: 1,
  inputTokens: 100,
  cachedTokens: 60,
  outputTokens: 20,
  reasoningTokens: 5,
  costMicros: 7,
  unpricedCalls: 0,
  ...over
})

const stepOf = (spent: ReadonlyArray<ModelUse>, over: Partial<StepRecord> = {}): StepRecord => ({
  id: "1/infer",
  kind: "infer",
  name: "infer",
  ok: true,
  elapsedMs: 3,
  spent,
  ...over
})

/** An entry that used this, so many hours after the epoch. */
const using = (hour: number, ...spent: ReadonlyArray<ModelUse>): { readonly entry: Partial<Entry> } => ({
  entry: { at: hour * HOUR_MILLIS, step: stepOf(spent) }
})

const told = (by: ReadonlyArray<UsageDimension>, query: Partial<UsageQuery> = {}) =>
  Ledger.use((ledger) => ledger.usage({ by, limit: 1_000, ...query }))

/** What the sums are of, with their calls and tokens. */
const brief = (sums: ReadonlyArray<UsageSum>) =>
  sums.map(({ calls, inputTokens, key }) => [...key, calls, inputTokens]).toSorted(byText)

const byText = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1

const lived = (address: Address, ...entries: ReadonlyArray<{ readonly entry: Partial<Entry> }>) =>
  Effect.andThen(give(address), commitAll(address, entries))

const sums: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I12.rows",
    says: "every amount of an entry is added to the row of its hour, model and purpose, and nothing to any other",
    check: Effect.gen(function* () {
      const unknown = { costMicros: 0, unpricedCalls: 2, calls: 2 }
      yield* lived(
        ada,
        using(3, use()),
        { entry: {} },
        using(3, use({ inputTokens: 11, reasoningTokens: 1 }), use({ model: "large", ...unknown })),
        using(4, use())
      )
      const by = ["tenant", "assistant", "hour", "model", "purpose"] as const
      const found = yield* told(by)
      const at = (hour: number, model: string) => [ada.tenant, ada.assistant, hour, model, "answer"]
      const { model: _, ...one } = use()
      assert.deepEqual(
        new Set(found),
        new Set([
          {
            ...one,
            calls: 2,
            inputTokens: 111,
            cachedTokens: 120,
            outputTokens: 40,
            reasoningTokens: 6,
            costMicros: 14,
            key: at(3, "small"),
            lastNo: 4
          },
          { ...one, ...unknown, key: at(3, "large"), lastNo: 4 },
          { ...one, key: at(4, "small"), lastNo: 5 }
        ])
      )
    })
  },
  {
    id: "I12.by",
    says: "sums of any dimensions come to the same whole, and of nothing there is one sum of nothing",
    check: Effect.gen(function* () {
      assert.deepEqual(yield* told([]), [{ ...NOTHING_USED, key: [], lastNo: 0 }])
      assert.deepEqual(yield* told(["model"]), [])
      yield* lived(ada, using(1, use()), using(2, use({ model: "large", inputTokens: 7 })))
      yield* lived(bob, using(2, use({ inputTokens: 1 })))
      assert.deepEqual(brief(yield* told([])), [[3, 108]])
      assert.deepEqual(brief(yield* told(["model"])), [
        ["large", 1, 7],
        ["small", 2, 101]
      ])
      assert.deepEqual(brief(yield* told(["hour"])), [
        [1, 1, 100],
        [2, 2, 8]
      ])
      assert.deepEqual(brief(yield* told(["model", "assistant"])), [
        ["large", "ada", 1, 7],
        ["small", "ada", 1, 100],
        ["small", "bob", 1, 1]
      ])
    })
  },
  {
    id: "I12.purposes",
    says: "what is used for answers, assessments, dreams, profiles and compactions is apart",
    check: Effect.gen(function* () {
      const steps: ReadonlyArray<Partial<StepRecord>> = [
        { kind: "infer" },
        { kind: "tool", name: "look" },
        { kind: "assess", name: "assess" },
        { kind: "dream", name: "dream linking" },
        { kind: "dream", name: "dream profiling" },
        { kind: "compact", name: "compact extracting" }
      ]
      yield* lived(ada, ...steps.map((step) => ({ entry: { step: stepOf([use()], step) } })))
      assert.deepEqual(brief(yield* told(["purpose"])), [
        ["answer", 2, 200],
        ["assess", 1, 100],
        ["compact", 1, 100],
        ["dream", 1, 100],
        ["profile", 1, 100]
      ])
    })
  },
  {
    id: "I12.hours",
    says: "an hour begins with its first millisecond, and a question means its first hour and not its last",
    check: Effect.gen(function* () {
      const at = (millis: number) => ({ entry: { at: millis, step: stepOf([use()]) } })
      yield* lived(ada, at(5 * HOUR_MILLIS - 1), at(5 * HOUR_MILLIS), at(6 * HOUR_MILLIS - 1), at(6 * HOUR_MILLIS))
      assert.deepEqual(brief(yield* told(["hour"])), [
        [4, 1, 100],
        [5, 2, 200],
        [6, 1, 100]
      ])
      assert.deepEqual(brief(yield* told(["hour"], { from: 5, to: 6 })), [[5, 2, 200]])
      assert.deepEqual(brief(yield* told([], { from: 5 })), [[3, 300]])
      assert.deepEqual(brief(yield* told([], { to: 5 })), [[1, 100]])
    })
  },
  {
    id: "I12.whose",
    says: "a question means one assistant, one tenant or everybody, and names are not enough to mix them up",
    check: Effect.gen(function* () {
      yield* lived(ada, using(1, use({ inputTokens: 1 })))
      yield* lived(bob, using(1, use({ inputTokens: 2 })))
      yield* lived(namesake, using(1, use({ inputTokens: 4 })))
      const { assistant, tenant } = ada
      assert.deepEqual(brief(yield* told([], { tenant })), [[2, 3]])
      assert.deepEqual(brief(yield* told([], { tenant, assistant })), [[1, 1]])
      assert.deepEqual(brief(yield* told([], { assistant })), [[2, 5]])
      assert.deepEqual(
        brief(yield* told(["tenant"])),
        [
          [tenant, 2, 3],
          [namesake.tenant, 1, 4]
        ].toSorted(byText)
      )
      assert.deepEqual(brief(yield* told(["assistant"], { tenant })), [
        ["ada", 1, 1],
        ["bob", 1, 2]
      ])
    })
  },
  {
    id: "I12.of",
    says: "a question means one model, one purpose, both of them, or any",
    check: Effect.gen(function* () {
      yield* lived(ada, using(1, use({ inputTokens: 1 }), use({ model: "large", inputTokens: 2 })), {
        entry: { at: HOUR_MILLIS, step: stepOf([use({ inputTokens: 4 })], { kind: "dream", name: "dream linking" }) }
      })
      assert.deepEqual(brief(yield* told([], { model: "small" })), [[2, 5]])
      assert.deepEqual(brief(yield* told([], { purpose: "answer" })), [[2, 3]])
      assert.deepEqual(brief(yield* told(["hour"], { model: "small", purpose: "answer", from: 1 })), [[1, 1, 1]])
      assert.deepEqual(brief(yield* told(["model"], { model: "none of them" })), [])
    })
  },
  {
    id: "I12.greatest",
    says: "the greatest come first where that is asked: by cost, then by tokens, then by key",
    check: Effect.gen(function* () {
      yield* lived(
        ada,
        ...[
          use({ model: "cheap", costMicros: 1, inputTokens: 900 }),
          use({ model: "dear", costMicros: 9 }),
          use({ model: "b", costMicros: 3, inputTokens: 10 }),
          use({ model: "a", costMicros: 3, inputTokens: 10 }),
          use({ model: "long", costMicros: 3, inputTokens: 10, outputTokens: 500 })
        ].map((each) => using(1, each))
      )
      const greatest = yield* told(["model"], { order: "greatest", limit: 4 })
      assert.deepEqual(
        greatest.map(({ key: [model] }) => model),
        ["dear", "long", "a", "b"]
      )
    })
  }
]

const truths: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I12.once",
    says: "it is there when the commit returns; a commit that is refused adds nothing",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* commitOn(claim, 1, using(1, use()))
      assert.deepEqual(brief(yield* told([])), [[1, 100]])
      const again = yield* Effect.result(commitOn(claim, 1, using(1, use())))
      const stale = yield* Effect.result(commitOn({ ...claim, epoch: claim.epoch - 1 }, 2, using(1, use())))
      assert.ok(Result.isFailure(again) && Result.isFailure(stale))
      assert.deepEqual(brief(yield* told([])), [[1, 100]])
      yield* commitOn(claim, 2, using(1, use()))
      assert.deepEqual(brief(yield* told([])), [[2, 200]])
    })
  },
  {
    id: "I12.retired",
    says: "a bill stays when its assistant is retired",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* commitOn(claim, 1, using(1, use()))
      yield* commitOn(claim, 2, { state: { status: "retired", receives: [] } })
      assert.deepEqual(brief(yield* told(["assistant"])), [["ada", 1, 100]])
    })
  },
  {
    id: "I12.pages",
    says: "pages that follow one another show every sum once, whatever the dimensions",
    check: Effect.gen(function* () {
      const models = ["a", "a b", "a-b", "A", "\u{1f469}", "large"]
      const rows = [1, 2, 10].flatMap((hour) =>
        models.map((model, index) => using(hour, use({ model, calls: index + 1 })))
      )
      yield* lived(ada, ...rows)
      yield* lived(bob, ...rows)
      const dimensions: ReadonlyArray<ReadonlyArray<UsageDimension>> = [
        ["hour"],
        ["model"],
        ["model", "hour"],
        ["assistant", "hour", "model"]
      ]
      for (const by of dimensions) {
        const whole = yield* told(by)
        const paged = yield* pageThrough(2, (last: UsageSum | undefined) =>
          told(by, { limit: 2, ...(last === undefined ? {} : { after: last.key }) })
        )
        assert.deepEqual(paged, whole)
        assert.equal(new Set(paged.map(({ key }) => JSON.stringify(key))).size, paged.length)
      }
      assert.equal((yield* told(["assistant", "hour", "model"])).length, 36)
      assert.deepEqual(
        (yield* told(["hour"])).map(({ key: [hour] }) => hour),
        [1, 2, 10]
      )
    })
  },
  {
    id: "I12.hostile",
    says: "whatever a model calls itself, and whatever stands in an entry, the commit is written and the amounts are amounts",
    check: Effect.gen(function* () {
      const long = "m".repeat(100_000)
      const strange = { calls: -1, inputTokens: Number.NaN, outputTokens: 1.5, costMicros: "7" } as never
      yield* lived(
        ada,
        ...hostileTexts.map((model) => using(1, use({ model }))),
        using(1, use({ model: long }), use({ model: `${long}!` }), use(), use()),
        using(1, use({ model: "strange", ...(strange as object) })),
        { entry: { step: { ...stepOf([]), spent: "none" as never } } },
        using(1, use({ model: "huge", inputTokens: Number.MAX_SAFE_INTEGER })),
        using(1, use({ model: "huge", inputTokens: Number.MAX_SAFE_INTEGER }))
      )
      const found = new Map((yield* told(["model"])).map((sum) => [sum.key[0], sum]))
      for (const model of hostileTexts) assert.ok((found.get(model.toWellFormed())?.calls ?? 0) >= 1, model)
      assert.equal(found.get("m".repeat(200))?.calls, 2)
      assert.equal(found.get("small")?.calls, 2)
      assert.deepEqual(
        { ...found.get("strange") },
        {
          ...NOTHING_USED,
          cachedTokens: 60,
          reasoningTokens: 5,
          key: ["strange"],
          lastNo: hostileTexts.length + 3
        }
      )
      assert.equal(found.get("huge")?.inputTokens, 2_000_000_000_000)
    })
  }
]

export const usageLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...sums, ...truths]
