// MoveDataStore: all assistants of one data store move into another one.
// Owns the marks on both, so that no assistant lives in two data stores at once. The bundles are read, judged and written by
// bundle-stream.ts.
// H1  The old data store is marked before the first one leaves, and as left when all have begun in the new one; in between
//     no process can work in it, and the same command goes on where it stopped.
// H2  An assistant without a place in the new data store is named before anything is moved, and the old data store stays as
//     it was.

import { Bundles, type MoveMark } from "@reverie/ledger"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import {
  assertFree,
  bundlesIn,
  judgeAll,
  markOf,
  type MovedIn,
  type OnProgress,
  type Run,
  writeAll
} from "./bundle-stream.ts"
import { MoveRefused } from "./errors.ts"
import { placeName } from "../opening/addresses.ts"
import { type DataStorePlace, dataStoreLayer, type DataStoreServices, withDataStore } from "./place.ts"

/** From where to where a data store is moved. */
export interface MoveOptions {
  /** The data directory or the deployment that is left. */
  readonly from: DataStorePlace
  /** The data directory or the deployment that takes it in. */
  readonly to: DataStorePlace
  /** Goes on though another move has marked one of the data stores. */
  readonly isForced?: boolean
  /** Called after each assistant that has been written. */
  readonly onProgress?: OnProgress
}

/** What was moved. */
export interface DataStoreMoved extends MovedIn {
  /** What the data stores are called; without secrets. */
  readonly from: string
  /** Where it lives now; without secrets. */
  readonly to: string
}

type Runtime = ManagedRuntime.ManagedRuntime<DataStoreServices, unknown>

const mark = (run: Run, value: MoveMark | null) => run(Bundles.use((store) => store.mark(value)))

const moved = async (old: Runtime, fresh: Runtime, options: MoveOptions): Promise<MovedIn> => {
  const { from, isForced = false, onProgress, to } = options
  const runOld: Run = (effect) => old.runPromise(effect)
  const run: Run = (effect) => fresh.runPromise(effect)
  const leaving = await markOf(runOld, "leaving", placeName(to))
  const arriving: MoveMark = { ...leaving, state: "arriving", place: placeName(from) }
  const before = await assertFree(runOld, leaving, isForced)
  await assertFree(run, arriving, isForced)
  const services = await old.context()
  const way = { run, onProgress, bundles: () => bundlesIn(services) }
  await mark(runOld, leaving)
  const outcome = await judgeAll(way).catch(async (error: unknown) => {
    await mark(runOld, before ?? null)
    throw error
  })
  await writeAll(way, "data" in to ? arriving : undefined)
  await mark(runOld, { ...leaving, state: "left" })
  return outcome
}

/** Moves all assistants. Rejects with MoveRefused, BundleRefused, or what one of the stores fails with. */
export const moveDataStore = async (options: MoveOptions): Promise<DataStoreMoved> => {
  const { from, to } = options
  const names = { from: placeName(from), to: placeName(to) }
  if (names.from === names.to) throw new MoveRefused({ message: `${names.to} is where they live already` })
  // Both are open before anything is done to one of them.
  return withDataStore(dataStoreLayer(from, { isAlone: options.isForced !== true }), (old) =>
    withDataStore(dataStoreLayer(to), async (fresh) => ({ ...names, ...(await moved(old, fresh, options)) }))
  )
}

/** Takes the mark off a data store that was left: what happened in the new one since is unknown here. */
export const reopenDataStore = (place: DataStorePlace): Promise<MoveMark | undefined> =>
  withDataStore(dataStoreLayer(place), async (runtime) => {
    const before = await runtime.runPromise(Bundles.use((store) => store.marked))
    await mark((effect) => runtime.runPromise(effect), null)
    return before
  })
