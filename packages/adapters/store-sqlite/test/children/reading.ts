// A process that owns the directory named on its command line, accepts messages, and reads, hashes and copies every file of
// the directory now and then, as a tool of an assistant may. It says what is acknowledged, until it is refused or killed.
import { createHash } from "node:crypto"
import { cpSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { openSqliteStore } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"

const directory = String(process.argv[2])
const say = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`))

const readEverything = async (): Promise<void> => {
  for (const name of readdirSync(directory)) {
    await readFile(join(directory, name))
    createHash("sha256")
      .update(readFileSync(join(directory, name)))
      .digest()
  }
  cpSync(directory, `${directory}-copied`, { recursive: true })
  rmSync(`${directory}-copied`, { recursive: true })
}

const reading = Effect.gen(function* () {
  const { ledger, mailbox } = yield* openSqliteStore(directory)
  const address = anAddress()
  yield* ledger.create({ address, state: aState(), entry: anEntry() })
  yield* say("owns")
  for (let at = 0; ; at++) {
    if (at % 10 === 9) {
      yield* Effect.promise(readEverything)
      yield* say("read everything")
      yield* Effect.sleep(200)
    }
    const accepted = yield* Effect.result(mailbox.accept(anEnvelope({ id: `m-${at}`, to: address })))
    if (accepted._tag === "Failure") return yield* say(`refused ${accepted.failure.message}`)
    yield* say(`accepted m-${at}`)
  }
})

void Effect.runPromise(Effect.scoped(reading))
