// Hushing: what is left of that which is forgotten: numbers, references and names of kinds, and no word.
// Owns the forms of entries, messages, letters and of what work leans on. Leaves which of them to forgotten-ticks.ts.
// U1  A replay hears the same, and stands where it stood: an entry keeps its event, and what the statechart told of it.
// U2  Ids of calls and approvals, names of tools and words of closed lists are Reverie's own and stay.

import { FORGOTTEN, isJsonObject, type Json } from "@reverie/protocol"
import { isOfChart } from "../archive.ts"
import type { BundlePart, PartOf } from "../bundle-part.ts"
import { composed } from "./texts/composed.ts"

type Fields = { readonly [key: string]: Json }

/** As names and sentences are compared: the case of letters, and whether they are composed, count for nothing. */
export const lowered = (name: string): string => composed(name.trim().toLowerCase())

/** Whether it is the name of a person, who is given lowered. */
export const isName = (value: unknown, person: string | undefined): boolean =>
  person !== undefined && typeof value === "string" && lowered(value) === person

export const listOf = (value: Json | undefined): ReadonlyArray<Json> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>) : []

export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")
export const textsOf = (value: Json | undefined): ReadonlyArray<string> => listOf(value).map(textOf)

/** Records of a part: one that stands, or the changes of an entry. */
export const recordsIn = (part: BundlePart): ReadonlyArray<{ kind: string; key: string; value: Json }> => {
  if (part.kind === "record") return [{ kind: part.of, key: part.key, value: part.value }]
  const records = part.kind === "entry" ? (Reflect.get(part.entry, "records") as Json | undefined) : undefined
  return listOf(records).flatMap((each) =>
    isJsonObject(each) ? [{ kind: textOf(each["kind"]), key: textOf(each["key"]), value: each["value"] ?? null }] : []
  )
}

/** Stands in the place of the name of a person who was forgotten. */
const NO_NAME = "forgotten"

/** Under these a step and what is known of it have names, numbers and ids alone. */
const PLAIN = new Set([
  "id",
  "kind",
  "name",
  "usage",
  "spent",
  "context",
  "pattern",
  "model",
  "finish",
  "startedAt",
  "type"
])

/** Under these, in steps, hooks and what was told, stand ids that Reverie makes and words of closed lists. */
const OWN = ["call", "child", "envelope", "outcome", "recovery"]

const NONE: ReadonlySet<string> = new Set()

const hushed = (value: Json): Json => {
  if (typeof value === "string") return value === "" ? value : FORGOTTEN
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map(hushed)
  return isJsonObject(value) ? hushedFields(value, NONE) : value
}

/** But for what stands under these names in it, and not further inside. */
const hushedFields = (value: Fields, whole: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, whole.has(name) ? each : hushed(each)]))

type Changes = Readonly<Record<string, (each: Json) => Json | undefined>>

/** With other members where it has them, and without those of which nothing is left. */
export const changed = (value: Json, changes: Changes): Json => {
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([name, each]) => {
    const left = Object.hasOwn(changes, name) ? changes[name]?.(each) : each
    return left === undefined ? [] : [[name, left] as const]
  })
  return Object.fromEntries(members)
}

const eachOf =
  (change: (each: Json) => Json) =>
  (list: Json): Json =>
    listOf(list).map(change)

const hushedExcept =
  (...names: ReadonlyArray<string>) =>
  (value: Json): Json =>
    isJsonObject(value) ? hushedFields(value, new Set(names)) : hushed(value)

const nothing = (): undefined => undefined

export const hushedMessage = (message: Json): Json =>
  changed(message, {
    content: hushed,
    rejected: hushed,
    parts: nothing,
    note: nothing,
    reasoning: nothing,
    calls: eachOf((call) => changed(call, { arguments: () => ({}) }))
  })

export const hushedMail = (envelope: Json): Json =>
  // What still waits is read once more: without parts or answers of which nothing is left, and a text that says so.
  changed(envelope, {
    event: (event) =>
      changed(hushedExcept("type", "kind", "id", "name", "call", "outcome", "assignment")(event), {
        text: () => FORGOTTEN,
        parts: nothing,
        answers: nothing,
        // How a task ended is waited for.
        assignment: hushedExcept("end")
      })
  })

const hushedEmitted = (event: Json): Json =>
  isJsonObject(event) && isOfChart(event) ? event : hushedExcept("type", ...OWN)(event)

const hushedStep = (step: Json): Json => {
  const plain = hushedExcept(...PLAIN, ...OWN)
  const detail = isJsonObject(step) ? step["detail"] : undefined
  return changed(plain(step), { detail: () => plain(detail ?? null) })
}

/** No text reaches the statechart: what reached it stays, and so it stands where it stood. */
export const hushedEntry = (entry: Json): Json =>
  changed(entry, {
    messages: eachOf(hushedMessage),
    step: hushedStep,
    hooks: eachOf(hushedExcept("point", "hook", "name", "id", "kind", "type", "did", "of", "tool", ...OWN)),
    emitted: eachOf(hushedEmitted),
    sends: eachOf(hushedMail),
    tickEnd: (end) =>
      changed(end, { reply: hushed, output: nothing, misfit: nothing, refusal: nothing, parts: nothing })
  })

/** Under these names of people stand. */
const NAMED = new Set(["from", "speaker", "entities", "aliases", "by", "setBy"])

/** Words that stand under `by` in notices, where no one is named. */
const NO_NAMES: ReadonlySet<string> = new Set(["hook", "person", "time", "rule", "model", "heuristic"])

/** Under `name` others have theirs too: tools, steps, assistants. */
const isOfPerson = ({ role, type }: Fields): boolean => role === "user" || type === "person"

/** What a person wrote to a decision stands in the tick of another one; its words go as they stand, however short they are. */
const isNoteOf = ({ by, decision, text }: Fields, person: string): boolean =>
  isName(by, person) && (decision === "approved" || decision === "denied") && typeof text === "string"

export const nameless = (value: Json, person: string, isNamed = false): Json => {
  if (typeof value === "string") return isNamed && isName(value, person) ? NO_NAME : value
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((each) => nameless(each, person, isNamed))
  if (!isJsonObject(value)) return value
  if (isNoteOf(value, person)) return changed(value, { by: () => NO_NAME, text: () => FORGOTTEN })
  const isHis = (name: string) =>
    (NAMED.has(name) && !(name === "by" && NO_NAMES.has(person))) || (name === "name" && isOfPerson(value))
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, nameless(each, person, isHis(name))]))
}

/** What a reminder, an assignment or a question to a team says: work leans on it, so it stays, and says nothing. */
const SAYING = new Set(["text", "note", "content", "question", "task", "answer", "title", "reason", "haltReason"])

/** Under this stands why a call was refused, in an event and in a snapshot. */
const REFUSED = "refused"

/** Why a call of a model has failed, and why calls of tools were refused. */
export const reasonsOf = (event: Json | undefined): ReadonlyArray<string> => {
  if (!isJsonObject(event)) return []
  const { error, output } = event
  const refused = isJsonObject(output) ? listOf(output["calls"]).map((call) => isJsonObject(call) && call[REFUSED]) : []
  return [isJsonObject(error) && error["reason"], ...refused].filter((each) => typeof each === "string")
}

/** Texts of work that says nothing any more: all of them, or these. */
export const saying = (value: Json, texts?: ReadonlySet<string>, name = ""): Json => {
  const isSaying = SAYING.has(name) || (texts !== undefined && name === REFUSED)
  if (typeof value === "string") return isSaying && texts?.has(value) !== false ? hushed(value) : value
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((each) => saying(each, texts, name))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([inner, each]) => [inner, saying(each, texts, inner)]))
}

/** As much of a reason as a snapshot keeps. */
const MAX_REASON_CHARS = 200

/** The texts of an order: why someone halts, what a decision is noted with. */
export const textsOfOrder = (event: Json | undefined): ReadonlyArray<string> =>
  isJsonObject(event)
    ? Object.entries(event).flatMap(([name, each]) =>
        SAYING.has(name) && typeof each === "string" ? [each, `${each.slice(0, MAX_REASON_CHARS - 1)}\u2026`] : []
      )
    : []

/** Blocks that a person wrote in, and no one else. */
export const blocksOf = (parts: ReadonlyArray<BundlePart>, person: string | undefined): ReadonlySet<string> => {
  const versions = parts.flatMap((part) => (part.kind === "block-version" ? [part] : []))
  const isBy = ({ body }: PartOf<"block-version">) => isJsonObject(body) && isName(body["by"], person)
  const others = new Set(versions.filter((each) => !isBy(each)).map(({ block }) => block))
  return new Set(versions.filter((each) => isBy(each) && !others.has(each.block)).map(({ block }) => block))
}
