// Spoken: data as words, for those who watch and do not read JSON.
// Owns the words of data, of senders, of what a chart names by itself, and of the parts of a life. Leaves cuts, and making it harmless, to the one who shows it.
// S1  A text without JSON is left as it is; what looks like JSON and is none, too.

import type { Json } from "./json.ts"

const ASSISTANT = "assistant:"

/** As people call a sender: an assistant by its id. */
export const senderName = (from: string): string => (from.startsWith(ASSISTANT) ? from.slice(ASSISTANT.length) : from)

/** `infer done`, `after sleep`: the names that the chart gives itself, in words. */
export const eventWords = (event: string): string =>
  event
    .replace(
      /^xstate\.(done|error)\.actor\.(.+)$/,
      (_, end: string, name: string) => `${name} ${end === "done" ? "done" : "failed"}`
    )
    .replace(/^xstate\.after\.([A-Za-z0-9]+)\..*$/, "after $1")

/** A timer by what it ends: `sleep`, `approval`. One that a person has set has a name already. */
export const timerWords = (name: string): string => eventWords(name).replace(/^after /, "")

/** What programs know a thing by, and when it was kept: no words, where anything else is said. */
const isMark = (key: string): boolean => /^(?:.+_)?id$|^timestamp$/.test(key)

/** Without the marks of data; a success that says only that is left out. */
const spoken = (value: Json): string => {
  if (Array.isArray(value)) return value.map(spoken).join("; ")
  if (typeof value !== "object" || value === null) return String(value)
  const said = Object.entries(value).filter(([key, each]) => key !== "success" || each !== true)
  const telling = said.filter(([key]) => !isMark(key))
  return (telling.length === 0 ? said : telling)
    .map(([key, each]) => `${key.replaceAll("_", " ")} ${spoken(each)}`)
    .join(", ")
}

/** Where the braces that open at a place are closed, those in strings left aside; -1 where they are not. */
const closingOf = (text: string, from: number): number => {
  let depth = 0
  let isString = false
  for (let at = from; at < text.length; at++) {
    const letter = text[at]
    if (isString && letter === "\\") at++
    else if (letter === '"') isString = !isString
    else if (letter === "{" && !isString) depth++
    else if (letter === "}" && !isString && --depth === 0) return at
  }
  return -1
}

const asJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** What a tool says is mostly data and nothing else. */
const LONGEST_RESULT = 100_000

/** No line is longer, and who looks for the end of braces reads on from each. */
const LONGEST_SPOKEN = 1_000

/** The beginning of a text with the JSON objects in it as words. */
export const withoutJson = (whole: string): string => {
  const all = whole.startsWith("{") && whole.length <= LONGEST_RESULT ? asJson(whole) : undefined
  if (all !== undefined) return spoken(all)
  const text = whole.slice(0, LONGEST_SPOKEN)
  let told = ""
  for (let at = 0; at < text.length;) {
    const open = text.indexOf("{", at)
    if (open === -1) return told + text.slice(at)
    const end = closingOf(text, open)
    const value = end === -1 ? undefined : asJson(text.slice(open, end + 1))
    told += text.slice(at, open) + (value === undefined ? "{" : spoken(value))
    at = value === undefined ? open + 1 : end + 1
  }
  return told
}

/** What the parts of a life are called where they are counted. */
const partWords: Readonly<Record<string, readonly [one: string, many?: string]>> = {
  blob: ["attached file"],
  entity: ["profile"],
  entry: ["event"],
  journal: ["journal entry", "journal entries"],
  shown: ["memory called to mind", "memories called to mind"],
  envelope: ["message"],
  send: ["delivery", "deliveries"]
}

/** The word for one part of a kind, and for many where that is not the same with an s. */
export const kindName = (kind: string): readonly [one: string, many?: string] =>
  partWords[kind] ?? [kind.replaceAll("-", " ")]
