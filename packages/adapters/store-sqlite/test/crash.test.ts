import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { isJsonObject } from "@reverie/protocol"
import { openSqliteStore } from "@reverie/store-sqlite"
import { atLength } from "@reverie/testkit/length"
import * as Effect from "effect/Effect"
import { linesUntilKilled } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"

/** Lines that each life of the child may say before it is killed; it is always in the middle of something. */
const LIVES = [1, 40, 333, ...atLength([], [700, 1_500])]

const integrity = (directory: string): unknown => {
  const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
  const answer = Object.values(database.prepare("PRAGMA integrity_check").get() ?? {})[0]
  database.close()
  return answer
}

it.live(
  "I1 what was acknowledged before a SIGKILL is there, and no commit is there in part",
  () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const said: Array<string> = []
      for (const lineCount of LIVES) said.push(...(yield* linesUntilKilled("busy.ts", directory, lineCount)))
      assert.isAtLeast(
        said.length,
        LIVES.reduce((sum, count) => sum + count)
      )

      const { ledger, mailbox } = yield* openSqliteStore(directory)
      const records = yield* ledger.list(undefined, 100)
      assert.strictEqual(records.length, 8)
      const found = new Set<string>()
      const sends: Array<string> = []
      let settled = 0
      for (const { address, version, state, waiting, cursors } of records) {
        const rows = yield* ledger.entries(address, 1, version + 10)
        assert.deepStrictEqual(
          rows.map(({ entry }) => entry.no),
          Array.from({ length: version }, (_, index) => index + 1)
        )
        assert.strictEqual(isJsonObject(state.snapshot) && state.snapshot["no"], version)
        const messages = yield* ledger.recent(address, 1_000_000)
        assert.strictEqual(messages.length, version - 1)
        for (const { entry } of rows.slice(1)) {
          found.add(`committed ${address.assistant} ${entry.no}`)
          if (entry.cause.kind === "envelope") found.add(`accepted ${entry.cause.id}`)
          sends.push(...(entry.sends ?? []).map(({ id }) => id))
          settled += entry.settled?.length ?? 0
        }
        const last = rows.at(-1)?.entry.cause
        assert.strictEqual(cursors.mail, last?.kind === "envelope" ? last.seq : 0)
        const pending = yield* mailbox.pending(address, ["mail"], 64)
        assert.strictEqual(pending.length, waiting)
        for (const { id } of pending) found.add(`accepted ${id}`)
      }
      assert.deepStrictEqual(
        said.filter((line) => !found.has(line)),
        []
      )
      const open = yield* ledger.openSends(sends.length + 10)
      assert.deepStrictEqual(open.map(({ envelope }) => String(envelope.id)).toSorted(), sends.toSorted())
      const totals = yield* ledger.totals
      assert.strictEqual(totals.settled, settled)
      assert.strictEqual(totals.accepted, settled + records.reduce((sum, { waiting }) => sum + waiting, 0))
      assert.strictEqual(integrity(directory), "ok")
    }),
  60_000
)
