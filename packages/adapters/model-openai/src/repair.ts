// Repair: the one message more that tells a model what was wrong with its reply.
// Owns its wording and its form on the wire. Leaves asking again, once, to `openai-model.ts`.
// I1  Every call of the faulty reply is answered, so that the prompt stays a valid one.
// I2  Its last message holds the exact complaint.

import type { Judged } from "./reply.ts"
import { wireMessage } from "./wire.ts"

const NOT_RUN =
  "Not run: another part of this reply was wrong. Repeat the call in your next reply if it is still wanted."

const MAX_SHOWN_TEXT_CHARS = 4_000

const user = (complaint: string): string =>
  wireMessage({
    role: "user",
    content: `Your last reply could not be used: ${complaint}. Reply again, in full, and correct this.`
  })

/** In the form of native tool calls: each call gets its answer, and what was wrong is said last. */
export const nativeRepair = ({ callComplaints, complaint, reply }: Judged): ReadonlyArray<string> => {
  if (reply.calls.length === 0) return [user(complaint ?? "it could not be read")]
  const wrong = callComplaints.filter((said) => said !== undefined)
  if (complaint !== undefined) wrong.push(complaint)
  const last = reply.calls.length - 1
  return [
    wireMessage({ role: "assistant", content: reply.text.slice(0, MAX_SHOWN_TEXT_CHARS), calls: reply.calls }),
    ...reply.calls.map((call, index) => {
      const own = callComplaints[index]
      const said = index === last ? wrong.join("; ") : own
      const content = said === undefined ? NOT_RUN : `Not run: ${said}. Correct this in your next reply.`
      return wireMessage({ role: "tool", content, call: call.id })
    })
  ]
}

/** In plain text, for servers that know no tools. */
export const plainRepair = (said: string, complaints: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(said.trim() === "" ? [] : [wireMessage({ role: "assistant", content: said.slice(0, MAX_SHOWN_TEXT_CHARS) })]),
  user(complaints.join("; "))
]
