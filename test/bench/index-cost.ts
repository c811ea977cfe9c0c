// IndexCost: what an index in Qdrant costs on our side, by measure, and on the server's, on paper.
// Owns the entries (sayings by three people, of a hundred assistants), what goes over the wire, and the formulae. Leaves the
// sayings to age-sayings.ts.
// X1  The server is the double in another process: bytes and CPU are those of this process alone, and times say nothing of a
//     real server. What needs one (its memory, its disk, how fast it answers) is computed, and said to be.
// X2  Bytes are those of the sockets, with the heads of HTTP; CPU is that of the whole process, with what it waits for.
// X3  The formulae count what is written down of each structure, in bytes for each entry, and half as much again for what a
//     server holds besides (versions, ids, segments that are being merged), as Qdrant's own guide does.

import { channel } from "node:diagnostics_channel"
import { type ChildProcess, fork } from "node:child_process"
import type { Socket } from "node:net"
import { join } from "node:path"
import { type Address, AssistantId, TenantId } from "@reverie/protocol"
import {
  contextOf,
  fieldsOf,
  INDEX_START,
  type IndexPosition,
  type MemoryEntry,
  Recall,
  sparseEntry
} from "@reverie/memory"
import { recallQdrantLayer } from "@reverie/recall-qdrant"
import * as Effect from "effect/Effect"
import { conversationSayings, type Sayings, zipfSayings } from "./age-sayings.ts"

const ENTRIES = 100_000
const SHORT_ENTRIES = 2_000
const ASSISTANTS = 100
const A_PAGE = 64
const SEARCHES = 20
const DIMENSIONS = 384
const VECTORS = 1_000
const ON_PAPER = 1_000_000

/** What went over all sockets that were opened since. */
class Wire {
  readonly #sockets = new Set<Socket>()

  constructor() {
    channel("undici:client:connected").subscribe((message) => {
      this.#sockets.add((message as { readonly socket: Socket }).socket)
    })
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    const all = [...this.#sockets]
    return {
      sent: all.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
      received: all.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    }
  }
}

interface Measured {
  readonly sentBytes: number
  readonly receivedBytes: number
  readonly cpuMicros: number
}

/** What a piece of work costs, for each of so many. */
const costing = async (wire: Wire, count: number, work: () => Promise<unknown>): Promise<Measured> => {
  const [before, cpu] = [wire.bytes, process.cpuUsage()]
  await work()
  const { system, user } = process.cpuUsage(cpu)
  const after = wire.bytes
  return {
    sentBytes: (after.sent - before.sent) / count,
    receivedBytes: (after.received - before.received) / count,
    cpuMicros: (system + user) / count
  }
}

const addressOf = (n: number): Address => ({
  tenant: TenantId.make("bench"),
  assistant: AssistantId.make(`a${n % ASSISTANTS}`)
})

const NOW = Date.UTC(2026, 0, 1)

const entryOf = (sayings: Sayings, n: number): MemoryEntry => {
  const { from, text } = sayings.at(n)
  const around = [n - 2, n - 1, n + 1].filter((each) => each >= 0).map((each) => sayings.at(each).text)
  return {
    id: `m/${n}/0`,
    kind: "message",
    at: NOW - (ENTRIES - n) * 60_000,
    text,
    speaker: from,
    context: contextOf(around),
    entities: [from],
    tags: [],
    trust: 0.9,
    importance: 5,
    readers: "owner"
  }
}

const fill = Effect.fnUntraced(function* (sayings: Sayings, entries: number) {
  const recall = yield* Recall
  for (let owner = 0; owner < ASSISTANTS; owner++) {
    const address = addressOf(owner)
    let from: IndexPosition = INDEX_START
    for (let at = owner; at < entries; at += ASSISTANTS * A_PAGE) {
      const page = Array.from({ length: A_PAGE }, (_, index) => at + index * ASSISTANTS).filter((n) => n < entries)
      const to = { no: from.no + page.length, digest: `entry ${from.no + page.length}` }
      const changes = page.map((n) => ({ type: "put" as const, entry: entryOf(sayings, n) }))
      yield* recall.apply(address, changes, { from, to })
      from = to
    }
  }
})

const vectorOf = (n: number): ReadonlyArray<number> =>
  Array.from({ length: DIMENSIONS }, (_, index) => Math.fround(Math.sin(n * 31 + index * 7)))

const putVectors = Effect.fnUntraced(function* (count: number) {
  const recall = yield* Recall
  for (let from = 0; from < count; from += A_PAGE) {
    const some = Array.from({ length: Math.min(A_PAGE, count - from) }, (_, index) => from + index)
    yield* recall.putVectors(
      "bench",
      some.map((n) => ({ address: addressOf(n), id: `m/${n}/0`, vector: vectorOf(n) }))
    )
  }
})

const search = Effect.fnUntraced(function* (sayings: Sayings, isByMeaning: boolean) {
  const recall = yield* Recall
  for (let n = 0; n < SEARCHES; n++) {
    const question = { text: sayings.at(n * 997).text, scope: "own", limit: 8, now: NOW } as const
    const query = isByMeaning
      ? { ...question, search: "hybrid" as const, vector: vectorOf(n) }
      : { ...question, search: "fts" as const }
    const asked = recall.searchInRounds?.(addressOf(n), query) ?? recall.search(addressOf(n), query)
    yield* asked
  }
})

// Paper: what the server holds, structure by structure.

/** Bytes of a float, of a number of a point, of a link of the graph. */
const FLOAT = 4
const POINT = 4
/** `payload_m` of the collection; on the lowest level of a graph there are twice as many links. */
const LINKS = 2 * 16
/** A graph for each assistant and one for each tenant: that is how it is searched. */
const GRAPHS = 2
/** Of the vector of words: number and weight in the point; point and weight, and the greatest weight after it, in the index. */
const WORD_STORED = 2 * FLOAT
const WORD_INDEXED = 3 * FLOAT
/** Values of a payload that are indexed, each there and back. */
const INDEXED_VALUES = 9
const INDEXED_VALUE = 2 * (POINT + 8)
const BESIDES = 1.5

const quantizations = { none: 32, float16: 16, int8: 8, turbo4: 4, binary: 1 } as const

const GIGABYTE = 1_000_000_000

const paperOf = (payload: number, words: number, dimensions: number) => {
  const dense = dimensions * FLOAT
  const graph = GRAPHS * LINKS * POINT
  const sparse = words * WORD_INDEXED
  const fields = INDEXED_VALUES * INDEXED_VALUE
  const stored = dense + words * WORD_STORED + payload
  const gigabytes = (bytes: number): number => (ON_PAPER * bytes * BESIDES) / GIGABYTE
  return {
    entries: ON_PAPER,
    dimensions,
    diskGigabytes: gigabytes(stored + graph + sparse + fields + dimensions),
    memoryGigabytes: Object.fromEntries(
      Object.entries(quantizations).map(([name, bits]) => [
        name,
        gigabytes((dimensions * bits) / 8 + graph + sparse + fields)
      ])
    )
  }
}

export interface IndexCostReport {
  readonly ok: boolean
  readonly sayings: string
  readonly entries: number
  /** Bytes of the texts of an entry, and the words that it is found by. */
  readonly textBytes: number
  readonly words: number
  readonly upsert: Measured
  readonly vector: Measured
  readonly searchByWords: Measured
  readonly searchByBoth: Measured
  readonly paper: ReadonlyArray<ReturnType<typeof paperOf>>
  readonly leftOut: ReadonlyArray<string>
}

const started = (): Promise<{ readonly child: ChildProcess; readonly url: string }> =>
  new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "index-child.ts"), [], { execArgv: process.execArgv })
    child.once("error", reject)
    child.once("exit", () => reject(new Error("the double ended")))
    child.once("message", (url) => resolve({ child, url: String(url) }))
  })

/** The average of some entries. */
const sampled = (sayings: Sayings, of: (entry: MemoryEntry) => number): number => {
  const count = 1_000
  return Array.from({ length: count }, (_, n) => of(entryOf(sayings, n))).reduce((sum, each) => sum + each, 0) / count
}

export const benchIndexCost = async (isShort: boolean, data?: string): Promise<IndexCostReport> => {
  const entries = isShort ? SHORT_ENTRIES : ENTRIES
  const sayings = data === undefined ? zipfSayings() : await conversationSayings(data)
  const wire = new Wire()
  const { child, url } = await started()
  try {
    const run = <A, E>(effect: Effect.Effect<A, E, Recall>) =>
      Effect.runPromise(Effect.provide(effect, recallQdrantLayer({ url, timeoutMs: 600_000 })))
    // The collection is made before anything is counted.
    await run(Recall.use((recall) => recall.prepareVectors({ id: "bench", dimensions: DIMENSIONS })))
    const vectors = Math.min(VECTORS, entries)
    const upsert = await costing(wire, entries, () => run(fill(sayings, entries)))
    const vector = await costing(wire, vectors, () => run(putVectors(vectors)))
    const searchByWords = await costing(wire, SEARCHES, () => run(search(sayings, false)))
    const searchByBoth = await costing(wire, SEARCHES, () => run(search(sayings, true)))
    const textBytes = sampled(sayings, (entry) => Buffer.byteLength(JSON.stringify(entry)))
    const words = sampled(sayings, (entry) => sparseEntry(fieldsOf(entry)).indices.length)
    return {
      ok: true,
      sayings: sayings.name,
      entries,
      textBytes,
      words,
      upsert,
      vector,
      searchByWords,
      searchByBoth,
      paper: [384, 1_024].map((dimensions) => paperOf(textBytes, words, dimensions)),
      leftOut: ["memory, disk and latency of a Qdrant server: what stands under paper is computed"]
    }
  } finally {
    child.disconnect()
  }
}
