// StrictMode: what a collection in strict mode refuses.
// Owns the limits and the rule that filters use indexed keys. Leaves carrying out to `collection.ts` and `search.ts`.
// S1  A key that is filtered by has an index of a type that can answer: also in the corpus of an idf.

import { conditionsOf, unknownCondition } from "./filter.ts"
import { type Fields, fieldsOf, isFields, listOf, refusal, type Refusal } from "./wire.ts"

export interface StrictModeSubject {
  readonly strict: Fields
  /** The schema of each payload index by its field. */
  readonly indexes: ReadonlyMap<string, Fields>
}

const fits = (condition: Fields, index: Fields | undefined): boolean => {
  const type = index?.["type"]
  if (type === undefined) return false
  if (isFields(condition["range"])) {
    const isTime = Object.values(condition["range"]).some((bound) => typeof bound === "string")
    if (isTime) return type === "datetime"
    return type === "float" || (type === "integer" && index?.["range"] !== false)
  }
  const match = fieldsOf(condition["match"])
  const [wanted] = [...listOf(match["value"]), ...listOf(match["any"]), ...listOf(match["except"])]
  if (typeof wanted === "string") return type === "keyword" || type === "uuid"
  if (typeof wanted === "boolean") return type === "bool"
  if (typeof wanted === "number") return type === "integer" && index?.["lookup"] !== false
  return true
}

const keyOf = (condition: Fields): string | undefined => {
  if ("is_empty" in condition) return String(fieldsOf(condition["is_empty"])["key"])
  return "key" in condition ? String(condition["key"]) : undefined
}

const sizeOf = (condition: Fields): number => {
  const match = fieldsOf(condition["match"])
  return Math.max(listOf(condition["has_id"]).length, listOf(match["any"]).length, listOf(match["except"]).length)
}

const over = (value: number, limit: unknown, name: string): Refusal | undefined =>
  typeof limit === "number" && value > limit
    ? refusal(400, `Bad request: Limit exceeded ${value} > ${limit} for "${name}"`)
    : undefined

/** Why the filter of a read or of an update is refused. */
export const filterRefusal = (
  { indexes, strict }: StrictModeSubject,
  filter: unknown,
  use: "retrieve" | "update"
): Refusal | undefined => {
  const strange = unknownCondition(filter)
  if (strange !== undefined) return refusal(501, `the double does not know ${JSON.stringify(strange)}`)
  if (strict["enabled"] !== true) return undefined
  const conditions = conditionsOf(filter)
  if (strict[`unindexed_filtering_${use}`] === false) {
    for (const condition of conditions) {
      const key = keyOf(condition)
      if (key !== undefined && !fits(condition, indexes.get(key))) {
        return refusal(400, `Bad request: Index required but not found for "${key}"`)
      }
    }
  }
  return (
    over(conditions.length, strict["filter_max_conditions"], "filter conditions") ??
    over(Math.max(0, ...conditions.map(sizeOf)), strict["condition_max_size"], "condition size")
  )
}

/** Why a limit, a batch or a timeout is refused; `asked` names them as the configuration does. */
export const limitRefusal = (
  { strict }: StrictModeSubject,
  asked: Readonly<Record<"max_query_limit" | "upsert_max_batchsize" | "search_max_batchsize", number | undefined>>
): Refusal | undefined => {
  if (strict["enabled"] !== true) return undefined
  for (const [name, value] of Object.entries(asked)) {
    const refused = value === undefined ? undefined : over(value, strict[name], name)
    if (refused !== undefined) return refused
  }
  return undefined
}
