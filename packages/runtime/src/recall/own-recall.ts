// OwnRecall: a question that an assistant asks its own memory.
// Owns keeping it within what its definition grants. Leaves asking to recaller.ts.
// W1  A scope that is not granted is refused in words; without one the widest of what others share is meant.
// W2  What a question does not say is as the definition has it; its least trust holds for every question.
// W3  A sub-agent reads the memory of whom it works for, and can change nothing of it.

import { contextOf } from "@reverie/assistant"
import type { RecallOptions } from "@reverie/memory"
import { AssistantId, defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { RecallRefused } from "../errors.ts"
import type { Session } from "../session/session.ts"
import { recallFor } from "./recaller.ts"
import { mayRecall, scopeOf, scopesOf } from "./indexer.ts"

export const ownRecall = Effect.fnUntraced(function* (
  { address, decoded, definition }: Pick<Session, "address" | "decoded" | "definition">,
  question: string,
  options: RecallOptions = {}
) {
  const scope = options.scope ?? scopeOf(definition)
  if (!mayRecall(definition, scope)) {
    const granted = scopesOf(definition).join(", ")
    const message = `${address.assistant} may not recall in the scope "${scope}"; granted: ${granted}`
    return yield* new RecallRefused({ scope, message })
  }
  const { kinds, minTrust, mode } = definition.memory ?? {}
  const { assignment } = contextOf(decoded)
  const viewer = assignment === null ? address : { ...address, assistant: AssistantId.make(assignment.owner) }
  const trusts = [minTrust, options.minTrust].filter((trust) => trust !== undefined)
  return yield* recallFor(viewer, question, {
    ...defined({ kinds, mode }),
    ...options,
    ...defined({ minTrust: trusts.length === 0 ? undefined : Math.max(...trusts) }),
    scope
  })
})
