// Stored: the shapes of account, sub-agents and assignment in a persisted snapshot.
// Owns their codecs. Leaves what fits besides them to decide.ts.

import { Amount, insulations, toolCategories } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import type { Account, Bound } from "../budget/account.ts"
import { endPhases, type Assignment, openPhases, type SubAgent } from "./sub-agent.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const limit = Schema.NullOr(count)

const StoredBound = Schema.Struct({ tokens: limit, costMicros: limit, calls: limit }) satisfies Schema.Codec<Bound>

export const StoredAccount = Schema.Struct({
  granted: StoredBound,
  spent: Amount,
  reserved: Amount,
  out: Schema.Record(Schema.String, StoredBound),
  warned: Schema.String
}) satisfies Schema.Codec<Account>

export const StoredSubAgent = Schema.Struct({
  call: Schema.String,
  tries: count,
  phase: Schema.Literals([...openPhases, ...endPhases]),
  millis: Schema.Finite,
  until: Schema.Finite,
  granted: Schema.optionalKey(StoredBound),
  spent: Schema.optionalKey(Amount)
}) satisfies Schema.Codec<SubAgent>

export const StoredAssignment = Schema.Struct({
  parent: Schema.String,
  owner: Schema.String,
  call: Schema.String,
  tries: count,
  depth: count,
  millis: Schema.Finite,
  until: Schema.Finite,
  insulation: Schema.Literals(insulations),
  above: Schema.Array(Schema.String),
  categories: Schema.NullOr(Schema.Array(Schema.Literals(toolCategories))),
  late: Schema.Boolean
}) satisfies Schema.Codec<Assignment>
