// WakeQueue: disposable hints that an assistant has something to do.
// Owns the passing on of addresses. Leaves the truth to the store: a lost hint is found again through `Mailbox.due`.
// Q1  A hint given is handed out at least once, unless the process ends.
// Q2  Hints for one assistant that nobody has taken yet collapse into one.
// Q3  A hint given while its assistant is being handled is handed out again afterwards: no wake-up is lost.
// Q4  Hints of different assistants are handed out in the order in which they were first given.

import type { Address } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class WakeQueue extends Context.Service<
  WakeQueue,
  {
    readonly wake: (address: Address) => Effect.Effect<void>
    /** Waits for the next hint. */
    readonly take: Effect.Effect<Address>
  }
>()("@reverie/mailbox/WakeQueue") {}
