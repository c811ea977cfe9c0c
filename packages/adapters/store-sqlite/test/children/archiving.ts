// A process that commits to the directory named on its command line, and archives and deletes what is older, as fast as it can,
// until it is killed. What it was told is durable it says on stdout, one line each: `committed <assistant> <no>`,
// `archived <assistant> <no>`, `removed <assistant> <no>`.
import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { openSqliteStore } from "@reverie/store-sqlite"
import { aMessage, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"

const ASSISTANTS = 3
const say = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`))

const archiving = Effect.gen(function* () {
  const { archive, ledger, mailbox } = yield* openSqliteStore(String(process.argv[2]))

  const live = (index: number) =>
    Effect.gen(function* () {
      const address = anAddress(`a-${index}`)
      yield* ledger.create({ address, state: aState({ snapshot: { no: 1 } }), entry: anEntry() })
      const hold = yield* mailbox.claim({ address, worker: "child", leaseMillis: 3_600_000 })
      for (let no = hold.version + 1; ; no++) {
        const id = `${address.assistant}-m-${no}`
        yield* mailbox.accept(anEnvelope({ id, to: address, event: { type: "message", text: `mail ${no}` } }))
        const [first] = yield* mailbox.pending(address, ["mail"], 1)
        if (first === undefined) return yield* Effect.die(new Error("an accepted envelope is not pending"))
        const entry = anEntry({
          no,
          epoch: hold.claim.epoch,
          cause: { kind: "envelope", lane: "mail", seq: first.seq, id: first.id },
          messages: [aMessage(`message ${no}`)],
          settled: [{ id: first.id, outcome: "handled" }]
        })
        yield* ledger.commit(hold.claim, { entry, state: aState({ snapshot: { no } }) })
        yield* say(`committed ${address.assistant} ${no}`)
        if (no % 7 === 0) {
          yield* archive.archive(address, no - 5, 1)
          yield* say(`archived ${address.assistant} ${no - 5}`)
        }
        if (no % 20 === 0) {
          yield* archive.remove(address, no - 17)
          yield* say(`removed ${address.assistant} ${no - 17}`)
        }
      }
    })

  yield* Effect.forEach(
    Array.from({ length: ASSISTANTS }, (_, index) => index),
    live,
    { concurrency: "unbounded" }
  )
})

void Effect.runPromise(Effect.scoped(archiving))
