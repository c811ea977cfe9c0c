// Filter: which points a filter of Qdrant lets through.
// Owns the conditions that the double knows. Leaves what may be filtered by to `strict-mode.ts`.
// C1  A condition that the double does not know is refused by `unknownCondition`, never taken for true.
// C2  A list in a payload matches when one of its elements does.

import { type Fields, fieldsOf, isFields, listOf, type Point } from "./wire.ts"

const clauses = ["must", "should", "must_not"] as const

const isFilter = (condition: Fields): boolean => Object.keys(condition).every((key) => clauses.includes(key as "must"))

const equals = (value: unknown, wanted: unknown): boolean => value === wanted

const isMatching = (values: ReadonlyArray<unknown>, match: Fields): boolean => {
  if ("value" in match) return values.some((value) => equals(value, match["value"]))
  const any = listOf(match["any"])
  if ("any" in match) return values.some((value) => any.includes(value))
  const except = listOf(match["except"])
  return values.some((value) => !except.includes(value))
}

/** Numbers as they are; texts are points in time. */
const asNumber = (value: unknown): number => (typeof value === "string" ? Date.parse(value) : Number(value))

const isWithin = (value: unknown, range: Fields): boolean => {
  const bounds = Object.entries(range).filter(([, bound]) => bound !== null)
  const isTime = bounds.some(([, bound]) => typeof bound === "string")
  if (typeof value !== (isTime ? "string" : "number")) return false
  return bounds.every(([name, bound]) => {
    const [a, b] = [asNumber(value), asNumber(bound)]
    return name === "gt" ? a > b : name === "gte" ? a >= b : name === "lt" ? a < b : a <= b
  })
}

const holds = (condition: Fields, point: Point): boolean => {
  if ("has_id" in condition) return listOf(condition["has_id"]).includes(point.id)
  if ("has_vector" in condition) return point.vectors.has(String(condition["has_vector"]))
  if ("is_empty" in condition) {
    const value = point.payload[String(fieldsOf(condition["is_empty"])["key"])]
    return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
  }
  if (!("key" in condition)) return isLetThrough(condition, point)
  const values = listOf(point.payload[String(condition["key"])])
  if (isFields(condition["match"]) && !isMatching(values, condition["match"])) return false
  const { range } = condition
  return !isFields(range) || values.some((value) => isWithin(value, range))
}

/** Whether the filter lets the point through; no filter lets everything. */
export const isLetThrough = (filter: unknown, point: Point): boolean => {
  if (!isFields(filter)) return true
  const of = (clause: (typeof clauses)[number]) => listOf(filter[clause]).map(fieldsOf)
  const should = of("should")
  return (
    of("must").every((condition) => holds(condition, point)) &&
    of("must_not").every((condition) => !holds(condition, point)) &&
    (should.length === 0 || should.some((condition) => holds(condition, point)))
  )
}

/** The conditions of a filter without the filters that hold them together. */
export const conditionsOf = (filter: unknown): ReadonlyArray<Fields> =>
  clauses
    .flatMap((clause) => listOf(fieldsOf(filter)[clause]).map(fieldsOf))
    .flatMap((condition) => (isFilter(condition) ? conditionsOf(condition) : [condition]))

const known: ReadonlyArray<ReadonlyArray<string>> = [["has_id"], ["has_vector"], ["is_empty"], ["key"]]
const knownMatches = ["value", "any", "except"]

const isKnown = (condition: Fields): boolean => {
  const { match, key: _key, range, ...rest } = condition
  if (!known.some(([name]) => name !== undefined && name in condition)) return false
  if ("key" in condition && Object.keys(rest).length > 0) return false
  if ("key" in condition && match === undefined && range === undefined) return false
  return !isFields(match) || knownMatches.some((name) => name in match)
}

/** The first condition that the double can not judge. */
export const unknownCondition = (filter: unknown): Fields | undefined =>
  conditionsOf(filter).find((condition) => !isKnown(condition))
