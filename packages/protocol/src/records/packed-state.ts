// PackedState: the state of an assistant without the names of its fields, and without what most states say alike.
// Owns the forms that are known and the two ways. Leaves text and version to stored.ts: every reader sees whole states.
// P1  What was packed comes back equal, each field in its place: what has no known form, or another order, is written as it is.
// P2  Reading never throws.
// P3  A form never changes: rows are read by it that were written years ago. An object with a field that is not in its form
//     is written whole; a form that has the field comes with a version of its own.

import { isJsonObject, type Json } from "../json.ts"

type JsonObject = { readonly [key: string]: Json }

/** The fields that an object may have, at most 30, in their order. */
interface Form {
  readonly names: ReadonlyArray<string>
  /** By their places, the value that a field has most of the time; what is in a list or an object is not looked at. */
  readonly usual: ReadonlyArray<Json | undefined>
  readonly of: ReadonlyArray<Shape | undefined>
}

/** One object of a form, a list of such, or an object with such under names of its own. */
interface Shape {
  readonly form: Form
  readonly many?: "list" | "named"
}

interface Field {
  readonly usual?: Json
  readonly shape?: Shape
}

const formOf = (fields: Readonly<Record<string, Field>>): Form => ({
  names: Object.keys(fields),
  usual: Object.values(fields).map(({ usual }) => usual),
  of: Object.values(fields).map(({ shape }) => shape)
})

const any: Field = {}
const none: Field = { usual: null }
const zero: Field = { usual: 0 }
const no: Field = { usual: false }
const empty: Field = { usual: {} }
const nothing: Field = { usual: [] }

const JOB = formOf({ id: any, name: any, src: any, input: empty, lost: any, tried: any, triedBeside: any })
const TIMER = formOf({ name: any, dueAt: any, event: any })
const CALL = formOf({
  tool: any,
  category: any,
  approval: any,
  askedIn: any,
  asks: any,
  refused: any,
  ends: any,
  phase: any
})
const SIGNALS = formOf({ tokenRatio: zero, mailWaiting: no, historyHeld: no })
const CHILD = formOf({
  snapshot: { shape: { form: formOf({ status: { usual: "active" }, input: empty }) } },
  src: any,
  syncSnapshot: no
})

const CONTEXT = formOf({
  settings: empty,
  tick: any,
  envelope: none,
  hops: zero,
  iteration: zero,
  restriction: empty,
  contextType: { usual: "tick_event" },
  calls: { usual: [], shape: { form: CALL, many: "list" } },
  dangerousUsed: zero,
  errors: zero,
  parkMs: zero,
  sleepMs: zero,
  sleepUntil: zero,
  dreamNext: { usual: "" },
  round: zero,
  wakeWanted: no,
  compactingFrom: { usual: "awake" },
  signals: { shape: { form: SIGNALS } },
  haltReason: none,
  budget: any,
  account: none,
  subAgents: nothing,
  assignment: none,
  tries: zero,
  outage: none,
  modelFailures: zero,
  toolFailures: zero,
  repairs: zero
})

const SNAPSHOT = formOf({
  status: { usual: "active" },
  value: any,
  historyValue: empty,
  context: { shape: { form: CONTEXT } },
  children: { usual: {}, shape: { form: CHILD, many: "named" } }
})

const STATE = formOf({
  snapshot: { shape: { form: SNAPSHOT } },
  jobs: { usual: [], shape: { form: JOB, many: "list" } },
  timers: { usual: [], shape: { form: TIMER, many: "list" } },
  receives: any,
  status: any,
  definition: any
})

/** Stands before what is a list by itself. */
const AS_IT_IS = -1

const isBare = (value: JsonObject): boolean => {
  for (const _ in value) return false
  return true
}

/** Whether a value says what most do: the same primitive, or a list or an object with nothing in it. */
const isUsual = (value: Json, usual: Json | undefined): boolean => {
  if (typeof usual !== "object" || usual === null) return value === usual
  return Array.isArray(usual) ? Array.isArray(value) && value.length === 0 : isJsonObject(value) && isBare(value)
}

const usualOf = (usual: Json | undefined): Json =>
  typeof usual !== "object" || usual === null ? (usual ?? null) : Array.isArray(usual) ? [] : {}

const each = (value: Json, { form, many }: Shape, change: (value: Json, form: Form) => Json): Json => {
  if (many === undefined) return change(value, form)
  if (many === "list") return Array.isArray(value) ? value.map((one: Json) => change(one, form)) : value
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one, form)]))
}

/** Which fields are said, which are as usual, each as bits by their places; then the values of those that are said. */
const packed = (value: Json, { names, of, usual }: Form): Json => {
  if (Array.isArray(value)) return [AS_IT_IS, value]
  if (!isJsonObject(value)) return value
  const row: Array<Json> = [0, 0]
  let [said, alike, at] = [0, 0, 0]
  for (const name in value) {
    const field = value[name]
    if (field === undefined) continue
    while (at < names.length && names[at] !== name) at++
    if (at === names.length) return value
    if (isUsual(field, usual[at])) alike |= 1 << at
    else {
      const shape = of[at]
      said |= 1 << at
      row.push(shape === undefined ? field : each(field, shape, packed))
    }
    at++
  }
  row[0] = said
  row[1] = alike
  return row
}

const whole = (value: Json, { names, of, usual }: Form): Json => {
  if (!Array.isArray(value)) return value
  const row = value as ReadonlyArray<Json>
  const [said, alike] = row
  if (said === AS_IT_IS) return alike ?? null
  if (typeof said !== "number" || typeof alike !== "number") return value
  const object: Record<string, Json> = {}
  let next = 2
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ""
    if ((alike & (1 << at)) !== 0) object[name] = usualOf(usual[at])
    else if ((said & (1 << at)) !== 0) {
      const field = row[next++] ?? null
      const shape = of[at]
      object[name] = shape === undefined ? field : each(field, shape, whole)
    }
  }
  return object
}

/** A row of values; what is in no known form comes back as it is, and is no list. */
export const packedState = (state: JsonObject): Json => packed(state, STATE)

/** What `packedState` was given; undefined of what it has not written. */
export const wholeOfPacked = (row: Json | undefined): JsonObject | undefined => {
  const state = Array.isArray(row) && row[0] !== AS_IT_IS ? whole(row, STATE) : undefined
  return isJsonObject(state) ? state : undefined
}
