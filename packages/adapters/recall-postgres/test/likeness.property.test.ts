import { assert, test } from "@effect/vitest"
import { type Hit, type IndexChange, INDEX_START, Recall, type RecallQuery } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { recallPostgresLayer } from "@reverie/recall-postgres"
import { everybodyFindsHisOwn, memoryRecall } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"

const postgres = sharePostgres({ fsync: false })

let schemas = 0
const layer = () =>
  Layer.unwrap(
    Effect.sync(() =>
      recallPostgresLayer({ url: Redacted.make(postgres.server().url), schema: `like_${++schemas}`, connections: 2 })
    )
  )

const ada = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("ada") }
const bob = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("bob") }
const LONG_AGO = 1_600_000_000_000

const words = "tide berth lantern quay storm anchor rope mast buoy ferry captain harbour".split(" ")
const saying = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }).map((said) => said.join(" "))
const id = fc.integer({ min: 1, max: 12 }).map((no) => `p/${no}`)

const put: fc.Arbitrary<IndexChange> = fc
  .record({
    id,
    text: saying,
    context: fc.option(saying, { nil: undefined }),
    tags: fc.subarray(["log", "night"]),
    readers: fc.constantFrom("owner" as const, "fleet" as const, [bob.assistant]),
    importance: fc.integer({ min: 1, max: 9 }),
    at: fc.integer({ min: LONG_AGO, max: LONG_AGO + 1_000 })
  })
  .map(({ context, ...entry }) => ({
    type: "put",
    entry: { ...entry, kind: "passage", entities: [], trust: 0.9, ...(context === undefined ? {} : { context }) }
  }))
const remove: fc.Arbitrary<IndexChange> = id.map((gone) => ({ type: "remove", id: gone }))
const fact: fc.Arbitrary<IndexChange> = fc.record({
  type: fc.constant("fact" as const),
  of: id,
  fact: fc.constantFrom("f1", "f2"),
  text: fc.option(saying, { nil: null })
})
const changes = fc.array(fc.oneof({ arbitrary: put, weight: 6 }, remove, fact), { maxLength: 12 })

const question: fc.Arbitrary<RecallQuery> = fc
  .record({
    text: saying,
    scope: fc.constantFrom("own" as const, "shared" as const, "fleet" as const),
    tagged: fc.boolean()
  })
  .map(({ tagged, ...asked }) => ({
    ...asked,
    search: "fts",
    limit: 10,
    now: LONG_AGO + 400 * 86_400_000,
    ...(tagged ? { tags: ["log"] } : {})
  }))

/** Weights are kept in steps, and the exact index counts once what two groups may read. */
const NEARLY = 0.01

/** The same hits; where two stand in another order their scores are as good as equal. */
const assertAlike = (exact: ReadonlyArray<Hit>, found: ReadonlyArray<Hit>): void => {
  const nameOf = ({ entry, owner }: Hit) => `${owner} ${entry.id}`
  assert.deepStrictEqual(found.map(nameOf).toSorted(), exact.map(nameOf).toSorted())
  const scores = new Map(exact.map((hit) => [nameOf(hit), hit.score]))
  for (const [place, hit] of found.entries()) {
    const [here, there] = [scores.get(nameOf(hit)) ?? 0, exact[place]?.score ?? 0]
    assert.isAtMost(Math.abs(here - there), NEARLY * Math.max(here, there), `${nameOf(hit)} at ${place + 1}`)
  }
}

postgres.describe("recall on PostgreSQL", () => {
  test(
    "I3 after any changes it gives the hits of the exact index, in its order but for ties",
    { timeout: 120_000 },
    async () => {
      const lives = fc.record({
        days: fc.array(changes, { minLength: 1, maxLength: 4 }),
        others: changes,
        questions: fc.array(question, { minLength: 3, maxLength: 6 })
      })
      await fc.assert(
        fc.asyncProperty(lives, ({ days, others, questions }) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const [recall, exact] = [yield* Recall, memoryRecall()]
              let from = INDEX_START
              for (const [day, told] of days.entries()) {
                const span = { from, to: { no: day + 1, digest: `day ${day}` } }
                for (const each of [recall, exact]) assert.deepStrictEqual(yield* each.apply(ada, told, span), span.to)
                from = span.to
              }
              const span = { from: INDEX_START, to: { no: 1, digest: "one" } }
              for (const each of [recall, exact]) yield* each.apply(bob, others, span)
              assert.strictEqual(yield* recall.count(ada), yield* exact.count(ada))
              for (const asked of questions) {
                // An entry that its viewer reads as its owner and as one of the fleet is counted twice for how rare a word is.
                const viewer = asked.scope === "fleet" ? eve : ada
                assertAlike(yield* exact.search(viewer, asked), yield* recall.search(viewer, asked))
              }
            }).pipe(Effect.provide(layer(), { local: true }))
          )
        ),
        { numRuns: 40 }
      )
    }
  )

  test("I1 anyone who is in the crowd, everybody finds exactly what he may read", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) =>
        Effect.runPromise(everybodyFindsHisOwn(seed).pipe(Effect.provide(layer(), { local: true })))
      ),
      { numRuns: 10 }
    )
  })
})

/** Has said nothing herself. */
const eve = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("eve") }
