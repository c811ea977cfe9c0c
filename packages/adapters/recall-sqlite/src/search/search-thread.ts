// SearchThread: searches on a thread of its own, beside the process that writes the index.
// Owns reading the file there. Leaves starting it, and searching where it does not answer, to matrices.ts.
// T1  It answers only where it sees the index as its process does: at the position that comes with the question.

import { parentPort, workerData } from "node:worker_threads"
import { samePosition } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { Connection } from "../connection.ts"
import { partsOf, standing } from "../recall.ts"
import { search } from "./searching.ts"
import type { Answer, Asked, Opening } from "./matrices.ts"

const { directory, sizes } = workerData as Opening
const file = new Connection(directory, true, (database) => partsOf(database, sizes))

const answerTo = ({ at, id, query, viewer }: Asked): Answer =>
  Effect.runSync(
    file
      .look("search", (parts) =>
        samePosition(standing(parts.groups, viewer), at) ? search(parts, viewer, query) : undefined
      )
      .pipe(
        // The process searches by itself then, and says what is wrong.
        Effect.catchCause(() => Effect.undefined),
        Effect.map((hits) => ({ id, hits }))
      )
  )

parentPort?.on("message", (asked: Asked | "end") => {
  if (asked === "end") {
    file.close()
    parentPort?.close()
    return
  }
  // A port of threads has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(answerTo(asked))
})
