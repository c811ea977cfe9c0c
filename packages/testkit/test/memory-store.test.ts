import { assert, it } from "@effect/vitest"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { anAddress, anEntry, anEnvelope, anEnvelopeId, aState, MemoryDisk, memoryStoreLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"

const fresh = () => memoryStoreLayer(new MemoryDisk())

const ada = anAddress("ada")
const creation = { address: ada, state: aState({ snapshot: { deep: ["first"] } }), entry: anEntry() }

it.effect("D1 no reference goes in or out", () =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const snapshot = { deep: ["first"] }
    yield* ledger.create({ ...creation, state: aState({ snapshot }) })
    snapshot.deep.push("slipped in")
    const told = yield* ledger.inspect(ada)
    const [row] = yield* ledger.outbox(0, 10)
    assert.isDefined(told)
    assert.isDefined(row)
    const [outState, outMessages] = [told.state.snapshot as typeof snapshot, row.entry.messages as Array<unknown>]
    outState.deep.push("slipped out")
    outMessages.push("slipped out")
    assert.deepStrictEqual((yield* ledger.inspect(ada))?.state.snapshot, { deep: ["first"] })
    assert.deepStrictEqual((yield* ledger.outbox(0, 10))[0]?.entry, anEntry())
  }).pipe(Effect.provide(fresh()))
)

it.effect("D2 after a crash another store over the same disk goes on where the first was", () =>
  Effect.gen(function* () {
    const disk = new MemoryDisk()
    const before = Effect.gen(function* () {
      yield* Ledger.use((ledger) => ledger.create(creation))
      yield* Mailbox.use((mailbox) => mailbox.accept(anEnvelope({ id: "a", to: ada })))
      return yield* Mailbox.use((mailbox) => mailbox.claim({ address: ada, worker: "w-1", leaseMillis: 1_000 }))
    })
    const after = Effect.gen(function* () {
      const mailbox = yield* Mailbox
      const again = yield* mailbox.accept(anEnvelope({ id: "a", to: ada }))
      const refused = yield* Effect.flip(mailbox.claim({ address: ada, worker: "w-2", leaseMillis: 1_000 }))
      return [again.outcome, refused._tag, (yield* mailbox.pending(ada, ["mail"], 10)).length]
    })
    yield* Effect.provide(before, memoryStoreLayer(disk), { local: true })
    const seen = yield* Effect.provide(after, memoryStoreLayer(disk), { local: true })
    assert.deepStrictEqual(seen, ["duplicate", "ClaimHeld", 1])
  })
)

it.effect("I3 a row that can not be read keeps its place and can be dead-lettered", () =>
  Effect.gen(function* () {
    const disk = new MemoryDisk()
    yield* Effect.gen(function* () {
      const [mailbox, ledger] = [yield* Mailbox, yield* Ledger]
      yield* ledger.create(creation)
      yield* mailbox.accept(anEnvelope({ id: "a", to: ada }))
      disk.plantUnreadable(ada, "mail", anEnvelopeId("b"), "written by a newer version")
      yield* mailbox.accept(anEnvelope({ id: "c", to: ada }))
      const waiting = yield* mailbox.pending(ada, ["mail"], 10)
      assert.deepStrictEqual(
        waiting.map((row) => ("unreadable" in row ? row.unreadable : row.id)),
        ["a", "written by a newer version", "c"]
      )
      const { claim } = yield* mailbox.claim({ address: ada, worker: "w-1", leaseMillis: 1_000 })
      for (const [index, { id, lane, seq }] of waiting.slice(0, 2).entries()) {
        const entry = anEntry({
          no: index + 2,
          cause: { kind: "dead-letter", lane, seq, id },
          settled: [{ id, outcome: "dead", reason: "unreadable" }]
        })
        yield* ledger.commit(claim, { entry, state: aState() })
      }
      assert.deepStrictEqual(
        (yield* mailbox.pending(ada, ["mail"], 10)).map(({ id }) => String(id)),
        ["c"]
      )
      assert.deepStrictEqual(yield* ledger.totals, { accepted: 3, settled: 0, dead: 2, discarded: 0 })
    }).pipe(Effect.provide(memoryStoreLayer(disk)))
  })
)
