// Answer: a model's free answer to a question that asked for data.
// Owns finding the JSON or the listed lines in it. Leaves what they mean to whoever asked.
// I1  Any text gives a value or undefined; none throws.

import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"

/** The JSON between the first opening and the last closing bracket, whatever stands around it. */
export const jsonIn = (answer: string): Json | undefined => {
  const start = answer.search(/[[{]/)
  const end = Math.max(answer.lastIndexOf("]"), answer.lastIndexOf("}"))
  if (start < 0 || end < start) return undefined
  const parsed = parseJson(answer.slice(start, end + 1))
  return Result.isSuccess(parsed) ? parsed.success : undefined
}

/** The array in the answer, bare or as the first one in an object. */
export const listIn = (answer: string): ReadonlyArray<Json> | undefined => {
  const value = jsonIn(answer)
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value).find((each) => Array.isArray(each)) : undefined
}

/** The lines that are numbered or have a bullet, without it. */
export const linesIn = (answer: string): ReadonlyArray<string> =>
  answer.split("\n").flatMap((line) => /^\s*(?:\d{1,2}[.)]|[-*•])\s+(.+)$/.exec(line)?.[1]?.trim() ?? [])
