// ImportFleet: from the lines of an export to assistants that live.
// Owns the order: all of it is checked, then the stream of its bundles is judged and written (bundle-stream.ts).
// S1  A line that is too long or no UTF-8 is refused before anything is made of it.

import type { Bundle, BundleHead } from "@reverie/ledger"
import { defined } from "@reverie/protocol"
import {
  assertFree,
  assistantNamed,
  bundlesOf,
  type BundleSource,
  judgeAll,
  markOf,
  type MovedIn,
  nameOf,
  type OnProgress,
  type Placed,
  type Run,
  tenantNamed,
  writeAll
} from "./bundle-stream.ts"
import { ExportUnreadable, MoveRefused } from "./errors.ts"
import { type ExportHeader, type ExportManifest, ExportReader, MAX_LINE_BYTES } from "./export-lines.ts"
import { dataStoreLayer, type DataStorePlace, trialLayer, withDataStore } from "./place.ts"
import { type Readdress, readdressed } from "./readdress.ts"

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

/** The parts of an export. `keep` gets its header and, when it was read whole, its manifest. */
async function* partsOf(source: ExportSource, keep: Partial<Checked>): AsyncGenerator<Placed> {
  const reader = new ExportReader()
  let line = 0
  for await (const text of linesOf(source)) {
    line++
    const item = reader.read(text)
    if (item?.type === "part") yield { part: item.part, line }
    else if (item !== undefined)
      Object.assign(keep, item.type === "header" ? { header: item.header } : { manifest: item.manifest })
  }
  reader.close()
}

/** The bundles of an export, in its order. Throws ExportUnreadable with the line. */
export const bundlesOfExport = (source: ExportSource, keep: Partial<Checked> = {}): AsyncGenerator<Bundle> =>
  bundlesOf(partsOf(source, keep), (message, line = 0) => refuse(line, message))

/** How an export is imported. */
export interface ImportOptions {
  /** The data directory or the deployment that takes it in. */
  readonly into: DataStorePlace
  /** Gives the bytes of the export from the beginning, each time it is called: it is read twice. */
  readonly source: ExportSource
  /** New ids by old ones. */
  readonly rename?: Readonly<Record<string, string>>
  /** The tenant that all of it goes to; the export must be of one tenant only. */
  readonly tenant?: string
  /** Judges everything and writes nothing. */
  readonly isTrial?: boolean
  /** Goes on though another move has marked the data store. */
  readonly isForced?: boolean
  /** Called after each assistant that has been written. */
  readonly onProgress?: OnProgress
}

/** What an import brought. */
export interface Imported extends MovedIn {
  /** The first line of the export. */
  readonly header: ExportHeader
  /** Its last line. */
  readonly manifest: ExportManifest
}

/** What a sound export says of itself. */
export interface Checked {
  /** Its first line. */
  readonly header: ExportHeader
  /** Its last line. */
  readonly manifest: ExportManifest
  /** Whom it holds, as `tenant/assistant`. */
  readonly names: ReadonlyArray<string>
}

/** Reads an export to its end; rejects with ExportUnreadable. */
export const checkExport = async (
  source: ExportSource,
  onBundle: (head: BundleHead, done: number) => void = () => {}
): Promise<Checked> => {
  const kept: { -readonly [Name in keyof Checked]?: Checked[Name] } = {}
  const names: Array<string> = []
  for await (const { head } of bundlesOfExport(source, kept)) {
    names.push(nameOf(head))
    onBundle(head, names.length)
  }
  const { header, manifest } = kept
  if (header === undefined || manifest === undefined) throw new Error("an export ended without a manifest")
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new MoveRefused({ message: `the export holds ${twice} twice` })
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

export interface MovingInto {
  /** What is moved in, for the mark: the same for the same. */
  readonly place: string
  readonly bundles: BundleSource
  readonly isTrial: boolean
  readonly isForced: boolean
  readonly onProgress?: OnProgress | undefined
}

/** Opens a data store, judges a stream of bundles, and writes it unless this is a trial. */
export const moveInto = (into: DataStorePlace, moving: MovingInto): Promise<MovedIn> =>
  withDataStore(moving.isTrial ? trialLayer(into) : dataStoreLayer(into), async (runtime) => {
    const run: Run = (effect) => runtime.runPromise(effect)
    const way = { run, bundles: moving.bundles, onProgress: moving.onProgress }
    const arriving = await markOf(run, "arriving", moving.place)
    await assertFree(run, arriving, moving.isForced)
    const outcome = await judgeAll(way)
    // A directory has one owner, and a mark keeps it so; a database has others in it.
    if (!moving.isTrial) await writeAll(way, "data" in into ? arriving : undefined)
    return outcome
  })

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
    for await (const bundle of bundlesOfExport(source)) yield readdressed(to, bundle)
  }
  const place = `export ${manifest.sha256.slice(0, 12)}`
  return { header, manifest, ...(await moveInto(into, { place, bundles, isTrial, isForced, onProgress })) }
}
