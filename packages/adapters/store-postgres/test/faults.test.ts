import { assert, it } from "@effect/vitest"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { blackHole } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { aSchema, openAt } from "./stores.ts"

const postgres = sharePostgres()
const url = (): string => postgres.server().url

const ada = anAddress("ada")

type Store = Effect.Success<ReturnType<typeof openAt>>

/** Sends until it is asked to stop; each id again until it is answered. Tells what was answered. */
const sending = ({ mailbox }: Store, name: string, isOver: () => boolean) =>
  Effect.gen(function* () {
    const accepted: Array<string> = []
    let refused = 0
    for (let count = 0; !isOver(); count++) {
      const envelope = anEnvelope({ id: `${name}-${count}`, to: ada })
      const outcome = yield* Effect.result(mailbox.accept(envelope))
      if (Result.isSuccess(outcome)) accepted.push(envelope.id)
      else {
        assert.deepStrictEqual([outcome.failure._tag, outcome.failure.recovery], ["MailboxUnavailable", "retry"])
        refused++
        count--
        yield* Effect.sleep(20)
      }
    }
    return { accepted, refused }
  })

const all = ({ ledger, mailbox }: Store) =>
  Effect.gen(function* () {
    const ids: Array<string> = []
    let { claim, version } = yield* mailbox.claim({ address: ada, worker: "reader", leaseMillis: 60_000 })
    for (;;) {
      const page = yield* mailbox.pending(ada, ["mail"], 64)
      const last = page.at(-1)
      if (last === undefined) return ids
      ids.push(...page.map(({ id }) => id))
      const cause = { kind: "envelope", lane: "mail", seq: last.seq, id: last.id } as const
      yield* ledger.commit(claim, { entry: anEntry({ no: ++version, cause }), state: aState() })
    }
  })

postgres.describe("faults", () => {
  it.live(
    "W2 W5 a server that is killed and started again loses nothing that was answered, and keeps nothing twice",
    () =>
      Effect.gen(function* () {
        const { isOwn, kill, restart } = postgres.server()
        if (!isOwn) return
        const store = yield* openAt(url(), { schema: aSchema(), deadlineMillis: 5_000 })
        yield* store.ledger.create({ address: ada, state: aState(), entry: anEntry() })
        let isOver = false
        const enough = (count: number) =>
          Effect.repeat(store.stats, {
            until: ({ operations }) => operations >= count,
            schedule: Schedule.spaced(20)
          }).pipe(Effect.orDie)
        const nemesis = Effect.gen(function* () {
          for (let round = 1; round <= 2; round++) {
            const { operations } = yield* store.stats
            yield* enough(operations + 200)
            yield* Effect.promise(kill)
            yield* Effect.sleep(100)
            yield* Effect.promise(restart)
          }
          yield* enough((yield* store.stats).operations + 200)
          isOver = true
        })
        const senders = ["a", "b", "c", "d"].map((name) => sending(store, name, () => isOver))
        const [, ...sent] = yield* Effect.all([nemesis, ...senders], { concurrency: "unbounded" })
        const accepted = sent.flatMap((each) => each.accepted)
        assert.isAbove(accepted.length, 500)
        assert.isAbove(
          sent.reduce((sum, { refused }) => sum + refused, 0),
          0
        )
        const found = yield* all(store)
        assert.deepStrictEqual(found.toSorted(), accepted.toSorted())
        for (const name of ["a", "b", "c", "d"]) {
          const own = found.filter((id) => id.startsWith(name))
          assert.deepStrictEqual(
            own,
            own.map((_, index) => `${name}-${index}`)
          )
        }
      }).pipe(Effect.scoped),
    120_000
  )

  it.live(
    "D1 in a black hole every verb fails by its deadline, and all is well when it closes",
    () =>
      Effect.gen(function* () {
        const hole = yield* Effect.acquireRelease(
          Effect.promise(() => blackHole(url())),
          ({ close }) => Effect.promise(close)
        )
        const { ledger, mailbox } = yield* openAt(hole.url, { schema: aSchema(), deadlineMillis: 2_000 })
        yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
        const { claim } = yield* mailbox.claim({ address: ada, worker: "worker-1", leaseMillis: 600_000 })
        hole.hang()
        const commit = { entry: anEntry({ no: 2, cause: { kind: "job", id: "1/x" } }), state: aState() }
        const verbs: Record<string, Effect.Effect<unknown, { readonly _tag: string; readonly recovery: string }>> = {
          accept: mailbox.accept(anEnvelope({ id: "m-1", to: ada })),
          pending: mailbox.pending(ada, ["mail"], 1),
          due: mailbox.due(1),
          commit: ledger.commit(claim, commit),
          outbox: ledger.outbox(0, 1)
        }
        const failures = yield* Effect.forEach(
          Object.entries(verbs),
          ([name, verb]) => Effect.map(Effect.flip(verb), ({ recovery }) => `${name} ${recovery}`),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          failures,
          Object.keys(verbs).map((name) => `${name} retry`)
        )
        yield* Effect.promise(hole.heal)
        const again = { schedule: Schedule.spaced(50), times: 200 }
        const { outcome } = yield* Effect.retry(mailbox.accept(anEnvelope({ id: "m-1", to: ada })), again)
        assert.include(["accepted", "duplicate"], outcome)
        // What was sent before the hole may have been carried out by now, or never be: either way it is written once.
        yield* Effect.ignore(
          Effect.retry(ledger.commit(claim, commit), { ...again, while: ({ _tag }) => _tag === "LedgerUnavailable" })
        )
        assert.strictEqual((yield* Effect.retry(ledger.inspect(ada), again))?.version, 2)
        assert.strictEqual((yield* mailbox.pending(ada, ["mail"], 5)).length, 1)
      }).pipe(Effect.scoped),
    120_000
  )

  it.live(
    "D1 connections that are cut or reset are replaced",
    () =>
      Effect.gen(function* () {
        const hole = yield* Effect.acquireRelease(
          Effect.promise(() => blackHole(url())),
          ({ close }) => Effect.promise(close)
        )
        const { ledger, mailbox, stats } = yield* openAt(hole.url, { schema: aSchema(), deadlineMillis: 5_000 })
        yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
        for (let round = 0; round < 5; round++) {
          hole.reset()
          // One connection at most is lost under a statement; the next attempt has a new one.
          yield* Effect.retry(mailbox.accept(anEnvelope({ id: `m-${round}`, to: ada })), { times: 5 })
        }
        yield* Effect.promise(hole.cut)
        const error = yield* Effect.flip(mailbox.accept(anEnvelope({ id: "cut", to: ada })))
        assert.deepStrictEqual([error._tag, error.recovery], ["MailboxUnavailable", "retry"])
        yield* Effect.promise(hole.heal)
        yield* mailbox.accept(anEnvelope({ id: "healed", to: ada }))
        assert.strictEqual((yield* ledger.inspect(ada))?.waiting, 6)
        assert.isAbove((yield* stats).repeated, 0)
      }).pipe(Effect.scoped),
    120_000
  )
})
