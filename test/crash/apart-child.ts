// One process of the apart lane: archives, deletes and forgets a life on PostgreSQL whose segments lie in a directory.
// A1  It kills itself before and after each call of the place: between any two durable steps of which one is in the place and the other
//     in the database. It says what it was answered; what a process before it has done already is done again, and changes nothing.

import { writeSync } from "node:fs"
import { openPostgresStore } from "@reverie/store-postgres"
import { segmentDirectory } from "@reverie/store-sqlite"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const [url = "", schema = "", directory = "", word = "", killAt = "0"] = process.argv.slice(2)

const ada = anAddress("ada")

let steps = 0
const step = Effect.sync(() => {
  if (++steps === Number(killAt)) process.kill(process.pid, "SIGKILL")
})
const stepping = <A, E>(call: Effect.Effect<A, E>) => Effect.tap(Effect.andThen(step, call), () => step)

const place = segmentDirectory(directory)
const segments = {
  ...place,
  put: (key: string, bytes: Uint8Array) => stepping(place.put(key, bytes)),
  remove: (keys: ReadonlyArray<string>) => stepping(place.remove(keys))
}

const say = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`))

const living = Effect.gen(function* () {
  const { archive, bundles } = yield* openPostgresStore(Redacted.make(url), { schema, connections: 3, segments })
  yield* archive.archive(ada, 20, 1)
  yield* archive.archive(ada, 40, 1)
  yield* archive.remove(ada, 8)
  yield* bundles.rewrite([ada], (there) => JSON.parse(JSON.stringify(there).replaceAll(word, "(gone)")) as typeof there)
  yield* say("forgotten")
  yield* archive.archive(ada, 55, 1)
  yield* say(`steps ${steps}`)
})

await Effect.runPromise(Effect.scoped(living))
process.exit(0)
