// AgUi: the chat stream of an assistant in the events of AG-UI 1.0.
// Not served yet: both refuse.

import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { type ApiFailure, type ChatEvent, type Principal, Unavailable } from "../api/index.ts"
import type { Desk } from "../desk.ts"

export type ChatStream = Effect.Effect<Stream.Stream<typeof ChatEvent.Type>, ApiFailure, Desk | Principal>

const notYet: ChatStream = Effect.fail(new Unavailable({ message: "this is not served yet" }))

/** What came, and comes, back for a message. */
export const answersOf = (_assistant: string, _envelope: string): ChatStream => notYet

export interface RunWish {
  readonly threadId: string
  readonly runId: string
  readonly messages: ReadonlyArray<{ readonly [key: string]: unknown }>
}

/** Says the last user message, and tells what follows. */
export const runOf = (_assistant: string, _wish: RunWish): ChatStream => notYet
