// Likeness: whether a value is as a test wants it, and in words how it is not.
// Owns the forms a pattern may have. Leaves what is looked at to expectations.ts.
// L1  A pattern speaks only of what it names: properties that it leaves out may be anything. Lists have the same length.
// L2  A difference is one line, begins with the path to it, and shows both sides, each cut to 200 characters.

import { AssertionError } from "node:assert/strict"

/**
 * How a value should be: the value itself, a RegExp for a text, a function that answers true, or an object or a list of
 * these. Of an object only the named properties count.
 */
export type Like = unknown

const MAX_CHARS = 200

/** A value in one line. */
export const inLine = (value: unknown): string => {
  const text =
    value instanceof RegExp || typeof value === "function" ? String(value) : (JSON.stringify(value) ?? String(value))
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

const isPlain = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const at = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`)

const differs = (path: string, actual: unknown, pattern: unknown): string =>
  `${path === "" ? "" : `${path}: `}expected ${inLine(pattern)}, got ${inLine(actual)}`

/** One line that says where and how a value is not as the pattern says; undefined when it is. */
export const differenceOf = (actual: unknown, pattern: Like, path: string = ""): string | undefined => {
  if (typeof pattern === "function") {
    return (pattern as (value: unknown) => unknown)(actual) === true ? undefined : differs(path, actual, pattern)
  }
  if (pattern instanceof RegExp) {
    return typeof actual === "string" && new RegExp(pattern).test(actual) ? undefined : differs(path, actual, pattern)
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(actual) || actual.length !== pattern.length) return differs(path, actual, pattern)
    return pattern
      .map((each, index) => differenceOf(actual[index], each, at(path, String(index))))
      .find((line) => line !== undefined)
  }
  if (isPlain(pattern)) {
    if (!isPlain(actual)) return differs(path, actual, pattern)
    return Object.entries(pattern)
      .map(([key, each]) => differenceOf(Object.hasOwn(actual, key) ? actual[key] : undefined, each, at(path, key)))
      .find((line) => line !== undefined)
  }
  return Object.is(actual, pattern) ? undefined : differs(path, actual, pattern)
}

export const isLike = (actual: unknown, pattern: Like): boolean => differenceOf(actual, pattern) === undefined

/** True of a text that holds the pattern, or is matched by it. */
export const holds = (text: string, pattern: string | RegExp): boolean =>
  typeof pattern === "string" ? text.includes(pattern) : new RegExp(pattern).test(text)

/** What every test runner shows: one line of summary, then a line for each thing that is looked at. */
export const fail = (summary: string, lines: ReadonlyArray<string>, actual: unknown, expected: unknown): never => {
  const message = [summary, ...lines.map((line) => `  ${line}`)].join("\n")
  throw new AssertionError({ message, actual, expected, operator: "like" })
}
