// ImportFleet: from the lines of an export to assistants that live.
// Owns the order: all of it is checked, then all of it is judged, then it is written one by one, then all begin.
// Leaves reading a line to import-fleet.ts, putting somebody down to the store.
// I1  Nothing is written before the whole export has been found sound, and everybody in it found a free place.
// I2  Whoever dies on the way runs it again: who is there already is recognised, and nobody begins before all are there.

import {
  type Bundle,
  type BundleHead,
  type BundlePart,
  Bundles,
  flawOfBundle,
  isHead,
  type MoveMark
} from "@reverie/ledger"
import { type Address, addressKey, defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import type * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { ExportUnreadable, MoveRefused } from "./errors.ts"
import { assistantNamed, tenantNamed } from "./export-fleet.ts"
import { type ExportHeader, type ExportManifest, ExportReader, MAX_LINE_BYTES } from "./export-lines.ts"
import { dataStoreLayer, type DataStorePlace, trialLayer } from "./place.ts"
import { type Readdress, readdressed } from "./readdress.ts"

// Source: an export as it comes, in pieces of any size.
// S1  A line that is too long or no UTF-8 is refused before anything is made of it.

/** Gives the same export each time that it is asked for: it is read more than once. */
export type ExportSource = () => AsyncIterable<Uint8Array | string>

const NEWLINE = 0x0a

const refuse = (line: number, message: string): never => {
  throw new ExportUnreadable({ line, message: `line ${line}: ${message}` })
}

/** The lines of a source, without their ends. */
async function* linesOf(source: ExportSource): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const encoder = new TextEncoder()
  let rest: Array<Uint8Array> = []
  let restBytes = 0
  let line = 1
  const decode = (parts: ReadonlyArray<Uint8Array>): string => {
    try {
      return parts.map((part, index) => utf8.decode(part, { stream: index < parts.length - 1 })).join("")
    } catch {
      return refuse(line, "it is not UTF-8")
    }
  }
  for await (const chunk of source()) {
    let bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE)) {
      if (restBytes + end > MAX_LINE_BYTES) refuse(line, `it is longer than ${MAX_LINE_BYTES} bytes`)
      yield decode([...rest, bytes.subarray(0, end)])
      line++
      rest = []
      restBytes = 0
      bytes = bytes.subarray(end + 1)
    }
    restBytes += bytes.length
    if (restBytes > MAX_LINE_BYTES) refuse(line, `it is longer than ${MAX_LINE_BYTES} bytes`)
    rest.push(bytes.slice())
  }
  if (restBytes > 0) refuse(line, "it is cut off: its last line has no end")
}

const nameOf = (head: BundleHead): string =>
  head.kind === "tenant" ? `tenant ${head.tenant}` : addressKey(head.address)

/** Whole bundles, one after the other. The last thing told is the manifest. */
export async function* bundlesOf(
  source: ExportSource
): AsyncGenerator<
  | { readonly type: "header"; readonly header: ExportHeader }
  | { readonly type: "bundle"; readonly bundle: Bundle }
  | { readonly type: "end"; readonly manifest: ExportManifest }
> {
  const reader = new ExportReader()
  let line = 0
  let head: { readonly head: BundleHead; readonly line: number } | undefined
  let parts: Array<BundlePart> = []
  const whole = (): Bundle | undefined => {
    if (head === undefined) return undefined
    const bundle: Bundle = { head: head.head, parts }
    const flaw = flawOfBundle(bundle)
    return flaw === undefined ? bundle : refuse(head.line, `${nameOf(head.head)}: ${flaw}`)
  }
  for await (const text of linesOf(source)) {
    line++
    const item = reader.read(text)
    if (item === undefined) continue
    if (item.type === "part" && !isHead(item.part)) {
      if (head === undefined) refuse(line, "it belongs to nobody: a head comes first")
      parts.push(item.part)
      continue
    }
    const bundle = whole()
    if (bundle !== undefined) yield { type: "bundle", bundle }
    parts = []
    head = item.type === "part" && isHead(item.part) ? { head: item.part, line } : undefined
    if (item.type !== "part") yield item
  }
  reader.close()
}

/** How an export is imported. */
export interface ImportOptions {
  readonly into: DataStorePlace
  readonly source: ExportSource
  /** New ids by old ones. */
  readonly rename?: Readonly<Record<string, string>>
  /** The tenant that all of it goes to; the export must be of one tenant only. */
  readonly tenant?: string
  /** Judges everything and writes nothing. */
  readonly isTrial?: boolean
  /** Goes on though another move has marked the data store. */
  readonly isForced?: boolean
  readonly onProgress?: (phase: "checked" | "judged" | "written", who: string, done: number) => void
}

/** What an import brought. */
export interface Imported {
  readonly header: ExportHeader
  readonly manifest: ExportManifest
  /** Who has moved in, as `tenant/assistant`; on a trial, who would. */
  readonly moved: ReadonlyArray<string>
  /** Who lived there already. */
  readonly present: ReadonlyArray<string>
}

/** What a sound export says of itself. */
export interface Checked {
  readonly header: ExportHeader
  readonly manifest: ExportManifest
  readonly names: ReadonlyArray<string>
}

/** Reads an export to its end; rejects with ExportUnreadable. */
export const checkExport = async (
  source: ExportSource,
  onBundle: (head: BundleHead, done: number) => void = () => {}
): Promise<Checked> => {
  let header: ExportHeader | undefined
  let manifest: ExportManifest | undefined
  const names: Array<string> = []
  for await (const item of bundlesOf(source)) {
    if (item.type === "header") header = item.header
    else if (item.type === "end") manifest = item.manifest
    else {
      names.push(nameOf(item.bundle.head))
      onBundle(item.bundle.head, names.length)
    }
  }
  if (header === undefined || manifest === undefined) throw new Error("an export ended without a manifest")
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new MoveRefused({ message: `the export tells twice of ${twice}` })
  return { header, manifest, names }
}

const readdressOf = ({ rename = {}, tenant }: ImportOptions): Readdress => ({
  names: new Map(Object.entries(rename).map(([before, after]) => [before, assistantNamed(after)])),
  ...defined({ tenant: tenant === undefined ? undefined : tenantNamed(tenant) })
})

const tenantIn = (head: BundleHead): string => (head.kind === "tenant" ? head.tenant : head.address.tenant)

/** Names that are not in the export, two that would become one, and more tenants than fit into one. */
export const assertReaddress = (heads: ReadonlyArray<BundleHead>, to: Readdress): void => {
  const ids = heads.flatMap((head) => (head.kind === "assistant" ? [head.address.assistant as string] : []))
  const stray = [...to.names.keys()].find((name) => !ids.includes(name))
  if (stray !== undefined) throw new MoveRefused({ message: `there is no assistant ${stray} in the export` })
  const tenants = new Set(heads.map(tenantIn))
  if (tenants.size > 1 && (to.tenant !== undefined || to.names.size > 0)) {
    const names = [...tenants].join(", ")
    throw new MoveRefused({
      message: `the export is of several tenants (${names}); only one can move under another name`
    })
  }
  const after = ids.map((id) => to.names.get(id) ?? id)
  const twice = after.find((id, index) => after.indexOf(id) !== index)
  if (twice !== undefined) throw new MoveRefused({ message: `two assistants would be called ${twice}` })
}

/** A data store that another move is under way in, or that was left, is not moved into. */
export const assertFree = (mark: MoveMark | undefined, own: MoveMark, isForced: boolean): void => {
  if (mark === undefined || isForced) return
  if (mark.state === own.state && mark.place === own.place) return
  if (mark.state === "left") throw new MoveRefused({ message: `its assistants have moved to ${mark.place}` })
  throw new MoveRefused({
    message: `another move (${mark.state}, ${mark.place}) has not come to its end; finish that first`
  })
}

/** The bundles of a move, from its beginning each time. */
export type BundleSource = () => AsyncIterable<Bundle>

export interface MovedIn {
  readonly moved: ReadonlyArray<string>
  readonly present: ReadonlyArray<string>
}

type Run = <A, E>(effect: Effect.Effect<A, E, Bundles>) => Promise<A>

export interface MovingIn {
  readonly run: Run
  readonly bundles: BundleSource
  /** The mark on the data store while they arrive; without one it is not marked. */
  readonly arriving?: MoveMark
  readonly isTrial: boolean
  readonly onProgress?: ImportOptions["onProgress"]
}

/** Judges all, then writes all, then lets all begin. */
export const moveIn = async ({ arriving, isTrial, onProgress, bundles, run }: MovingIn): Promise<MovedIn> => {
  const unpack = (bundle: Bundle, trial: boolean) =>
    run(Bundles.use((bundles) => bundles.unpack(bundle, { isTrial: trial })))
  const mark = (value: MoveMark | null) => run(Bundles.use((bundles) => bundles.mark(value)))
  const moved: Array<string> = []
  const present: Array<string> = []
  let done = 0
  for await (const bundle of bundles()) {
    const who = nameOf(bundle.head)
    const list = (await unpack(bundle, true)) === "present" ? present : moved
    list.push(who)
    onProgress?.("judged", who, ++done)
  }
  if (isTrial) return { moved, present }
  if (arriving !== undefined) await mark(arriving)
  const arrived: Array<Address> = []
  done = 0
  for await (const bundle of bundles()) {
    await unpack(bundle, false)
    if (bundle.head.kind === "assistant") arrived.push(bundle.head.address)
    onProgress?.("written", nameOf(bundle.head), ++done)
  }
  if (arriving !== undefined) await mark(null)
  await run(Bundles.use((bundles) => bundles.admit(arrived)))
  return { moved, present }
}

export interface MovingInto {
  /** What is moved in, for the mark: the same for the same. */
  readonly place: string
  readonly bundles: BundleSource
  readonly isTrial: boolean
  readonly isForced: boolean
  readonly onProgress?: ImportOptions["onProgress"]
}

/** Opens a data store and lets everybody move in. */
export const moveInto = async (into: DataStorePlace, moving: MovingInto): Promise<MovedIn> => {
  const { isForced, isTrial, onProgress, bundles, place } = moving
  const runtime = ManagedRuntime.make(isTrial ? trialLayer(into) : dataStoreLayer(into))
  try {
    const run: Run = (effect) => runtime.runPromise(effect)
    const at = await runtime.runPromise(Clock.currentTimeMillis)
    const arriving: MoveMark = { state: "arriving", place, at }
    assertFree(await run(Bundles.use((bundles) => bundles.marked)), arriving, isForced)
    const progress = onProgress === undefined ? {} : { onProgress }
    // Who works on a directory is alone in it, and a mark keeps it so; a database has others in it.
    const dataStore = "data" in into ? { arriving } : {}
    return await moveIn({ run, bundles, isTrial, ...dataStore, ...progress })
  } finally {
    await runtime.dispose()
  }
}

/** Takes an export in. Rejects with ExportUnreadable, MoveRefused, BundleRefused, or what the store fails with. */
export const importFleet = async (options: ImportOptions): Promise<Imported> => {
  const { into, isForced = false, isTrial = false, onProgress, source } = options
  const to = readdressOf(options)
  const heads: Array<BundleHead> = []
  const { header, manifest } = await checkExport(source, (head, done) => {
    heads.push(head)
    onProgress?.("checked", nameOf(head), done)
  })
  assertReaddress(heads, to)
  const bundles: BundleSource = async function* () {
    for await (const item of bundlesOf(source)) if (item.type === "bundle") yield readdressed(to, item.bundle)
  }
  const place = `export ${manifest.sha256.slice(0, 12)}`
  const progress = onProgress === undefined ? {} : { onProgress }
  return { header, manifest, ...(await moveInto(into, { place, bundles, isTrial, isForced, ...progress })) }
}
