// Blocks: the documents in an assistant's memory, shown and changed by a person.
// Owns `memory show`, `edit`, `history` and `forget`. Leaves the rules of blocks to the SDK, the rest of memory to memory.ts.
// B1  What is no block can not be changed here: facts and the journal follow from the ledger, and nothing takes a line out
//     of a ledger.

import { assertConsent } from "../../consent.ts"
import { CommandFailed } from "../../failure.ts"
import { type ListOptions, tellList } from "../../texts/list.ts"
import { named, oneOf } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { onOneLine, plain } from "../../texts/plain.ts"
import { saidOrPiped } from "../../piped.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { BlockSummary, Backend } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import { table } from "../../texts/table.ts"
import type { LookOptions } from "./agents.ts"
import type { OrderOptions } from "./orders.ts"

const found = async (backend: Backend, id: string, wanted: string): Promise<BlockSummary> => {
  const blocks = await backend.blocks(id)
  const exact = blocks.find((block) => block.id === wanted)
  if (exact !== undefined) return exact
  const label = oneOf(
    blocks.map((block) => block.label),
    wanted,
    () =>
      new CommandFailed("not-found", `${id} has no memory block "${wanted}"`, {
        hint: blocks.length === 0 ? "it has none" : `it has ${blocks.map((block) => block.label).join(", ")}`
      })
  )
  return blocks.find((block) => block.label === label) as BlockSummary
}

export const show = async (
  name: string,
  wanted: string | undefined,
  options: LookOptions & { readonly version?: number },
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  if (wanted !== undefined) {
    const block = await found(backend, id, wanted)
    const { text, version } = await backend.block(block.id, options.version)
    if (options.json) sayJson({ ok: true, assistant: id, block: { ...block, text, version } })
    else say(plain(text))
    return 0
  }
  const kept = await backend.kept(id)
  const blocks = await backend.blocks(id)
  if (options.json) sayJson({ ok: true, assistant: id, kept, blocks })
  else {
    const counts = Object.entries(kept).map(([kind, count]) => `${kind} ${count}`)
    const rows = blocks.map(({ label, text, version }) => [label, String(version), onOneLine(text, 80)])
    say(plain([`${id} keeps: ${counts.join(", ")}`, "", table([["block", "version", "text"], ...rows])].join("\n")))
  }
  return 0
}

export interface EditOptions extends OrderOptions {
  readonly append?: boolean
  readonly replace?: string
  readonly undo?: boolean
}

const tellVersion = (label: string, version: number, json: boolean): number => {
  if (json) sayJson({ ok: true, block: label, version })
  else say(onOneLine(`${label} is at version ${version}`))
  return 0
}

export const edit = async (
  name: string,
  wanted: string,
  given: string | undefined,
  options: EditOptions,
  stop: Stop
): Promise<number> => {
  if (options.undo === true && (given !== undefined || options.append === true || options.replace !== undefined)) {
    throw new CommandFailed("usage", "--undo takes no text")
  }
  if (options.append === true && options.replace !== undefined) {
    throw new CommandFailed("usage", "--append and --replace exclude each other")
  }
  const text = options.undo === true ? "" : await saidOrPiped(given, "the text")
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const block = await found(backend, id, wanted)
  if (options.dryRun) {
    const would = options.undo === true ? { undo: block.label } : { edit: block.label, text }
    if (options.json) sayJson({ ok: true, dryRun: true, would, assistant: id })
    else say(onOneLine(`would change ${block.label} of ${id}, which is at version ${block.version}`))
    return 0
  }
  if (options.undo === true) {
    return tellVersion(block.label, (await backend.undoBlock(block.id, options.id)).version, options.json)
  }
  const operation =
    options.replace !== undefined
      ? ({ op: "replace_text", old: options.replace, new: text } as const)
      : ({ op: options.append === true ? "append_text" : "set_text", text } as const)
  return tellVersion(block.label, (await backend.editBlock(block.id, operation, options.id)).version, options.json)
}

export const history = async (
  name: string,
  wanted: string,
  options: LookOptions & ListOptions,
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const block = await found(backend, id, wanted)
  const { cursor, limit = 50 } = options
  const find = async () => {
    const before = cursor === undefined ? undefined : Number.parseInt(cursor, 10)
    const items = await backend.blockVersions(block.id, limit, before)
    const oldest = items.at(-1)?.version
    const next = items.length < limit || oldest === undefined ? null : String(oldest)
    const rows = items.map(({ at, by, message = "", version }) => [
      String(version),
      new Date(at).toISOString().slice(0, 19),
      onOneLine(by, 40),
      onOneLine(message, 80)
    ])
    const text = table([["version", "when", "by", ""], ...rows])
    return { key: "versions", items, next, beside: { assistant: id, block: block.label }, text }
  }
  return await tellList(options, find, backend)
}

export const forget = async (name: string, wanted: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const isFact = (await backend.facts(id)).some((fact) => fact.id === wanted)
  if (isFact) {
    throw new CommandFailed("not-possible", `${wanted} is a fact of the ledger, and nothing is taken out of a ledger`, {
      hint: "tell the assistant what is true instead: a newer fact takes its place"
    })
  }
  const block = await found(backend, id, wanted)
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { delete: block.label }, assistant: id })
    else say(onOneLine(`would delete the block ${block.label} of ${id}`))
    return 0
  }
  await assertConsent(options, `the block ${block.label} of ${id} would be deleted`)
  await backend.deleteBlock(block.id, options.id)
  if (options.json) sayJson({ ok: true, assistant: id, deleted: block.label })
  else say(onOneLine(`${id} has forgotten ${block.label}`))
  return 0
}
