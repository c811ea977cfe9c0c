// Snapshots: the collection as it was, made and put back at the server.
// Owns the order of a restore. Leaves what is missing after it to the runtime, which makes it up from the ledger.
// N1  A snapshot is put back beside what is in use, and looked at; then one request gives it the alias, and the old one is
//     dropped. A search finds in one of the two.
// N2  What is none of Reverie's, or of a newer one, takes no place: it is dropped again.
// N3  It may break off anywhere: before the alias the old one is in use, and the next restore drops what was begun.

import { defined } from "@reverie/protocol"
import type { IndexSnapshot, IndexSnapshots } from "@reverie/memory"
import * as Effect from "effect/Effect"
import {
  connect,
  DEFAULT_COLLECTION,
  type Qdrant,
  type QdrantOptions,
  SnapshotAnswer,
  SnapshotsAnswer
} from "./client.ts"
import type { Collection } from "./collection.ts"
import { giveAlias, readForm } from "./form.ts"
import { drop, finishReplacing, say, targetOf } from "./reforming.ts"

/** Making and putting back a snapshot takes as long as its size takes to be written. */
const PATIENCE_MILLIS = 3_600_000

const snapshotOf = ({ creation_time: at, name, size }: typeof SnapshotAnswer.Type): IndexSnapshot => ({
  name,
  bytes: size,
  ...defined({ at: at == null ? undefined : Date.parse(`${at}Z`) })
})

/** Where the server fetches a snapshot: at its own address, unless another location is named. */
const locationOf = ({ url }: QdrantOptions, collection: string, snapshot: string): string =>
  snapshot.includes("://")
    ? snapshot
    : `${url.replace(/\/+$/, "")}/collections/${encodeURIComponent(collection)}/snapshots/${encodeURIComponent(snapshot)}`

const restoring = (qdrant: Qdrant, options: QdrantOptions, { forget, freshModels, name }: Collection) =>
  Effect.fnUntraced(function* (snapshot: string) {
    // Made anew where it is gone, so that there is always one to fall back on.
    yield* freshModels
    const old = yield* targetOf(qdrant, name)
    const into = old === `${name}-restored` ? `${name}-restored-again` : `${name}-restored`
    const location = locationOf(options, old, snapshot)
    yield* drop(qdrant, into)
    const recovered = qdrant.write("restore", (client) =>
      client.recoverSnapshot(into, {
        location,
        priority: "snapshot",
        ...defined({ api_key: location.startsWith(options.url) ? options.apiKey : undefined })
      })
    )
    yield* recovered.pipe(
      Effect.andThen(readForm(qdrant, into)),
      Effect.tapError(() => Effect.ignore(drop(qdrant, into)))
    )
    yield* say(qdrant, into, { filling: null, replaces: old })
    yield* giveAlias(qdrant, name, into, true)
    yield* finishReplacing(qdrant, name, old, false)
    yield* forget
  })

export const snapshotsOf = (options: QdrantOptions, collection: Collection): IndexSnapshots => {
  const qdrant = connect({ ...options, timeoutMs: PATIENCE_MILLIS })
  const target = Effect.andThen(collection.freshModels, targetOf(qdrant, options.collection ?? DEFAULT_COLLECTION))
  return {
    list: Effect.flatMap(target, (own) =>
      Effect.map(
        qdrant.read("snapshots", SnapshotsAnswer, (client) => client.listSnapshots(own)),
        (all) => all.map(snapshotOf).toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))
      )
    ),
    make: Effect.flatMap(target, (own) =>
      Effect.map(
        qdrant.read("snapshot", SnapshotAnswer, (client) => client.createSnapshot(own, { wait: true })),
        snapshotOf
      )
    ),
    restore: restoring(qdrant, options, collection)
  }
}
