// A process that works as fast as it can on the directory named on its command line, until it is killed. What it was
// told is durable it says on stdout, one line each: `accepted <id>`, `committed <assistant> <no>`.
import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { openSqliteStore } from "@reverie/store-sqlite"
import { aMessage, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"

const ASSISTANTS = 8
const say = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`))

const busy = Effect.gen(function* () {
  const { ledger, mailbox } = yield* openSqliteStore(String(process.argv[2]))

  const live = (index: number) =>
    Effect.gen(function* () {
      const address = anAddress(`a-${index}`)
      const next = anAddress(`a-${(index + 1) % ASSISTANTS}`)
      yield* ledger.create({ address, state: aState({ snapshot: { no: 1 } }), entry: anEntry() })
      const hold = yield* mailbox.claim({ address, worker: "child", leaseMillis: 3_600_000 })
      for (let no = hold.version + 1; ; no++) {
        const id = `${address.assistant}-m-${no}`
        yield* mailbox.accept(anEnvelope({ id, to: address, event: { type: "message", text: "x".repeat(no % 900) } }))
        yield* say(`accepted ${id}`)
        const [first] = yield* mailbox.pending(address, ["mail"], 1)
        if (first === undefined) return yield* Effect.die(new Error("an accepted envelope is not pending"))
        const entry = anEntry({
          no,
          epoch: hold.claim.epoch,
          cause: { kind: "envelope", lane: "mail", seq: first.seq, id: first.id },
          messages: [aMessage(`message ${no}`)],
          settled: [{ id: first.id, outcome: "handled" }],
          sends: [anEnvelope({ id: `${address.assistant}-s-${no}`, to: next })]
        })
        yield* ledger.commit(hold.claim, { entry, state: aState({ snapshot: { no, padding: "p".repeat(no % 700) } }) })
        yield* say(`committed ${address.assistant} ${no}`)
      }
    })

  yield* Effect.forEach(
    Array.from({ length: ASSISTANTS }, (_, index) => index),
    live,
    { concurrency: "unbounded" }
  )
})

void Effect.runPromise(Effect.scoped(busy))
