// MoveDataStore: everybody of one data store moves into another one.
// Owns the marks on both, so that nobody lives in two data stores at once. Leaves each step to the stores.
// H1  The old data store is marked before the first one leaves, and as left when all have begun in the new one; in between
//     nobody can work in it, and the same command goes on where it stopped.
// H2  Whoever finds no place in the new data store is named before anything is moved, and the old data store stays as it was.

import { defined } from "@reverie/protocol"
import { type MoveMark, type Bundle, Bundles } from "@reverie/ledger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { placeName } from "../opening/addresses.ts"
import { MoveRefused } from "./errors.ts"
import { assertFree, type MovedIn, moveIn, type MovingIn, type BundleSource } from "./import-fleet.ts"
import {
  tenantPartsOf,
  type DataStorePlace,
  dataStoreLayer,
  type DataStoreServices,
  bundleOf,
  residentsOf
} from "./place.ts"

export interface MoveOptions {
  readonly from: DataStorePlace
  readonly to: DataStorePlace
  /** Goes on though another move has marked one of the data stores. */
  readonly isForced?: boolean
  readonly onProgress?: MovingIn["onProgress"]
}

export interface DataStoreMoved extends MovedIn {
  /** What the data stores are called; without secrets. */
  readonly from: string
  readonly to: string
}

type Runtime = ManagedRuntime.ManagedRuntime<DataStoreServices, unknown>

/** Every bundle of a data store, each packed when it is asked for. */
const bundlesIn = async function* (runtime: Runtime): AsyncGenerator<Bundle> {
  const services = await runtime.context()
  const bundles = Stream.unwrap(
    Effect.map(
      Bundles.use((bundles) => bundles.tenants),
      (tenants) =>
        Stream.concat(
          Stream.mapEffect(Stream.fromIterable(tenants), tenantPartsOf),
          Stream.mapEffect(residentsOf(tenants), bundleOf)
        )
    )
  )
  yield* Stream.toAsyncIterableWith(bundles, services)
}

const markedOn = (runtime: Runtime) => runtime.runPromise(Bundles.use((bundles) => bundles.marked))

const mark = (runtime: Runtime, value: MoveMark | null) =>
  runtime.runPromise(Bundles.use((bundles) => bundles.mark(value)))

const moved = async (old: Runtime, fresh: Runtime, options: MoveOptions): Promise<MovedIn> => {
  const { from, isForced = false, onProgress, to } = options
  const at = await old.runPromise(Clock.currentTimeMillis)
  const leaving: MoveMark = { state: "leaving", place: placeName(to), at }
  const arriving: MoveMark = { state: "arriving", place: placeName(from), at }
  const before = await markedOn(old)
  assertFree(before, leaving, isForced)
  assertFree(await markedOn(fresh), arriving, isForced)
  const bundles: BundleSource = () => bundlesIn(old)
  const way = {
    bundles,
    run: <A, E>(effect: Effect.Effect<A, E, Bundles>) => fresh.runPromise(effect),
    ...defined({ onProgress })
  }
  await mark(old, leaving)
  try {
    await moveIn({ ...way, isTrial: true })
  } catch (error) {
    await mark(old, before ?? null)
    throw error
  }
  const outcome = await moveIn({
    ...way,
    isTrial: false,
    ...defined({ arriving: "data" in to ? arriving : undefined })
  })
  await mark(old, { ...leaving, state: "left" })
  return outcome
}

/** Moves everybody. Rejects with MoveRefused, BundleRefused, or what one of the stores fails with. */
export const moveDataStore = async (options: MoveOptions): Promise<DataStoreMoved> => {
  const { from, to } = options
  const names = { from: placeName(from), to: placeName(to) }
  if (names.from === names.to) throw new MoveRefused({ message: `${names.to} is where they live already` })
  const old: Runtime = ManagedRuntime.make(dataStoreLayer(from, { isAlone: options.isForced !== true }))
  const fresh: Runtime = ManagedRuntime.make(dataStoreLayer(to))
  try {
    // Opens both before anything is done to one of them.
    await old.context()
    await fresh.context()
    return { ...names, ...(await moved(old, fresh, options)) }
  } finally {
    await fresh.dispose()
    await old.dispose()
  }
}

/** Takes the mark off a data store that was left: what happened in the new one since is unknown here. */
export const reopenDataStore = async (place: DataStorePlace): Promise<MoveMark | undefined> => {
  const runtime: Runtime = ManagedRuntime.make(dataStoreLayer(place))
  try {
    const before = await markedOn(runtime)
    await mark(runtime, null)
    return before
  } finally {
    await runtime.dispose()
  }
}
