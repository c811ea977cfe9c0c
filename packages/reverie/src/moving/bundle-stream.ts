// BundleStream: the one stream that an export, an import and a promotion are made of.
// Owns reading the parts of a data store in their order, putting parts together to bundles, and writing a stream of bundles
// into a data store.
// B1  A bundle is of one moment; of several, each has a moment of its own.
// B2  Nothing is written before every bundle of the stream has been judged, and all of them found a free place.
// B3  A process that dies on the way runs the stream again: a bundle that is there already is recognised, and no assistant
//     begins before all are there.

import {
  type Bundle,
  type BundleHead,
  type BundlePart,
  BundleRefused,
  Bundles,
  flawOfBundle,
  isHead,
  Ledger,
  type MoveMark
} from "@reverie/ledger"
import { type Address, addressKey, AssistantId, TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { MoveRefused } from "./errors.ts"

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

// Reading

/** What is read of a data store: of some tenants all, or named assistants. Without either all of it. */
export interface Scope {
  readonly tenants?: ReadonlyArray<TenantId>
  readonly assistants?: ReadonlyArray<Address>
}

const PAGE = 500

/** The assistants of some tenants. By address alone: one whose state is unreadable is an error of the move. */
const residentsOf = (tenants: ReadonlyArray<TenantId>) =>
  Stream.unwrap(
    Ledger.useSync((ledger) =>
      Stream.unfold<Address | undefined, ReadonlyArray<Address>, unknown, never>(undefined, (after) =>
        Effect.map(ledger.addresses(after, PAGE), (page) => {
          const last = page.at(-1)
          return last === undefined ? undefined : [page, last]
        })
      ).pipe(Stream.flatMap((page) => Stream.fromIterable(page.filter(({ tenant }) => tenants.includes(tenant)))))
    )
  )

/** Nothing is read before all of them are known to be there. */
const named = (addresses: ReadonlyArray<Address>) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    for (const address of addresses) {
      if ((yield* ledger.inspect(address)) !== undefined) continue
      const who = addressKey(address)
      return yield* new BundleRefused({ reason: "unknown", who, message: `there is no assistant ${who}` })
    }
    return Stream.fromIterable(addresses)
  })

/** The parts of every bundle in scope, tenants first, each head before what belongs to it. */
export const partsIn = (
  { assistants, tenants }: Scope,
  onAssistant: (address: Address) => void = () => {}
): Stream.Stream<BundlePart, unknown, Ledger | Bundles> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const bundles = yield* Bundles
      const whole = assistants === undefined ? (tenants ?? (yield* bundles.tenants)) : []
      const addresses = assistants === undefined ? residentsOf(whole) : yield* named(assistants)
      const packed = (address: Address) =>
        Stream.concat(
          bundles.pack(address),
          Stream.suspend(() => {
            onAssistant(address)
            return Stream.empty
          })
        )
      return Stream.concat(
        Stream.flatMap(Stream.fromIterable(whole), (tenant) => bundles.packTenant(tenant)),
        Stream.flatMap(addresses, packed)
      )
    })
  )

export const nameOf = (head: BundleHead): string =>
  head.kind === "tenant" ? `tenant ${head.tenant}` : addressKey(head.address)

/** A part, and the line that it comes from where it comes from a file. */
export interface Placed {
  readonly part: BundlePart
  readonly line?: number
}

const placed = (part: BundlePart): Placed => ({ part })

/** Whole bundles out of parts in their order. `refuse` throws, with the line of the part or the head that is wrong. */
export async function* bundlesOf(
  parts: AsyncIterable<Placed>,
  refuse: (message: string, line?: number) => never
): AsyncGenerator<Bundle> {
  let head: { readonly head: BundleHead; readonly line: number | undefined } | undefined
  let rest: Array<BundlePart> = []
  const whole = (): ReadonlyArray<Bundle> => {
    if (head === undefined) return []
    const bundle: Bundle = { head: head.head, parts: rest }
    const flaw = flawOfBundle(bundle)
    return flaw === undefined ? [bundle] : refuse(`${nameOf(head.head)}: ${flaw}`, head.line)
  }
  for await (const { line, part } of parts) {
    if (!isHead(part)) {
      if (head === undefined) refuse("it belongs to no bundle: a head comes first", line)
      rest.push(part)
      continue
    }
    yield* whole()
    head = { head: part, line }
    rest = []
  }
  yield* whole()
}

/** The bundles of a data store, each packed when it is asked for. */
export const bundlesIn = (services: Context.Context<Ledger | Bundles>, scope: Scope = {}): AsyncGenerator<Bundle> =>
  bundlesOf(Stream.toAsyncIterableWith(Stream.map(partsIn(scope), placed), services), (message) => {
    throw new MoveRefused({ message })
  })

// Writing

/** The bundles of a move, from its beginning each time. */
export type BundleSource = () => AsyncIterable<Bundle>

export interface MovedIn {
  /** Those that have moved in, as `tenant/assistant`; on a trial, those that would. */
  readonly moved: ReadonlyArray<string>
  /** Those that were there already. */
  readonly present: ReadonlyArray<string>
}

export type Run = <A, E>(effect: Effect.Effect<A, E, Bundles>) => Promise<A>

export type OnProgress = (phase: "checked" | "judged" | "written", who: string, done: number) => void

export interface MovingIn {
  readonly run: Run
  readonly bundles: BundleSource
  readonly onProgress?: OnProgress | undefined
}

/** Judges every bundle and writes nothing. */
export const judgeAll = async ({ bundles, onProgress, run }: MovingIn): Promise<MovedIn> => {
  const moved: Array<string> = []
  const present: Array<string> = []
  for await (const bundle of bundles()) {
    const who = nameOf(bundle.head)
    const outcome = await run(Bundles.use((store) => store.unpack(bundle, { isTrial: true })))
    if (outcome === "present") present.push(who)
    else moved.push(who)
    onProgress?.("judged", who, moved.length + present.length)
  }
  return { moved, present }
}

/** Writes every bundle, each whole or not at all, then lets all begin. `arriving` marks the data store meanwhile. */
export const writeAll = async ({ bundles, onProgress, run }: MovingIn, arriving?: MoveMark): Promise<void> => {
  const mark = async (value: MoveMark | null): Promise<void> => {
    if (arriving !== undefined) await run(Bundles.use((store) => store.mark(value)))
  }
  const arrived: Array<Address> = []
  let done = 0
  await mark(arriving ?? null)
  for await (const bundle of bundles()) {
    await run(Bundles.use((store) => store.unpack(bundle)))
    if (bundle.head.kind === "assistant") arrived.push(bundle.head.address)
    onProgress?.("written", nameOf(bundle.head), ++done)
  }
  await mark(null)
  await run(Bundles.use((store) => store.admit(arrived)))
}

/** Refuses a data store that another move is under way in, or that was left. Answers the mark that it has. */
export const assertFree = async (run: Run, own: MoveMark, isForced: boolean): Promise<MoveMark | undefined> => {
  const mark = await run(Bundles.use((store) => store.marked))
  if (mark === undefined || isForced) return mark
  if (mark.state === own.state && mark.place === own.place) return mark
  if (mark.state === "left") throw new MoveRefused({ message: `its assistants have moved to ${mark.place}` })
  throw new MoveRefused({
    message: `another move (${mark.state}, ${mark.place}) has not come to its end; finish that first`
  })
}

/** The mark of a move that begins now. */
export const markOf = async (run: Run, state: MoveMark["state"], place: string): Promise<MoveMark> => ({
  state,
  place,
  at: await run(Clock.currentTimeMillis)
})
