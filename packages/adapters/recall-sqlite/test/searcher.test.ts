import { copyFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type MemoryEntry, Recall } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { recallTuned, searcherOf } from "../src/recall.ts"
import { aDirectory } from "./directories.ts"

const ada = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("ada") }

const aMemory = (key: string, text: string): MemoryEntry => ({
  id: `p/${key}`,
  kind: "passage",
  at: 0,
  text,
  entities: [],
  tags: [],
  trust: 1,
  importance: 1,
  readers: "owner"
})

const tell = (no: number, ...texts: ReadonlyArray<string>) =>
  Recall.use((recall) =>
    Effect.flatMap(recall.position(ada), (from) =>
      recall.apply(
        ada,
        texts.map((text, index) => ({ type: "put", entry: aMemory(`${no}-${index}`, text) })),
        { from, to: { no, digest: `entry ${no}` } }
      )
    )
  )

const query = (text: string) => ({ text, search: "fts", scope: "own", limit: 10, now: 0 }) as const

const found = (text: string) =>
  Effect.map(
    Recall.use((recall) => recall.search(ada, query(text))),
    (hits) => hits.map(({ entry }) => entry.id)
  )

/** Whether the event loop does the search itself. */
const isDoneAtOnce = (text: string) =>
  Effect.map(Recall, (recall) => Exit.isSuccess(Effect.runSyncExit(recall.search(ada, query(text)))))

const onThread = (directory: string) => Effect.provide(recallTuned(directory, {}, { large: 0 }), { local: true })

describe("a searcher", () => {
  it.effect("A1 a large memory is searched beside the event loop, and finds what was told a moment ago", () =>
    Effect.gen(function* () {
      for (let no = 1; no < 6; no++) {
        yield* tell(no, `a lantern of night ${no}`)
        assert.include(yield* found("lantern"), `p/${no}-0`)
      }
      assert.isFalse(yield* isDoneAtOnce("lantern"))
    }).pipe(onThread(aDirectory()))
  )

  it.effect("a small memory is searched at once", () =>
    Effect.gen(function* () {
      yield* tell(1, "a lantern of night 1")
      assert.isTrue(yield* isDoneAtOnce("lantern"))
    }).pipe(Effect.provide(recallSqliteLayer(aDirectory()), { local: true }))
  )

  it.effect("A1 where the thread sees another file, or none, the question is answered all the same", () => {
    const other = aDirectory()
    return Effect.gen(function* () {
      yield* tell(1, "a red lantern")
      renameSync(join(other, "recall.db"), join(other, "gone"))
      assert.deepEqual(yield* found("lantern"), ["p/1-0"])
      copyFileSync(join(other, "gone"), join(other, "recall.db"))
      yield* tell(2, "a green lantern")
      assert.deepEqual((yield* found("lantern")).toSorted(), ["p/1-0", "p/2-0"])
    }).pipe(onThread(other))
  })

  it.effect("A1 A3 a thread that can not start leaves its questions, and ends with them", () =>
    Effect.gen(function* () {
      const searcher = searcherOf({ directory: aDirectory(), sizes: undefined })
      const question = { viewer: ada, query: query("tide"), isInRounds: false, at: { no: 3, digest: "entry 3" } }
      assert.isUndefined(yield* searcher.ask(question))
      yield* Effect.promise(() => searcher.end())
      assert.isUndefined(yield* searcher.ask(question))
      yield* Effect.promise(() => searcher.end())
    })
  )
})
