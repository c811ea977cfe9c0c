// Failure: what a request to Qdrant that came to nothing means, in one line for a person.
// Owns the reading of what the client throws. Leaves trying again to the runtime.
// I1  Whatever the client throws is `RecallUnavailable`: what an index holds can always be made again.
// I2  The line names the server and what was asked of it, never the key.
// I3  How long a busy server wants to be left alone is not told: the client keeps the first digit only.

import { RecallUnavailable } from "@reverie/memory"

const MAX_REASON_CHARACTERS = 300

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_REASON_CHARACTERS)

/** The HTTP status of a refusal; undefined when there was no such answer. */
export const statusOf = (thrown: unknown): number | undefined => {
  if (!isObject(thrown)) return undefined
  const { name, status } = thrown
  if (name === "QdrantClientResourceExhaustedError" || String(thrown["message"]).startsWith("Invalid retryAfter"))
    return 429
  return typeof status === "number" ? status : undefined
}

/** What the server says, or the innermost reason why there was no answer. */
const reasonOf = (thrown: unknown): string => {
  if (!isObject(thrown)) return String(thrown)
  const status = isObject(thrown["data"]) ? thrown["data"]["status"] : undefined
  if (isObject(status) && typeof status["error"] === "string") return status["error"]
  if (isObject(thrown["cause"])) return reasonOf(thrown["cause"])
  const { code, message } = thrown
  if (typeof message === "string" && message !== "") return message
  return typeof code === "string" ? code : "no reason was given"
}

const sentence = (thrown: unknown, server: string, timeoutMillis: number): string => {
  const status = statusOf(thrown)
  if (status === 429) return `${server} is busy and wants to be left alone for a while (429)`
  if (status === 401 || status === 403) {
    return `${server} does not let us in (${status}: ${oneLine(reasonOf(thrown))}); check the API key`
  }
  if (status !== undefined) return `${server} refused the request (${status}: ${oneLine(reasonOf(thrown))})`
  const name = isObject(thrown) ? thrown["name"] : undefined
  if (name === "QdrantClientTimeoutError") return `${server} did not answer within ${timeoutMillis} ms`
  if (name === "TypeError") return `${server} can not be reached, or broke off (${oneLine(reasonOf(thrown))})`
  return `${server} did not answer as it should (${oneLine(reasonOf(thrown))})`
}

export const unavailable = (
  operation: string,
  thrown: unknown,
  { timeoutMillis, url }: { readonly url: string; readonly timeoutMillis: number }
): RecallUnavailable =>
  new RecallUnavailable({
    operation,
    message: `${operation}: ${sentence(thrown, `Qdrant at ${url}`, timeoutMillis)}`,
    cause: thrown
  })
