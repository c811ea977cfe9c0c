// Plant: what is tried under suspicion is not noted, so nobody is ever convicted as the only suspect.

import { DatabaseSync } from "node:sqlite"

const prepare = DatabaseSync.prototype.prepare
DatabaseSync.prototype.prepare = function (sql: string, ...rest: Array<never>) {
  return prepare.call(
    this,
    sql.replace("SET note = ? WHERE key = ?", "SET note = substr(?, 1, 0) WHERE key = ?"),
    ...rest
  )
}
