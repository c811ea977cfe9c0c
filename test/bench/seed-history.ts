// SeedHistory: gives an assistant a past.
// Owns writing it through the ledger's own commits, a hundred messages at a time. Leaves living on to the fleet.

import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { AssistantId, DEFAULT_TENANT, ENTRY_VERSION, type Message } from "@reverie/protocol"
import { creationOf } from "@reverie/runtime"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import { fleetOf, idsOf } from "./scene.ts"

const MESSAGES_PER_COMMIT = 100

const pastOf = (from: number): ReadonlyArray<Message> =>
  Array.from({ length: MESSAGES_PER_COMMIT }, (_, index): Message => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Line ${from + index} of a long acquaintance: the tide was fair and the tug was late.`,
    at: from + index,
    tokens: 24
  }))

/** Writes `messages` lines of history for the first assistant of the benchmark. */
export const seedHistory = (directory: string, messages: number): Promise<void> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const [definition] = fleetOf(idsOf(1)).assistants
      if (definition === undefined) return
      const address = { tenant: DEFAULT_TENANT, assistant: AssistantId.make(definition.id) }
      const mailbox = yield* Mailbox
      const ledger = yield* Ledger
      const creation = yield* creationOf(address, definition)
      yield* ledger.create(creation)
      const { claim, version } = yield* mailbox.claim({ address, worker: "seed", leaseMillis: 60_000 })
      for (let written = 0; written < messages; written += MESSAGES_PER_COMMIT) {
        const no = version + 1 + written / MESSAGES_PER_COMMIT
        yield* ledger.commit(claim, {
          entry: {
            ...creation.entry,
            v: ENTRY_VERSION,
            no,
            epoch: claim.epoch,
            cause: { kind: "timer", name: "seed" },
            messages: pastOf(written)
          },
          state: creation.state
        })
      }
      yield* mailbox.release(claim)
    }).pipe(Effect.provide(storeSqliteLayer(directory)))
  )
