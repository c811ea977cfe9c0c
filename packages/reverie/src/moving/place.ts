// Place: a data store that is moved out of or into, by directory or by database.
// Owns opening it for a move. Leaves what is moved to the callers.
// P1  A place is shown to people without its secrets.
// P2  A move out of a data store, or into one that is a directory, is alone in it.

import type { Bundles, Ledger } from "@reverie/ledger"
import { defined } from "@reverie/protocol"
import { type Encryption, storeSqliteLayer, StoreUnopenable } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { type SegmentsChoice, segmentsOf } from "../options/segments.ts"
import { MoveRefused } from "./errors.ts"
import type { Deployment } from "../opening/deployment.ts"
import { databaseUrl, DEFAULT_NAME } from "../opening/addresses.ts"

/**
 * Where assistants live: a data directory, with its key where the environment does not say it, or the database of a deployment; either with
 * the place of its older segments where the environment does not say that.
 */
export type DataStorePlace =
  | { readonly data: string; readonly encryption?: Encryption; readonly segments?: SegmentsChoice }
  | { readonly deployment: Deployment; readonly segments?: SegmentsChoice }

export type DataStoreServices = Ledger | Bundles

/** One connection, so that the other connections can be counted. */
const deployedDataStore = (deployment: Deployment, choice: SegmentsChoice | undefined, isAlone: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      // Loaded when chosen: a move without a server does not wait for its client.
      const { PostgresStore, storePostgresLayer } = yield* Effect.promise(() => import("@reverie/store-postgres"))
      const segments = yield* segmentsOf(choice)
      const schema = deployment.name ?? DEFAULT_NAME
      const options = { schema, connections: 1, despiteMove: true, ...defined({ segments }) }
      const store = storePostgresLayer(Redacted.make(databaseUrl(deployment)), options)
      const alone = Effect.flatMap(
        PostgresStore.use((open) => open.beside),
        (others) => (isAlone && others > 0 ? Effect.fail(besides(others)) : Effect.void)
      )
      return Layer.provideMerge(Layer.effectDiscard(alone), store)
    })
  )

const besides = (others: number): MoveRefused =>
  new MoveRefused({
    message: `${others} other connections work on the database; stop every process of the fleet first`
  })

export interface Opening {
  /** Looks only, beside the processes that work there. */
  readonly readOnly?: boolean
  /** Refused while others work there. A directory has one owner anyway. */
  readonly isAlone?: boolean
}

export const dataStoreLayer = (
  place: DataStorePlace,
  { isAlone = false, readOnly = false }: Opening = {}
): Layer.Layer<DataStoreServices, unknown> => {
  const quiet = Layer.succeed(References.LogToStderr, true)
  if ("data" in place) {
    // Marks are judged by the move itself, which may have to go on where it stopped.
    const { data, encryption } = place
    const store = Effect.map(segmentsOf(place.segments), (segments) =>
      storeSqliteLayer(data, { readOnly, despiteMove: true, ...defined({ encryption, segments }) })
    )
    return Layer.merge(Layer.unwrap(store), quiet)
  }
  return Layer.merge(deployedDataStore(place.deployment, place.segments, isAlone), quiet)
}

/** A directory in which a trial finds what is there; one that keeps nothing where nothing is there yet. */
export const trialLayer = (place: DataStorePlace): Layer.Layer<DataStoreServices, unknown> => {
  if (!("data" in place)) return dataStoreLayer(place)
  return dataStoreLayer(place, { readOnly: true }).pipe(
    Layer.catch((error) => (isNoData(error) ? dataStoreLayer({ data: ":memory:" }) : failing(error)))
  )
}

const failing = (error: unknown): Layer.Layer<DataStoreServices, unknown> =>
  Layer.effectContext(Effect.fail(error)) as Layer.Layer<DataStoreServices, unknown>

const isNoData = (error: unknown): boolean => error instanceof StoreUnopenable && error.cause === undefined

/** Opens a data store for as long as `use` takes. */
export const withDataStore = async <A>(
  layer: Layer.Layer<DataStoreServices, unknown>,
  use: (runtime: ManagedRuntime.ManagedRuntime<DataStoreServices, unknown>) => Promise<A>
): Promise<A> => {
  const runtime = ManagedRuntime.make(layer)
  try {
    await runtime.context()
    return await use(runtime)
  } finally {
    await runtime.dispose()
  }
}
