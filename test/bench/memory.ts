// BenchMemory: what it costs to index what was said, and to find it again.
// Owns the crowd that is measured (100 assistants with 1,000 messages each, a tenth of it when short) and the bounds.
// Leaves reporting to main. Every write is what an indexer does when one more thing is said: it puts the new message with
// the three before it around it, and the two before it again, which have now heard more. CPU is that of the whole process.

import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type MemoryEntry, Recall } from "@reverie/memory"
import { type Address, AssistantId, TenantId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { amidst, aQuestion, aSaying, LATER, type Vocabulary, vocabularyOf } from "@reverie/testkit"
import { type Fate, fateOf } from "@reverie/testkit/world"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"

const ASSISTANTS = 100
const MESSAGES_EACH = 1_000
const WORDS = 20_000
const BATCH = 50
/** Of each kind before any is measured: a fleet runs for longer than a compiler needs. */
const WARM_ROUNDS = 200
const TENANT = TenantId.make("harbor")
/** Between two messages, in entries of the ledger. */
const STRIDE = 2

const BOUNDS = { writeCpuMillis: 0.6, recallCpuMillis: 6, warmOpenMillis: 20 } as const

interface Person {
  readonly address: Address
  readonly said: Array<MemoryEntry>
}

const crowdOf = (count: number): ReadonlyArray<Person> =>
  Array.from({ length: count }, (_, index) => ({
    address: { tenant: TENANT, assistant: AssistantId.make(`desk-${index}`) },
    said: []
  }))

const speak = ({ said }: Person, fate: Fate, vocabulary: Vocabulary): void =>
  void said.push(aSaying(fate, vocabulary, STRIDE * (said.length + 1)))

/** Tells the index what was said from a place on, and again what stood shortly before it. */
const index = (recall: Recall["Service"], { address, said }: Person, from: number) => {
  const places = Array.from(
    { length: said.length - Math.max(0, from - LATER) },
    (_, at) => Math.max(0, from - LATER) + at
  )
  const changes = places.map((place) => ({ type: "put" as const, entry: amidst(said, place) }))
  const at = (count: number) => ({ no: STRIDE * count, digest: count === 0 ? "" : String(count) })
  return recall.apply(address, changes, { from: at(from), to: at(said.length) })
}

const cpuMillis = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

const cpuOf = (work: () => unknown): number => {
  const before = cpuMillis()
  work()
  return cpuMillis() - before
}

const spread = (samples: ReadonlyArray<number>) => {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
  return {
    median: at(0.5),
    p95: at(0.95),
    mean: sorted.reduce((sum, sample) => sum + sample, 0) / sorted.length,
    samples: sorted.length
  }
}

type Spread = ReturnType<typeof spread>

const opened = async (directory: string) => {
  const runtime = ManagedRuntime.make(recallSqliteLayer(directory))
  return { runtime, recall: await runtime.runPromise(Recall) }
}

const question = (text: string) => ({ text, search: "fts", scope: "own", limit: 10, now: 1_790_000_000_000 }) as const

/** Opens what is there and asks where it stands, as a fleet does that starts. */
const warmOpenMillis = async (directory: string, { address }: Person): Promise<number> => {
  const start = process.hrtime.bigint()
  const { recall, runtime } = await opened(directory)
  Effect.runSync(recall.position(address))
  const millis = Number(process.hrtime.bigint() - start) / 1e6
  await runtime.dispose()
  return millis
}

export interface MemoryBenchReport {
  readonly ok: boolean
  readonly entries: number
  readonly assistants: number
  /** One message indexed, its neighbours put again. */
  readonly writeCpuMillis: Spread
  /** One question to one assistant, ten hits. */
  readonly recallCpuMillis: Spread
  readonly warmOpenMillis: Spread
  /** What indexing all of it took, for each entry, in batches. */
  readonly rebuildCpuMillisPerEntry: number
  readonly fileMegabytes: number
  readonly hitsPerQuestion: number
  readonly bounds: typeof BOUNDS
  readonly targets: Readonly<Record<string, boolean>>
}

const measure = async (directory: string, each: number, rounds: number): Promise<MemoryBenchReport> => {
  const fate = fateOf(4_711)
  const vocabulary = vocabularyOf(WORDS)
  const crowd = crowdOf(ASSISTANTS)
  const { recall, runtime } = await opened(directory)
  let rebuild = 0
  for (let from = 0; from < each; from += BATCH) {
    for (const person of crowd) {
      for (let more = 0; more < BATCH; more++) speak(person, fate, vocabulary)
      rebuild += cpuOf(() => Effect.runSync(index(recall, person, from)))
    }
  }
  let hits = 0
  const write = (): number => {
    const person = fate.pick(crowd)
    speak(person, fate, vocabulary)
    const change = index(recall, person, person.said.length - 1)
    return cpuOf(() => Effect.runSync(change))
  }
  const ask = (): number => {
    const { address } = fate.pick(crowd)
    const query = question(aQuestion(fate, vocabulary))
    return cpuOf(() => (hits += Effect.runSync(recall.search(address, query)).length))
  }
  const sampled = (sample: () => number) => {
    for (let round = 0; round < WARM_ROUNDS; round++) sample()
    return Array.from({ length: rounds }, sample)
  }
  const [writes, recalls, opens] = [sampled(write), sampled(ask), [] as Array<number>]
  await runtime.dispose()
  for (const person of crowd.slice(0, 21)) opens.push(await warmOpenMillis(directory, person))
  const figures = { write: spread(writes), recall: spread(recalls), open: spread(opens) }
  const targets = {
    [`median CPU of a write ≤ ${BOUNDS.writeCpuMillis} ms`]: figures.write.median <= BOUNDS.writeCpuMillis,
    [`median CPU of a recall ≤ ${BOUNDS.recallCpuMillis} ms`]: figures.recall.median <= BOUNDS.recallCpuMillis,
    [`median of a warm open ≤ ${BOUNDS.warmOpenMillis} ms`]: figures.open.median <= BOUNDS.warmOpenMillis
  }
  const entries = crowd.reduce((sum, { said }) => sum + said.length, 0)
  return {
    ok: Object.values(targets).every(Boolean) && hits >= rounds + WARM_ROUNDS,
    entries,
    assistants: crowd.length,
    writeCpuMillis: figures.write,
    recallCpuMillis: figures.recall,
    warmOpenMillis: figures.open,
    rebuildCpuMillisPerEntry: rebuild / (each * crowd.length),
    fileMegabytes: statSync(join(directory, "recall.db")).size / 1e6,
    hitsPerQuestion: hits / (rounds + WARM_ROUNDS),
    bounds: BOUNDS,
    targets
  }
}

export const benchMemory = async (isShort: boolean): Promise<MemoryBenchReport> => {
  const directory = mkdtempSync(join(tmpdir(), "reverie-bench-memory-"))
  try {
    return await measure(directory, isShort ? MESSAGES_EACH / 10 : MESSAGES_EACH, isShort ? 300 : 1_000)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
