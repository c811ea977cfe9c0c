// Stores: stores for tests, each in a schema of its own, and the tables under them.
// Owns opening both. Leaves the server to `@reverie/testkit/shared-servers`.

import { openPostgresStore } from "@reverie/store-postgres"
import * as Redacted from "effect/Redacted"
import { openDatabase } from "../src/database.ts"
import { type StoreOptions as PostgresStoreOptions } from "../src/store.ts"

let count = 0

export const aSchema = (): string => `reverie_${++count}`

export const openAt = (url: string, options: PostgresStoreOptions = {}) =>
  openPostgresStore(Redacted.make(url), { connections: 4, ...options })

/** The tables of a schema, for anyone who looks under the store or tampers with it. */
export const tablesAt = (url: string, schema: string) =>
  openDatabase(Redacted.make(url), { schema, connections: 2, deadlineMillis: 20_000 })

/** The same server, for another role. */
export const asRole = (url: string, role: string, password = ""): string => {
  const made = new URL(url)
  made.username = role
  made.password = password
  return made.href
}
