// PlainLife: a life of many messages, each handled by a tick of one commit.
// Owns the life, whatever store it is led in. Leaves what is looked at of it to the test.

import * as assert from "node:assert/strict"
import type { RecordChange } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { DataStore } from "./data-store.ts"
import { aMessage, anAddress, anEntry, anEnvelope, aState } from "./fixtures.ts"

const ada = anAddress("ada")
const LEASE_MILLIS = 600_000

interface PlainLifeOptions {
  /** The number of the last commit so far: 1, that of the creation, makes the assistant first. */
  readonly from?: number
  /** Stands in the message of the commit 9. */
  readonly word?: string
  /** Stands behind each message. */
  readonly tail?: string
  readonly recordsOf?: (text: string, no: number) => ReadonlyArray<RecordChange>
}

/** Leads the life of `ada` on by so many messages. */
export const plainLife = Effect.fnUntraced(function* (
  { ledger, mailbox }: Pick<DataStore, "ledger" | "mailbox">,
  messages: number,
  { from = 1, recordsOf = () => [], tail = "", word = "kestrel-9713" }: PlainLifeOptions = {}
) {
  if (from === 1) yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
  const { claim } = yield* mailbox.claim({ address: ada, worker: "w", leaseMillis: LEASE_MILLIS })
  for (let no = from + 1; no <= from + messages; no++) {
    const text = `${no === 9 ? `it was the ${word}` : `message ${no}`}${tail}`
    yield* mailbox.accept(anEnvelope({ id: `m${no}`, to: ada, event: { type: "message", text } }))
    const [first] = yield* mailbox.pending(ada, ["mail"], 1)
    assert.ok(first)
    const entry = anEntry({
      no,
      epoch: claim.epoch,
      cause: { kind: "envelope", lane: "mail", seq: first.seq, id: first.id },
      messages: [aMessage(text)],
      records: recordsOf(text, no),
      settled: [{ id: first.id, outcome: "handled" }]
    })
    yield* ledger.commit(claim, { entry, state: aState() })
  }
  yield* mailbox.release(claim)
})
