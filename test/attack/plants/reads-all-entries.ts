// Planted: with each question all entries of the assistant that is asked are read.
import { DatabaseSync } from "node:sqlite"

const prepare = Reflect.get(DatabaseSync.prototype, "prepare") as (sql: string) => unknown
const WHERE = "FROM segments WHERE grp = ?"
const all = `${WHERE} AND (SELECT sum(length(entry)) FROM entries WHERE owner = grp) > 0`

function planted(this: DatabaseSync, sql: string): unknown {
  return Reflect.apply(prepare, this, [sql.replace(WHERE, all)])
}
Object.assign(DatabaseSync.prototype, { prepare: planted })
