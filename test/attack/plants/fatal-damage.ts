// Planted: what is damaged of one assistant ends the work of all.
import { LedgerUnavailable } from "@reverie/ledger"
import { MailboxUnavailable } from "@reverie/mailbox"
import { Readable } from "@reverie/ledger"
import * as Effect from "effect/Effect"

for (const failure of [LedgerUnavailable, MailboxUnavailable]) {
  Object.defineProperty(failure.prototype, "recovery", { get: () => "stop" })
}
Readable.prototype.page = ({ decode, fetch, limit }) =>
  Effect.flatMap(fetch(undefined, limit), (rows) =>
    Effect.forEach(rows, (row) => Effect.orDie(Effect.fromResult(decode(row))))
  )
