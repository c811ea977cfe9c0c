// A process that opens the store in the directory named on its command line, and says why it may not: `<tag> <message>`.
// With `read` as the next word it only reads, and says what is lost.
import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { openSqliteStore } from "@reverie/store-sqlite"

const [, , directory, way] = process.argv

const refused = openSqliteStore(String(directory), { readOnly: way === "read" }).pipe(
  Effect.flatMap(({ loss }) => loss),
  Effect.map((loss) => (loss === undefined ? "whole" : `${loss._tag} ${loss.message}`)),
  Effect.catch(({ _tag, message }) => Effect.succeed(`${_tag} ${message}`)),
  Effect.scoped
)

writeSync(1, `${await Effect.runPromise(refused)}\n`)
