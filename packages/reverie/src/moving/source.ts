// Source: an export as it comes, in pieces of any size.
// Owns cutting it into lines and bundles. Leaves what a line says to export-lines.ts.
// S1  A line that is too long or no UTF-8 is refused before anything is made of it.

import { flawOfBundle, isHead, type Bundle, type BundleHead, type BundlePart } from "@reverie/ledger"
import { addressKey } from "@reverie/protocol"
import { ExportUnreadable } from "./errors.ts"
import { type ExportHeader, type ExportManifest, ExportReader, MAX_LINE_BYTES } from "./export-lines.ts"

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

export const nameOf = (head: BundleHead): string =>
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
