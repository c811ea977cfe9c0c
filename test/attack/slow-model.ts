// SlowModel: the model of the attacks, which also takes its time when a message asks for it.
// A message that begins with `slow N` is answered after N milliseconds.

import type { ModelRequest, ScriptedReply } from "@reverie/testkit/model-server"
import { spokenScript } from "./spoken.ts"

const SLOW = /slow (\d+)/

export const slowScript = (request: ModelRequest): ScriptedReply => {
  const asked = request.messages.toReversed().find(({ role }) => role === "user")
  const millis = SLOW.exec(JSON.stringify(asked?.content ?? ""))?.[1]
  return { ...spokenScript(request), ...(millis === undefined ? {} : { afterMillis: Number(millis) }) }
}
