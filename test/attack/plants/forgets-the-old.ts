// Planted: what leaves the journal at hand is not written anywhere.
import { DatabaseSync } from "node:sqlite"

const prepare = Reflect.get(DatabaseSync.prototype, "prepare") as (sql: string) => unknown
const KEEP = "INSERT OR REPLACE INTO records (assistant, kind, key, body) VALUES (?, ?, ?, ?)"
const some = `INSERT OR REPLACE INTO records (assistant, kind, key, body)
  SELECT * FROM (SELECT ? AS assistant, ? AS kind, ? AS key, ? AS body) WHERE kind <> 'episode'`

function planted(this: DatabaseSync, sql: string): unknown {
  return Reflect.apply(prepare, this, [sql === KEEP ? some : sql])
}
Object.assign(DatabaseSync.prototype, { prepare: planted })
