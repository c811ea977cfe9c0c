// PgFailure: what PostgreSQL and the network say when they refuse, in a sentence a person can act on.
// Owns the reading of codes. Leaves to the callers which error of which port it becomes.
// P1  Passing is what ends by itself and concerns no statement: a lost connection, a restart, a deadline. The same call
//     may be made again, and whether the lost one was carried out is not known.
// P2  Neither a password nor the text of a statement is in a sentence.

import * as Predicate from "effect/Predicate"
import { isSqlError } from "effect/sql/SqlError"

/** retry: undone as a whole, for the sake of others; the same statement may run again at once. */
type Kind = "passing" | "retry" | "denied" | "full" | "damaged" | "closed" | "other"

export class PgFailure {
  readonly kind: Kind
  /** What is the matter and what helps. */
  readonly message: string
  readonly cause: unknown

  constructor(kind: Kind, message: string, cause?: unknown) {
    this.kind = kind
    this.message = message
    this.cause = cause
  }
}

const kindByCode: Readonly<Record<string, Kind>> = {
  "40001": "retry",
  "40P01": "retry",
  "53300": "passing",
  "57014": "passing",
  "57P01": "passing",
  "57P02": "passing",
  "57P03": "passing",
  "57P05": "passing",
  "25006": "passing",
  "53100": "full",
  "53200": "passing",
  "42501": "denied",
  XX001: "damaged",
  XX002: "damaged"
}

const sentences: Readonly<Record<string, string>> = {
  "28P01": "the password or the user is wrong; check the URL",
  "28000": "this user may not connect from here; check the URL and pg_hba.conf",
  "3D000": "there is no such database; create it (createdb), or name another one",
  "53300": "the server has no free connection; raise max_connections or lower `connections`",
  "53100": "the server's disk is full; free some space",
  "25006": "the server takes no writes now: it is a standby, or about to change over",
  "42501": "this role may not do that; grant it what the README of store-postgres names",
  "42P01": "the tables are not there; open the store once with a role that may create them",
  XX001: "a page of the database is damaged",
  XX002: "an index of the database is damaged; REINDEX makes it again",
  "57P01": "the server is shutting down",
  "57P03": "the server is starting up"
}

export const closed = new PgFailure("closed", "the store is closed")

export const late = (deadlineMillis: number): PgFailure =>
  new PgFailure("passing", `no answer within ${deadlineMillis} ms`)

const textAt = (value: unknown, key: string): string | undefined => {
  const found: unknown = Predicate.isObject(value) ? Reflect.get(value, key) : undefined
  return typeof found === "string" ? found : undefined
}

const isTextEmpty = (text: string | undefined): boolean => text === undefined || text === ""

/** The failure that an error of the client stands for. */
export const pgFailure = (error: unknown): PgFailure => {
  const reason = isSqlError(error) ? error.reason : error
  const cause = Predicate.isObject(reason) ? Reflect.get(reason, "cause") : undefined
  const code = textAt(cause, "code")
  const said = textAt(cause, "message")
  const words = isTextEmpty(said) ? (code ?? "unknown") : (said ?? "")
  const sentence = code === undefined ? undefined : sentences[code]
  const message = sentence === undefined ? words : `${sentence} (${words})`
  const isConnection = Predicate.isTagged(reason, "ConnectionError") || code?.startsWith("08") === true
  const kind = (code === undefined ? undefined : kindByCode[code]) ?? (isConnection ? "passing" : "other")
  return new PgFailure(kind, message, error)
}
