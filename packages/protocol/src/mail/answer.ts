// Answer: a model's free answer to a question that asked for data.
// Owns finding the JSON or the listed lines in it. Leaves what they mean to whoever asked.
// I1  Any text gives a value or undefined; none throws.
// I2  What was cut off in the middle of a list still gives the objects that were whole.

import * as Result from "effect/Result"
import { isJsonObject, type Json, parseJson } from "../json.ts"

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

/** Where the object that opens at `start` ends, after its last bracket; -1 when it never does. */
const endOfObject = (text: string, start: number): number => {
  let depth = 0
  let inString = false
  for (let index = start; index < text.length; index++) {
    const char = text[index]
    if (inString) {
      if (char === "\\") index++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return index + 1
  }
  return -1
}

/** A stray bracket costs one look at the rest of the text; an answer has few, and garbage is given up. */
const MAX_STRAY_BRACKETS = 32

const wholeObjects = (answer: string): ReadonlyArray<Json> => {
  const found: Array<Json> = []
  let strays = 0
  for (let at = answer.indexOf("{"); at >= 0 && strays <= MAX_STRAY_BRACKETS;) {
    const end = endOfObject(answer, at)
    const parsed = end < 0 ? Result.fail("cut off") : parseJson(answer.slice(at, end))
    if (Result.isSuccess(parsed)) found.push(parsed.success)
    else strays++
    at = answer.indexOf("{", Result.isSuccess(parsed) ? end : at + 1)
  }
  return found
}

const rowsOf = (value: Json, key: string): ReadonlyArray<Json> => {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value)) return []
  return Object.hasOwn(value, key) ? [value] : (Object.values(value).find((each) => Array.isArray(each)) ?? [])
}

/**
 * The rows of the list in the answer, each of which should have the key: a bare array, the array in an object, a single
 * row, and when nothing of it can be read as a whole, the objects in it that can.
 */
export const rowsIn = (answer: string, key: string): ReadonlyArray<Json> => {
  const value = jsonIn(answer)
  return value === undefined ? wholeObjects(answer).flatMap((each) => rowsOf(each, key)) : rowsOf(value, key)
}
