// Statements: how the schema of the index is asked.
// Owns what a statement is given, each value with its type, and the forms of asking. Leaves connections to database.ts.

import * as PgTypes from "@effect/sql-pg/PgTypes"
import type { RecallUnavailable } from "@reverie/memory"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"

export type Value = PgTypes.Parameter

const listOf = (values: ReadonlyArray<unknown> | null, oid: number): Value =>
  Result.getOrThrowWith(PgTypes.array(values, oid), (error) => error)

export const text = PgTypes.text
export const number = PgTypes.float8
export const texts = (values: ReadonlyArray<string | null>): Value => listOf(values, PgTypes.OID.text)
export const numbers = (values: ReadonlyArray<number> | null): Value => listOf(values, PgTypes.OID.float8)
export const flags = (values: ReadonlyArray<boolean>): Value => listOf(values, PgTypes.OID.bool)
export const bytes = (values: ReadonlyArray<Uint8Array>): Value => listOf(values, PgTypes.OID.bytea)

/** Runs a statement. The caller vouches for the shape of the rows. */
export type Query = <Row>(
  operation: string,
  sql: string,
  values?: ReadonlyArray<Value>
) => Effect.Effect<ReadonlyArray<Row>, RecallUnavailable>

/** The same while the schema is opened. */
export type Ask = (sql: string, values?: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<unknown>, unknown>

/** Several statements, all or none of them. */
export type Transaction = (inside: (ask: Ask) => Effect.Effect<void, unknown>) => Effect.Effect<void, unknown>

/** Several statements in one: one of the client is one command, unless the server takes the text apart. */
export const command = (step: string): string => `DO $run$ BEGIN EXECUTE $step$${step}$step$; END $run$`
