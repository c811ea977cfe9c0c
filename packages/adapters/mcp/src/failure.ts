// Failure: what went wrong between here and a server, in words.
// Owns reading the client's errors. Leaves what follows from it to connection.ts and tools.ts.
// K1  Words of the server are plain, on one line and short; nothing of a stack or of a header is told.

import { EgressRefused, McpUnavailable } from "./errors.ts"
import { oneLine } from "./plain.ts"

export interface Failure {
  /** answer: the server refused. silence: it did not answer in time. lost: the connection is gone. stopped: by us. */
  readonly kind: "answer" | "silence" | "lost" | "stopped"
  readonly words: string
}

/** A connection that its server ended, or that was ended because of what came over it. The message says why. */
export class WireEnded extends Error {}

const MAX_CHARS = 500

const fieldsOf = (thrown: unknown): { readonly [key: string]: unknown } =>
  typeof thrown === "object" && thrown !== null ? { ...thrown, ...named(thrown) } : {}

const named = (thrown: object) => ({
  name: "name" in thrown ? thrown.name : undefined,
  message: "message" in thrown ? thrown.message : undefined
})

/** The innermost message: the outer ones of a failed fetch say nothing. */
const messageIn = (thrown: unknown): string => {
  let words = oneLine(String(fieldsOf(thrown)["message"] ?? thrown), MAX_CHARS)
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error.message !== "") words = oneLine(error.message, MAX_CHARS)
  }
  return words
}

const within = (millis: unknown): string => (typeof millis === "number" ? ` within ${millis} ms` : " in time")

const lost = (words: string): Failure => ({ kind: "lost", words })
const answer = (words: string): Failure => ({ kind: "answer", words })

export const failureOf = (thrown: unknown, why: string | undefined): Failure => {
  if (thrown instanceof McpUnavailable || thrown instanceof WireEnded) return lost(thrown.message)
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error instanceof EgressRefused) return lost(error.message)
  }
  if (thrown instanceof RangeError) return answer("it sent something that is nested too deeply")
  const { code, data, name } = fieldsOf(thrown)
  if (name === "AbortError") return { kind: "stopped", words: "the call was stopped" }
  switch (code) {
    case "REQUEST_TIMEOUT":
      return { kind: "silence", words: `it did not answer${within(fieldsOf(data)["timeout"])}` }
    case "CONNECTION_CLOSED":
    case "NOT_CONNECTED":
      return lost(why ?? "the connection was closed")
    case "UNSUPPORTED_RESULT_TYPE":
      return answer(
        "it asks for something in return (input from a person, a model or a file list), and gets nothing here"
      )
    case "INVALID_RESULT":
      return answer(`its answer can not be read: ${messageIn(thrown)}`)
    default:
  }
  if (typeof code === "number") return answer(`it refused: ${messageIn(thrown)} (code ${code})`)
  const status = fieldsOf(data)["status"]
  if (typeof status === "number") return lost(`it answered with HTTP status ${status}`)
  return lost(why ?? messageIn(thrown))
}
