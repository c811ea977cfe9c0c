// ExportFleet: assistants as lines of text.
// Owns the scope of an export. The bundles come from bundle-stream.ts, the form of a line from export-lines.ts.
// E1  It works beside a running fleet and writes nothing there.

import type { Bundles, Ledger } from "@reverie/ledger"
import { addressKey, DEFAULT_TENANT } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { assistantNamed, partsIn, type Scope, tenantNamed } from "./bundle-stream.ts"
import { type ExportHeader, ExportWriter } from "./export-lines.ts"
import { type DataStorePlace, dataStoreLayer } from "./place.ts"

/** What is exported, and where to. */
export interface ExportOptions {
  /** The data directory or the deployment that is read, also beside a running fleet. */
  readonly from: DataStorePlace
  /** Ids of assistants of one tenant. All assistants when neither this nor `tenant` is given. */
  readonly ids?: ReadonlyArray<string>
  /** The tenant of `ids`, "default" when not given; without `ids` all of this tenant. */
  readonly tenant?: string
  /** Called after each assistant that has been written. */
  readonly onProgress?: (who: string, done: number) => void
}

type Lines = Omit<ExportOptions, "from">

const saidScope = ({ ids, tenant }: Lines): ExportHeader["scope"] => {
  if (ids !== undefined) return { assistants: ids.map((id) => `${tenant ?? DEFAULT_TENANT}/${id}`) }
  return tenant === undefined ? { all: true } : { tenants: [tenant] }
}

const scopeOf = ({ ids, tenant }: Lines): Scope => {
  if (ids === undefined) return tenant === undefined ? {} : { tenants: [tenantNamed(tenant)] }
  const home = tenantNamed(tenant ?? DEFAULT_TENANT)
  return { assistants: ids.map((id) => ({ tenant: home, assistant: assistantNamed(id) })) }
}

/** The lines of an export, from whatever data store is provided. */
export const exportLines = (options: Lines): Stream.Stream<string, unknown, Ledger | Bundles> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const writer = new ExportWriter()
      const exportedAt = yield* Clock.currentTimeMillis
      let done = 0
      const parts = partsIn(scopeOf(options), (address) => options.onProgress?.(addressKey(address), ++done))
      return Stream.fromIterable([writer.header(exportedAt, saidScope(options))]).pipe(
        Stream.concat(Stream.map(parts, (part) => writer.part(part))),
        Stream.concat(Stream.suspend(() => Stream.fromIterable([writer.manifest()])))
      )
    })
  )

/** The lines of an export, each with its end. Nothing is open before it is read, nor after it was read or left. */
export async function* exportFleet(options: ExportOptions): AsyncGenerator<string> {
  const runtime = ManagedRuntime.make(dataStoreLayer(options.from, { readOnly: true }))
  try {
    yield* Stream.toAsyncIterableWith(exportLines(options), await runtime.context())
  } finally {
    await runtime.dispose()
  }
}
