// SearchThread: searches on a thread of its own, beside the process that writes the index.
// Owns reading the file there. Leaves starting it to recall.ts, and searching where it does not answer too.
// T1  It answers only where it sees the index as its process does: at the position that comes with the question.

import { parentPort, workerData } from "node:worker_threads"
import { foundBy, samePosition, type SearchAnswer, type SearchAsked, type ToSearchThread } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { Connection } from "../connection.ts"
import { type Opening, partsOf, standing } from "../recall.ts"
import { search } from "./searching.ts"

const { directory, sizes } = workerData as Opening
const file = new Connection(directory, true, (database) => partsOf(database, sizes))

const answerTo = (asked: SearchAsked): SearchAnswer =>
  Effect.runSync(
    file
      .look("search", (parts) =>
        asked.at !== undefined && samePosition(standing(parts.groups, asked.viewer), asked.at)
          ? Effect.runSync(foundBy((viewer, query) => Effect.sync(() => search(parts, viewer, query)), asked))
          : undefined
      )
      .pipe(
        // The process searches by itself then, and says what is wrong.
        Effect.catchCause(() => Effect.undefined),
        Effect.map((found) => ({ id: asked.id, found }))
      )
  )

parentPort?.on("message", (asked: ToSearchThread) => {
  if (asked === "end") {
    file.close()
    parentPort?.close()
    return
  }
  // A port of threads has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(answerTo(asked))
})
