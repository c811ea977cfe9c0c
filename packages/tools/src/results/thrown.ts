// Thrown: what may be told of something that user code threw.
// Owns reading a message out of anything. Leaves stacks, causes and fields untold: they can hold secrets.
// I1  Reading never throws, whatever was thrown.

import { clipped } from "./sentences.ts"

const MAX_MESSAGE_CHARS = 2_000

/** The message alone, or the name of an error that has none. */
export const messageOf = (thrown: unknown): string => {
  try {
    if (typeof thrown === "string") return clipped(thrown, MAX_MESSAGE_CHARS)
    if (typeof thrown !== "object" || thrown === null) return `it threw ${String(thrown)}`
    const message = "message" in thrown ? thrown.message : undefined
    if (typeof message === "string" && message !== "") return clipped(message, MAX_MESSAGE_CHARS)
    const name = "_tag" in thrown ? thrown._tag : "name" in thrown ? thrown.name : undefined
    if (typeof name === "string" && name !== "") return clipped(name, MAX_MESSAGE_CHARS)
    return "it threw something without a message"
  } catch {
    return "it threw something that can not be read"
  }
}
