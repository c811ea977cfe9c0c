// Packed: the part of an entry that says the same fields with every model call, written without their names.
// Owns the fields that are known and the two ways. Leaves the rest of the row to stored.ts: every reader sees whole entries.
// K1  What was packed comes back equal, whatever stands in its place: what has no known form is written as it is.
// K2  Reading never throws.

import { isJsonObject, type Json } from "../json.ts"

type JsonObject = { readonly [key: string]: Json }

/** The names that an object may have, at most 30 and none that every object has, and of what form their values are. */
interface Form {
  readonly names: ReadonlyArray<string>
  readonly of?: Readonly<Record<string, Form>>
  /** It is a list of such objects. */
  readonly isList?: true
}

const USAGE: Form = {
  names: ["inputTokens", "cachedInputTokens", "outputTokens", "reasoningTokens", "source"]
}

const SPENT: Form = {
  isList: true,
  names: [
    "model",
    "calls",
    "inputTokens",
    "cachedTokens",
    "outputTokens",
    "reasoningTokens",
    "costMicros",
    "unpricedCalls"
  ]
}

const REPORT: Form = {
  names: [
    "context",
    "parts",
    "toolTokens",
    "tokens",
    "limit",
    "share",
    "absent",
    "leftOut",
    "cuts",
    "marks",
    "interrupted"
  ],
  of: {
    parts: { isList: true, names: ["id", "key", "messages", "tokens"] },
    absent: { isList: true, names: ["key", "reason"] },
    leftOut: { isList: true, names: ["reason", "messages", "tokens"] }
  }
}

const PATTERN: Form = {
  names: [
    "mode",
    "max_iterations",
    "allowed_categories",
    "terminal_ends_loop",
    "dangerous_requires_confirm",
    "multi_tool_enabled",
    "sub_agents_enabled",
    "source_layers",
    "context_signals"
  ],
  of: {
    source_layers: {
      names: [
        "mode",
        "max_iterations",
        "multi_tool_enabled",
        "sub_agents_enabled",
        "allowed_categories",
        "dangerous_requires_confirm",
        "terminal_ends_loop",
        "event_class"
      ]
    },
    context_signals: {
      names: ["token_pressure", "recent_errors", "pre_compaction", "event_class", "goal_urgency"]
    }
  }
}

/** Stands before what is a list by itself. */
const AS_IT_IS = -1

const packed = (value: Json, form: Form): Json =>
  form.isList === true
    ? Array.isArray(value)
      ? value.map((each: Json) => packedOne(each, form))
      : value
    : packedOne(value, form)

/** A number that says which names there are, then their values. */
const packedOne = (value: Json, { names, of = {} }: Form): Json => {
  if (Array.isArray(value)) return [AS_IT_IS, value]
  if (!isJsonObject(value)) return value
  const row: Array<Json> = [0]
  let present = 0
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ""
    const said = value[name]
    if (said === undefined) continue
    present |= 1 << at
    const form = of[name]
    row.push(form === undefined ? said : packed(said, form))
  }
  let said = 0
  for (const name in value) if (value[name] !== undefined) said++
  if (said !== row.length - 1) return value
  row[0] = present
  return row
}

const unpacked = (value: Json, form: Form): Json =>
  form.isList === true
    ? Array.isArray(value)
      ? value.map((each: Json) => unpackedOne(each, form))
      : value
    : unpackedOne(value, form)

const unpackedOne = (value: Json, { names, of = {} }: Form): Json => {
  if (!Array.isArray(value)) return value
  const [present, ...said] = value as ReadonlyArray<Json>
  if (present === AS_IT_IS) return said[0] ?? null
  if (typeof present !== "number") return value
  const object: Record<string, Json> = {}
  let next = 0
  for (let at = 0; at < names.length; at++) {
    if ((present & (1 << at)) === 0) continue
    const name = names[at] ?? ""
    const form = of[name]
    const each = said[next++] ?? null
    object[name] = form === undefined ? each : unpacked(each, form)
  }
  return object
}

type Change = typeof packed

/** Of a step what has a known form; nothing else of an entry is looked at. */
const changed = (step: JsonObject, change: Change): JsonObject => {
  const { detail, spent, usage } = step
  const after: Record<string, Json> = { ...step }
  if (usage !== undefined) after["usage"] = change(usage, USAGE)
  if (spent !== undefined) after["spent"] = change(spent, SPENT)
  if (detail === undefined || !isJsonObject(detail)) return after
  const { context, pattern } = detail
  if (context === undefined && pattern === undefined) return after
  const told: Record<string, Json> = { ...(detail as JsonObject) }
  if (context !== undefined) told["context"] = change(context, REPORT)
  if (pattern !== undefined) told["pattern"] = change(pattern, PATTERN)
  after["detail"] = told
  return after
}

/** A step without the names that are known. */
export const packedStep = (step: JsonObject): JsonObject => changed(step, packed)

/** What `packedStep` was given. */
export const wholeStep = (step: JsonObject): JsonObject => changed(step, unpacked)
