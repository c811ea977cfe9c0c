// Snapshots: collections as they were, as the double keeps them.
// Owns making, listing, deleting and recovering them. Leaves collections to `collection.ts`, routes to `routes.ts`.
// S1  A snapshot is of one collection, with its configuration and indexes, without its aliases. It stays when the collection is
//     deleted, and is listed again when there is one of that name.
// S2  A collection that is not there is made by a recovery; one that is there must have the vectors of the snapshot.
// S3  A location is the address of the snapshot on a server, or its file in the server's own folder; no other is known.

import type { Collection } from "./collection.ts"
import { type Fields, fieldsOf, refusal, type Refusal } from "./wire.ts"

interface Snapshot {
  readonly collection: Collection
  readonly size: number
  readonly creationTime: string
}

/** The folder of the official image. */
const FOLDER = "/qdrant/snapshots/"

const shown = (name: string, { creationTime, size }: Snapshot): Fields => ({
  name,
  creation_time: creationTime,
  size,
  checksum: null
})

const missing = (what: string): Refusal => refusal(404, `Not found: Snapshot ${what} not found`)

/** Whose snapshot a location means, and which one. */
const located = (location: string): readonly [collection: string, name: string] | undefined => {
  if (!URL.canParse(location)) return undefined
  const { pathname, protocol } = new URL(location)
  const path = decodeURIComponent(pathname)
  if (protocol === "file:") {
    const [collection, name] = path.startsWith(FOLDER) ? path.slice(FOLDER.length).split("/") : []
    return collection === undefined || name === undefined ? undefined : [collection, name]
  }
  const found = /\/collections\/([^/]+)\/snapshots\/([^/]+)$/.exec(path)
  return found?.[1] === undefined || found[2] === undefined ? undefined : [found[1], found[2]]
}

export class SnapshotStore {
  readonly #of = new Map<string, Map<string, Snapshot>>()
  #made = 0

  #own(collection: string): Map<string, Snapshot> {
    const own = this.#of.get(collection) ?? new Map<string, Snapshot>()
    this.#of.set(collection, own)
    return own
  }

  list(collection: string): ReadonlyArray<Fields> {
    return [...this.#own(collection)].map(([name, snapshot]) => shown(name, snapshot))
  }

  make(name: string, collection: Collection): Fields {
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, ++this.#made)).toISOString().slice(0, 19)
    const snapshot = { collection: collection.copy(), size: 1_024 * (1 + collection.all().length), creationTime: at }
    const own = `${name}-4711-${at.replaceAll(/[T:]/g, "-")}.snapshot`
    this.#own(name).set(own, snapshot)
    return shown(own, snapshot)
  }

  remove(collection: string, name: string): true | Refusal {
    return this.#own(collection).delete(name) || missing(name)
  }

  /** The collection that comes of it. */
  recovered(body: Fields, present: Collection | undefined): Collection | Refusal {
    const location = String(body["location"])
    const [of, name] = located(location) ?? []
    const snapshot = of === undefined || name === undefined ? undefined : this.#own(of).get(name)
    if (snapshot === undefined) return missing(location)
    const { collection } = snapshot
    const vectors = (config: Fields): string => JSON.stringify(fieldsOf(config["vectors"]))
    if (present !== undefined && vectors(present.config) !== vectors(collection.config)) {
      return refusal(400, "Wrong input: Snapshot is not compatible with existing collection: Collection vectors")
    }
    return collection.copy()
  }
}
