// ExportFleet: assistants as lines of text.
// Owns who is told of and in which order. Leaves the form of a line to export-lines.ts, the gathering to the store.
// E1  Each assistant is told as at one moment; of several, each has a moment of its own.
// E2  It works beside a running fleet and writes nothing there.

import { Ledger, BundleRefused, Bundles } from "@reverie/ledger"
import { type Address, addressKey, AssistantId, DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { MoveRefused } from "./errors.ts"
import { type ExportHeader, ExportWriter } from "./export-lines.ts"
import { type DataStorePlace, dataStoreLayer, residentsOf } from "./place.ts"

/** What is exported, and where to. */
export interface ExportOptions {
  readonly from: DataStorePlace
  /** Ids of assistants of one tenant. Everybody when neither this nor `tenant` is said. */
  readonly ids?: ReadonlyArray<string>
  /** The tenant of `ids`, "default" when not said; without `ids` all of this tenant. */
  readonly tenant?: string
  /** Told of each assistant that has been written. */
  readonly onProgress?: (who: string, done: number) => void
}

const decodeTenant = Schema.decodeUnknownOption(TenantId)
const decodeId = Schema.decodeUnknownOption(AssistantId)

export const tenantNamed = (name: string): TenantId =>
  Option.getOrThrowWith(
    decodeTenant(name),
    () => new MoveRefused({ message: `${JSON.stringify(name)} is no id of a tenant` })
  )

export const assistantNamed = (name: string): AssistantId =>
  Option.getOrThrowWith(
    decodeId(name),
    () => new MoveRefused({ message: `${JSON.stringify(name)} is no id of an assistant` })
  )

const scopeOf = ({ ids, tenant }: Omit<ExportOptions, "from">): ExportHeader["scope"] => {
  if (ids !== undefined) return { assistants: ids.map((id) => `${tenant ?? DEFAULT_TENANT}/${id}`) }
  return tenant === undefined ? { all: true } : { tenants: [tenant] }
}

/** Nobody is told of before all are known to be there. */
const named = (addresses: ReadonlyArray<Address>) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    for (const address of addresses) {
      if ((yield* ledger.inspect(address)) !== undefined) continue
      const who = addressKey(address)
      return yield* new BundleRefused({ reason: "nobody", who, message: `there is no assistant ${who}` })
    }
    return Stream.fromIterable(addresses)
  })

/** The lines of an export, from whatever data store is provided. */
export const exportLines = (options: Omit<ExportOptions, "from">): Stream.Stream<string, unknown, Ledger | Bundles> => {
  const { ids, onProgress, tenant } = options
  const writer = new ExportWriter()
  let done = 0
  const body = Effect.gen(function* () {
    const bundles = yield* Bundles
    const exportedAt = yield* Clock.currentTimeMillis
    const tenants = tenant === undefined ? yield* bundles.tenants : [tenantNamed(tenant)]
    const home = tenantNamed(tenant ?? DEFAULT_TENANT)
    const whole = ids === undefined ? tenants : []
    const tenantParts = Stream.fromIterable(whole).pipe(Stream.flatMap((each) => bundles.packTenant(each)))
    const residents =
      ids === undefined
        ? residentsOf(tenants)
        : yield* named(ids.map((id) => ({ tenant: home, assistant: assistantNamed(id) })))
    const lives = residents.pipe(
      Stream.flatMap((address) =>
        Stream.concat(
          bundles.pack(address),
          Stream.suspend(() => {
            onProgress?.(addressKey(address), ++done)
            return Stream.empty
          })
        )
      )
    )
    return Stream.concat(
      Stream.concat(
        Stream.fromIterable([writer.header(exportedAt, scopeOf(options))]),
        parts(Stream.concat(tenantParts, lives))
      ),
      Stream.suspend(() => Stream.fromIterable([writer.manifest()]))
    )
  })
  const parts = (all: Stream.Stream<Parameters<ExportWriter["part"]>[0], unknown, Ledger | Bundles>) =>
    Stream.map(all, (part) => writer.part(part))
  return Stream.unwrap(body)
}

/** The lines of an export, each with its end. Nothing is open before it is read, nor after it was read or left. */
export async function* exportFleet(options: ExportOptions): AsyncGenerator<string> {
  const runtime = ManagedRuntime.make(dataStoreLayer(options.from, { readOnly: true }))
  try {
    const services = await runtime.context()
    yield* Stream.toAsyncIterableWith(exportLines(options), services)
  } finally {
    await runtime.dispose()
  }
}
