// Groups: which assistants a list means, and what they come to together.
// Owns the filter that lists, groups and actions for many share. Leaves adding up to ../../board/groups.ts.

import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { failures } from "../errors.ts"
import { limit, Spent, Text } from "../words.ts"

export const filter = {
  /** In the id or the name of the definition. */
  q: Schema.optionalKey(Text(200)),
  /** A mode, a path of the statechart, or the beginning of one. */
  state: Schema.optionalKey(Text(200)),
  definition: Schema.optionalKey(Text(128)),
  /** Of a definition that has this label. */
  tag: Schema.optionalKey(Text(64))
}

export const groupings = ["definition", "state", "tag"] as const

const FleetGroup = Schema.Struct({
  /** What the filter of this name takes to mean its members. */
  key: Schema.String,
  assistants: Schema.Int,
  /** Those for whom something runs now. */
  working: Schema.Int,
  /** Those that are halted, stuck or waiting for an approval. */
  needPerson: Schema.Int,
  halted: Schema.Int,
  approvals: Schema.Int,
  /** What waits in all their mailboxes. */
  waiting: Schema.Int,
  /** What they used in the last 24 hours. */
  day: Spent
})
export type FleetGroup = typeof FleetGroup.Type

/**
 * The assistants that the filter means, by definition, state or label, the largest group first. One with several labels is in as many
 * groups, one without any in none.
 */
export const groups = HttpApiEndpoint.get("groups", "/v1/groups", {
  query: { ...filter, by: Schema.optionalKey(Schema.Literals(groupings)), limit },
  success: Schema.Struct({
    by: Schema.Literals(groupings),
    items: Schema.Array(FleetGroup),
    /** How many groups there are. */
    matched: Schema.Int
  }),
  error: failures
})
