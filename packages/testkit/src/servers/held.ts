// Held: all that a server holds, as text in which something is looked for.
// Owns reading every table and every key. Leaves what lies compressed in them, and in files, to who knows of it.

import { postgresSays } from "./postgres-wire.ts"
import { openRedisWire } from "./redis-wire.ts"

const TABLES = `
  SELECT format('%I.%I', n.nspname, c.relname), c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname !~ '^pg_|^information_schema$'`

/** The tables of a database that are not the server's own, with their schema and without it. */
export const tablesOf = async (
  url: string
): Promise<ReadonlyArray<{ readonly whole: string; readonly name: string }>> =>
  (await postgresSays(url, TABLES)).map(([whole, name]) => ({ whole: whole ?? "", name: name ?? "" }))

/** All rows of all tables, each behind the name of its table. */
export const heldByPostgres = async (url: string): Promise<string> => {
  const tables = await tablesOf(url)
  const rows = await postgresSays(url, ...tables.map(({ whole }) => `SELECT '${whole} ' || t::text FROM ${whole} t`))
  return rows.flat().join("\n")
}

/** What the server has noted of the columns of a database for its plans, the server's own tables apart. */
export const notedByPostgres = async (url: string): Promise<string> => {
  const rows = await postgresSays(
    url,
    "ANALYZE",
    "SELECT s::text FROM pg_stats s WHERE schemaname !~ '^pg_|^information_schema$'"
  )
  return rows.flat().join("\n")
}

const readings: Readonly<Record<string, (key: string) => ReadonlyArray<string>>> = {
  hash: (key) => ["HGETALL", key],
  string: (key) => ["GET", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  zset: (key) => ["ZRANGE", key, "0", "-1"],
  stream: (key) => ["XRANGE", key, "-", "+"]
}

/** All keys with all that stands in them. */
export const heldByRedis = async (url: string): Promise<string> => {
  const wire = await openRedisWire(url)
  try {
    const keys = (await wire.send("KEYS", "*")) as ReadonlyArray<string>
    const held: Array<unknown> = [keys]
    for (const key of keys) {
      const type = String(await wire.send("TYPE", key))
      const reading = readings[type]
      // One that has expired since has none.
      if (reading !== undefined) held.push(await wire.send(...reading(key)))
      else if (type !== "none") throw new Error(`${key} is a ${type}, which is not read here`)
    }
    return JSON.stringify(held)
  } finally {
    wire.close()
  }
}
