// SearchThread: searches on a thread of its own, with connections of its own.
// Owns asking the database there. Leaves starting it to recall.ts, and searching where it does not answer too.

import { parentPort, workerData } from "node:worker_threads"
import { foundBy, type SearchAnswer, type SearchAsked, type ToSearchThread } from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { openIndex } from "./database.ts"
import type { Opening } from "./recall.ts"
import { Matrices } from "./matrices.ts"
import { searching } from "./searching.ts"

const { url, ...options } = workerData as Opening
const scope = Effect.runSync(Scope.make())
const index = Effect.runSync(Scope.provide(openIndex({ ...options, url: Redacted.make(url) }), scope))
const search = searching(index, new Matrices(index.query))

const answerTo = (asked: SearchAsked): Effect.Effect<SearchAnswer> => {
  const { id } = asked
  return foundBy(search, asked).pipe(
    Effect.map((found): SearchAnswer => ({ id, found })),
    Effect.catch(({ message }) => Effect.succeed({ id, found: undefined, unavailable: message })),
    // The process searches by itself then, and says what is wrong.
    Effect.catchCause(() => Effect.succeed({ id, found: undefined }))
  )
}

parentPort?.on("message", (asked: ToSearchThread) => {
  if (asked === "end") {
    void Effect.runPromise(Scope.close(scope, Exit.void)).finally(() => parentPort?.close())
    return
  }
  // A port of threads has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  void Effect.runPromise(answerTo(asked)).then((answer) => parentPort?.postMessage(answer))
})
