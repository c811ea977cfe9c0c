// A process that owns the directory named on its command line until it is killed; it says so on stdout.
import * as Effect from "effect/Effect"
import { openSqliteStore } from "@reverie/store-sqlite"
import { anAddress, anEntry, aState } from "@reverie/testkit"

const owner = Effect.gen(function* () {
  const { ledger, mailbox } = yield* openSqliteStore(String(process.argv[2]))
  const address = anAddress()
  yield* ledger.create({ address, state: aState(), entry: anEntry() })
  const { claim } = yield* mailbox.claim({ address, worker: "child", leaseMillis: 3_600_000 })
  process.stdout.write(`owns under epoch ${claim.epoch}\n`)
  setInterval(() => {}, 1_000)
  return yield* Effect.never
})

void Effect.runPromise(Effect.scoped(owner))
