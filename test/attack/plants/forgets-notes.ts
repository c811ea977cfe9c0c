// Plant: what is tried under suspicion is not noted, so nothing is ever convicted as the only suspect.

import { DatabaseSync, type StatementSync } from "node:sqlite"

const prepare = Reflect.get(DatabaseSync.prototype, "prepare") as (sql: string) => StatementSync

DatabaseSync.prototype.prepare = function (sql: string) {
  const forgetting = sql.replace("SET note = ? WHERE key = ?", "SET note = substr(?, 1, 0) WHERE key = ?")
  return Reflect.apply(prepare, this, [forgetting])
}
