// Judge: what an answer may be, whatever was asked.
// Owns the verdicts. Leaves asking to campaign.ts.
// J1  No answer is a 500, and none but the contract's own failures says that something could not be done.
// J2  Nothing of another tenant is in an answer: not a text of theirs, and not an id that was not in the question.
// J3  Nothing of a stack, a path of the machine or a secret is in an answer.

import type { Sent } from "./requests.ts"

export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

export interface Verdict {
  readonly sent: Sent
  readonly status: number
  readonly fault: string
}

export interface Knowledge {
  /** Texts that only the other tenant knows. */
  readonly secrets: ReadonlyArray<string>
  /** Ids that only the other tenant has. */
  readonly foreignIds: ReadonlyArray<string>
  /** Tokens, and whatever else must never be said. */
  readonly never: ReadonlyArray<string>
}

const stack = /\n\s+at .+\(?(file:|node:|\/).+:\d+/

const failureFault = ({ status, text, type }: Answer): string | undefined => {
  if (!type.startsWith("application/json")) return `a ${status} of type "${type}"`
  try {
    const value = JSON.parse(text) as { readonly _tag?: unknown; readonly message?: unknown }
    if (typeof value._tag !== "string" || typeof value.message !== "string")
      return `a ${status} without _tag or message`
    return value.message.includes("\n") ? `a ${status} whose message has several lines` : undefined
  } catch {
    return `a ${status} that is no JSON`
  }
}

/** What is wrong with an answer; undefined when nothing is. */
export const faultOf = (sent: Sent, answer: Answer, { foreignIds, never, secrets }: Knowledge): string | undefined => {
  const { status, text } = answer
  if (status >= 500 && status !== 503) return `a ${status}`
  const asked = `${sent.path} ${sent.body ?? ""} ${Object.values(sent.headers).join(" ")}`
  for (const secret of secrets) if (text.includes(secret)) return `it tells the other tenant's "${secret}"`
  for (const id of foreignIds) {
    if (text.includes(id) && !asked.includes(id)) return `it names "${id}" of the other tenant, who was not asked for`
  }
  for (const each of never) if (text.includes(each)) return "it holds a secret"
  if (stack.test(text)) return "it holds a stack"
  return status >= 400 ? failureFault(answer) : undefined
}
