// ExportLines: an export as lines of text, and back.
// Owns the form of the file: a header, one part a line, a manifest at its end. Leaves what a part says to the ledger
// room, the file itself to the caller.
// X1  The manifest counts the parts and digests every byte before it: what is cut off or altered is found out.
// X2  No line is longer than MAX_LINE_BYTES; a part that would be is a row of pieces.
// X3  Equal parts are equal lines, whichever store they come from.
// X4  What this Reverie does not know, a newer version or another kind of part, is refused, never skipped.

import { createHash, type Hash } from "node:crypto"
import { inOrder, type PartKind, readPart, type BundlePart } from "@reverie/ledger"
import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { ExportUnreadable } from "./errors.ts"

/** The version of exports that this program writes. */
export const EXPORT_VERSION = 1
export const MAX_LINE_BYTES = 900_000
/** Of three bytes each at most, escaped ones two, this stays below MAX_LINE_BYTES. */
const PIECE_CHARS = 262_144
/** Most of one part, in UTF-16 units, put together from its pieces. */
const MAX_PART_CHARS = 268_435_456
/** A part is a few levels deeper than what is in it. */
const MAX_PART_DEPTH = 80

/** The first line of an export. */
export interface ExportHeader {
  /** Tells an export from any other file. */
  readonly reverie: "export"
  /** The version of this form. */
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly exportedAt: number
  /** Whom it holds: everybody, all of some tenants, or named assistants as `tenant/assistant`. */
  readonly scope:
    | { readonly all: true }
    | { readonly tenants: ReadonlyArray<string> }
    | { readonly assistants: ReadonlyArray<string> }
}

/** The last line of an export: counts and hashes. */
export interface ExportManifest {
  /** Tells the last line from the others. */
  readonly kind: "manifest"
  /** How many lines stand before it. */
  readonly lines: number
  /** How many parts of each kind. */
  readonly parts: Readonly<Partial<Record<PartKind, number>>>
  /** Of all lines before it. */
  readonly sha256: string
}

const pieces = (text: string): ReadonlyArray<string> => {
  const count = Math.ceil(text.length / PIECE_CHARS)
  return Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      kind: "piece",
      piece: index + 1,
      pieces: count,
      text: text.slice(index * PIECE_CHARS, (index + 1) * PIECE_CHARS)
    })
  )
}

/** Writes the lines of one export, each with its end. */
export class ExportWriter {
  readonly #digest: Hash = createHash("sha256")
  readonly #counts: Partial<Record<PartKind, number>> = {}
  #lines = 0

  header(exportedAt: number, scope: ExportHeader["scope"]): string {
    const header: ExportHeader = { reverie: "export", version: EXPORT_VERSION, exportedAt, scope }
    return this.#line(JSON.stringify(header))
  }

  part(part: BundlePart): string {
    this.#counts[part.kind] = (this.#counts[part.kind] ?? 0) + 1
    const text = JSON.stringify(inOrder(part))
    if (text.length <= PIECE_CHARS) return this.#line(text)
    return pieces(text)
      .map((piece) => this.#line(piece))
      .join("")
  }

  manifest(): string {
    const parts = Object.fromEntries(Object.entries(this.#counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const manifest: ExportManifest = { kind: "manifest", lines: this.#lines, parts, sha256: this.#digest.digest("hex") }
    return `${JSON.stringify(manifest)}\n`
  }

  #line(text: string): string {
    const line = `${text}\n`
    this.#digest.update(line)
    this.#lines++
    return line
  }
}

/** JSON as it is written, every key of it: nothing of it is ever merged into anything. */
const readJson = (text: string): Result.Result<Json, string> =>
  Result.map(parseJson(text, { maxDepth: MAX_PART_DEPTH }), (value) =>
    /__proto__|constructor|prototype|\\u/.test(text) ? (JSON.parse(text) as Json) : value
  )

const isHeader = (value: Json): value is Json & ExportHeader =>
  isJsonObject(value) && value["reverie"] === "export" && typeof value["version"] === "number"

const isScope = (scope: unknown): boolean => {
  if (!isJsonObject(scope)) return false
  const named: unknown = scope["tenants"] ?? scope["assistants"]
  return scope["all"] === true || (Array.isArray(named) && named.every((name) => typeof name === "string"))
}

/** What a line turned out to be. */
export type ExportItem =
  | { readonly type: "header"; readonly header: ExportHeader }
  | { readonly type: "part"; readonly part: BundlePart }
  | { readonly type: "end"; readonly manifest: ExportManifest }

/** Reads the lines of one export in their order. Throws ExportUnreadable with the line. */
export class ExportReader {
  readonly #digest: Hash = createHash("sha256")
  readonly #counts: Record<string, number> = {}
  #line = 0
  #isEnded = false
  #pieces: Array<string> = []
  #pieceCount = 0

  /** What a line says; undefined for a piece that is not the last one. Its end is not part of it. */
  read(line: string): ExportItem | undefined {
    this.#line++
    if (this.#isEnded) return this.#refuse("something stands behind the manifest")
    const value = this.#parse(line)
    if (this.#line === 1) return this.#header(line, value)
    if (isJsonObject(value) && value["kind"] === "manifest") return this.#end(value)
    this.#digest.update(`${line}\n`)
    if (isJsonObject(value) && value["kind"] === "piece") return this.#piece(value)
    if (this.#pieces.length > 0) return this.#refuse("the pieces before it are not complete")
    return this.#part(value)
  }

  /** Asserts that the last line has been read. */
  close(): void {
    if (this.#line === 0) this.#refuse("it is empty", 1)
    if (!this.#isEnded) this.#refuse("it is cut off: the manifest at its end is missing")
  }

  #refuse(message: string, line = this.#line): never {
    throw new ExportUnreadable({ line, message: `line ${line}: ${message}` })
  }

  #parse(line: string): Json {
    return Result.getOrElse(readJson(line), (problem) =>
      this.#refuse(this.#line === 1 ? "it is no export of Reverie" : problem)
    )
  }

  #header(line: string, value: Json): ExportItem {
    if (!isHeader(value)) return this.#refuse("it is no export of Reverie")
    const { version } = value
    if (version > EXPORT_VERSION) {
      return this.#refuse(
        `it was written by a newer Reverie (version ${version}, this one reads up to ${EXPORT_VERSION})`
      )
    }
    if (version !== EXPORT_VERSION) return this.#refuse(`there is no version ${version} of exports`)
    if (typeof value.exportedAt !== "number" || !isScope(value.scope)) return this.#refuse("its header is not whole")
    this.#digest.update(`${line}\n`)
    return { type: "header", header: value }
  }

  #piece({ piece, pieces: count, text }: { readonly [key: string]: Json }): ExportItem | undefined {
    if (this.#pieces.length === 0) this.#pieceCount = typeof count === "number" ? count : 0
    const isNext = piece === this.#pieces.length + 1 && count === this.#pieceCount && this.#pieceCount >= piece
    if (!isNext || typeof text !== "string") return this.#refuse("it is not the piece that follows")
    this.#pieces.push(text)
    if (this.#pieces.length * PIECE_CHARS > MAX_PART_CHARS) return this.#refuse("the part is too large")
    if (this.#pieces.length < this.#pieceCount) return undefined
    const whole = this.#pieces.join("")
    this.#pieces = []
    return this.#part(Result.getOrElse(readJson(whole), (problem) => this.#refuse(problem)))
  }

  #part(value: Json): ExportItem {
    const part = Result.getOrElse(readPart(value), (problem) => this.#refuse(problem))
    this.#counts[part.kind] = (this.#counts[part.kind] ?? 0) + 1
    return { type: "part", part }
  }

  #end(value: { readonly [key: string]: Json }): ExportItem {
    const { lines, parts = null, sha256 } = value
    if (this.#pieces.length > 0) return this.#refuse("the pieces before it are not complete")
    const counted = JSON.stringify(Object.entries(this.#counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const told = JSON.stringify(
      isJsonObject(parts) ? Object.entries(parts).toSorted(([a], [b]) => (a < b ? -1 : 1)) : 0
    )
    if (lines !== this.#line - 1 || counted !== told)
      return this.#refuse("lines are missing: the manifest counts others")
    const found = this.#digest.digest("hex")
    if (sha256 !== found) return this.#refuse("it was altered: its digest is not the one that the manifest tells")
    this.#isEnded = true
    return { type: "end", manifest: value as unknown as ExportManifest }
  }
}
