// Memory: what an assistant remembers, and the documents in its memory that a person may change.
// Owns the readings of it, the making anew of its index, and the changes of blocks. Leaves finding to the SDK, the form to
// memory-text.ts.
// M1  It works beside a running fleet: all it ever writes is the index, which follows from the rest.

import { defined, kindName } from "@reverie/protocol"
import type { DreamAccount, ForgetReceipt, RecallOptions, RecordRow } from "reverie"
import { CommandFailed, failureOf } from "../../failure.ts"
import { dreamsText, factsText, profilesText, recalledText } from "../../texts/memory-text.ts"
import { named, oneOf } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { findBackend } from "../../backend/find-backend.ts"
import { orNothing } from "../../backend/transport.ts"
import type { Backend, BlockSummary } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import { counted, onOneLine, plain, table } from "../../texts/plain.ts"
import type { LookOptions } from "./agents.ts"
import { assertConsent, saidOrPiped } from "../../consent.ts"
import { type ListOptions, tellList } from "../../texts/list.ts"
import { followed, type OrderOptions } from "./orders.ts"

export type MemoryView = "overview" | "recall" | "facts" | "profiles" | "dreams" | "rebuild"

export interface MemoryOptions extends LookOptions {
  readonly limit: number
  readonly scope?: NonNullable<RecallOptions["scope"]>
  readonly mode?: NonNullable<RecallOptions["mode"]>
  readonly kind?: NonNullable<RecallOptions["kinds"]>
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  readonly minTrust?: number
  readonly entity?: ReadonlyArray<string>
  readonly tag?: ReadonlyArray<string>
}

/** What is shown: a JSON object, and the same for people. */
interface Shown {
  readonly json: object
  readonly text: string
}

const recalled = async (backend: Backend, id: string, question: string, options: MemoryOptions): Promise<Shown> => {
  const { entity, kind, limit, minTrust, mode, scope, since, tag, until } = options
  const answer = await backend.recall(id, question, {
    limit,
    ...defined({ scope, mode, kinds: kind, since, until, minTrust, entities: entity, tags: tag })
  })
  return { json: { question, ...answer }, text: recalledText(id, answer, mode) }
}

const overview = async (backend: Backend, id: string): Promise<Shown> => {
  const kept = await backend.kept(id)
  const words = { journal: "journal entry", fact: "fact", entity: "profile", passage: "passage", dream: "dream" }
  const many: Readonly<Record<string, string>> = { journal: "journal entries" }
  const lines = Object.entries(words).map(([kind, word]) => counted(kept[kind] ?? 0, word, many[kind] ?? `${word}s`))
  return { json: { kept }, text: `${id} keeps ${lines.join(", ")}` }
}

const rebuilt = async (backend: Backend, id: string): Promise<Shown> => {
  const { entries, memories } = await backend.rebuild(id)
  const text = `${id}: ${counted(memories, "memory", "memories")} made anew from ${counted(entries, "entry", "entries")}`
  return { json: { entries, memories }, text }
}

/** What each of these dreams made of its memory, by the id of the dream; one whose steps are not in the ledger has none. */
export const accountsOf = async (backend: Backend, id: string, dreams: ReadonlyArray<RecordRow>) => {
  const accounts = new Map<string, DreamAccount>()
  for (const { key } of dreams) {
    const account = await orNothing(backend.night((api) => api.dream({ params: { id, dream: key } })))
    if (account !== undefined) accounts.set(key, account)
  }
  return accounts
}

const shown = async (
  backend: Backend,
  id: string,
  view: MemoryView,
  question: string | undefined,
  options: MemoryOptions
): Promise<Shown> => {
  switch (view) {
    case "recall":
      return recalled(backend, id, question ?? "", options)
    case "facts": {
      const facts = await backend.facts(id)
      return { json: { facts }, text: factsText(id, facts) }
    }
    case "profiles": {
      const profiles = await backend.profiles(id)
      return { json: { profiles }, text: profilesText(id, profiles) }
    }
    case "dreams": {
      const dreams = await backend.dreams(id)
      const accounts = await accountsOf(backend, id, dreams)
      const told = dreams.map(({ key, value }) => ({ ...Object(value), account: accounts.get(key) ?? null }))
      return { json: { dreams: told }, text: dreamsText(id, dreams, accounts) }
    }
    case "rebuild":
      return rebuilt(backend, id)
    case "overview":
      return overview(backend, id)
  }
}

export const memory = async (
  name: string,
  view: MemoryView,
  question: string | undefined,
  options: MemoryOptions,
  stop: Stop
): Promise<number> => {
  if (view === "recall" && (question ?? "").trim() === "") {
    throw new CommandFailed("usage", "recall needs a question", { hint: `reverie memory ${name} recall "QUESTION"` })
  }
  if (view !== "recall" && question !== undefined) {
    throw new CommandFailed("usage", `${view} takes no question`, { hint: `reverie memory ${name} recall "QUESTION"` })
  }
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const { json, text } = await shown(backend, id, view, question, options)
  if (options.json) sayJson({ ok: true, assistant: id, ...json })
  else say(text)
  return 0
}

// Blocks: the documents in an assistant's memory, shown and changed by a person.
// Owns `memory show`, `edit`, `history` and `forget`, and `forget`, which erases for good. Leaves the rules of blocks to the SDK.
// B1  What is no block and no passage can not be changed here: facts and the journal follow from the ledger, and nothing takes
//     a line out of a ledger.

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

/** The passage that is meant, also by the id under which it is found (`p/passage_...`). */
const passageIn = (wanted: string): string | undefined => /^(?:p\/)?(passage_[\w-]+)$/.exec(wanted)?.[1]

const forgetPassage = async (backend: Backend, id: string, passage: string, options: OrderOptions): Promise<number> => {
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { delete: passage }, assistant: id })
    else say(onOneLine(`would delete ${passage} of ${id}`))
    return 0
  }
  await assertConsent(options, `${passage} of ${id} would be deleted`)
  const { envelope, outcome } = await backend.memory((api) => api.deletePassage({ params: { id, passage } }))
  await followed(backend, id, options)
  if (options.json) sayJson({ ok: true, receipt: outcome, envelope, assistant: id, deleted: passage })
  else say(onOneLine(`${id} forgets ${passage}, at rest; what was said of it stays in the ledger`))
  return 0
}

export interface EraseOptions extends OrderOptions {
  readonly text?: string
  readonly topic?: string
  readonly everything: boolean
  readonly person?: string
  readonly message?: ReadonlyArray<string>
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
}

const countsText = (gone: Readonly<Record<string, number>>): string =>
  Object.entries(gone)
    .map(([kind, count]) => counted(count, ...kindName(kind)))
    .join(", ")

/** What says a topic or a text, or goes with what was said: of each kind how much, and the first of it. */
const sayFound = ({ found }: ForgetReceipt, lead = "what says it"): void => {
  if (found === undefined || found.samples.length === 0) return
  say(plain(`${lead}: ${countsText(found.counts)}; of each kind the first:`))
  for (const { assistant, kind, text, where } of found.samples) {
    say(onOneLine(`  ${[assistant, kind, where].filter(Boolean).join(" ")}: ${text}`, 120))
  }
}

/** The span as it was read, so that no one takes one that was meant otherwise for empty. */
const spanText = ({ since, until }: EraseOptions): string => {
  const [from, to] = [since, until].map((at) => (at === undefined ? undefined : new Date(at).toISOString()))
  if (from === undefined) return to === undefined ? "" : `, said up to ${to}`
  return to === undefined ? `, said from ${from} on` : `, said from ${from} to ${to}`
}

const becameOf = {
  missing: {
    back: "is missing, so nothing in it was forgotten; when you put it back, forget again",
    gone: "was missing"
  },
  damaged: { back: "is damaged, and stays: all of it was said before", gone: "was damaged" },
  removed: {
    back: "was damaged and may have held it, so it was taken away; when you put a whole one back, forget again",
    gone: "was damaged, and was taken away"
  }
} as const

/** Which segments could not be read, and what became of each. */
const sayUnread = ({ dryRun, unread = [] }: ForgetReceipt): void => {
  for (const { assistant, comesBack, from, segment, state, to } of unread) {
    const became = comesBack ? becameOf[state].back : `${becameOf[state].gone}; nothing refers to it any more`
    const would = dryRun && state === "removed" ? "is damaged and may hold it: it would be taken away" : became
    say(plain(`${assistant}: segment ${segment} (events ${from} to ${to}) ${would}`))
  }
}

/** Whose state can not be read is forgotten whole under its very id. */
const forgottenId = async (backend: Backend, name: string, isWhole: boolean): Promise<string> => {
  try {
    return (await named(backend, name)).id
  } catch (error) {
    if (isWhole && failureOf(error).code === "record-unreadable") return name
    throw error
  }
}

/** Erases for good: an assistant, what contains a text, what was said by whom or when, or everything. */
export const erase = async (name: string | undefined, options: EraseOptions, stop: Stop): Promise<number> => {
  const { everything, message: messages, person, since, text, topic, until } = options
  const sayings = defined({ person, messages, since, until })
  const isSaid = Object.keys(sayings).length > 0
  const ways = [text !== undefined, topic !== undefined, isSaid].filter(Boolean).length
  if (everything === (name !== undefined || ways > 0) || ways > 1) {
    const how = "--text TEXT, --topic WORDS, or --person NAME, --message ID, --since and --until WHEN"
    throw new CommandFailed("usage", `say what to forget: an assistant, ${how} of one or of all, or --everything alone`)
  }
  if (messages !== undefined && name === undefined) {
    throw new CommandFailed("usage", "say of which assistant: forget ID --message m/12/0")
  }
  await using backend = await findBackend(options, "order", stop)
  const id = name === undefined ? undefined : await forgottenId(backend, name, ways === 0)
  const what = defined({ assistant: id, text, topic, everything: everything ? (true as const) : undefined, ...sayings })
  const forgotten = (dryRun: boolean) => backend.assistants((api) => api.forget({ payload: { ...what, dryRun } }))
  const whose = `${id ?? "all assistants"}${spanText(options)}`
  const would = await forgotten(true)
  if (!options.json && topic !== undefined) sayFound(would)
  if (Object.keys(would.gone).length === 0 || options.dryRun) {
    if (options.json) sayJson({ ok: true, ...would })
    else if (Object.keys(would.gone).length > 0) say(plain(`would erase of ${whose}: ${countsText(would.gone)}`))
    else say(plain(`nothing of it is kept of ${whose}`))
    if (options.json) return 0
    if (topic === undefined) sayFound(would, isSaid ? "what was said, and learnt of it" : undefined)
    sayUnread(would)
    return 0
  }
  await assertConsent(options, `of ${whose} would be erased for good: ${countsText(would.gone)}`)
  const receipt = await forgotten(false)
  if (options.json) sayJson({ ok: true, ...receipt })
  else {
    say(
      plain(`erased of ${whose}: ${countsText(receipt.gone)}; exports, backups and what a restore kept still hold it`)
    )
    sayUnread(receipt)
  }
  return 0
}

export const forget = async (name: string, wanted: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const isFact = (await backend.facts(id)).some((fact) => fact.id === wanted)
  if (isFact) {
    throw new CommandFailed("not-possible", `${wanted} is a fact of the ledger, and nothing is taken out of a ledger`, {
      hint: `retire it: reverie memory retire ${id} ${wanted}`
    })
  }
  const passage = passageIn(wanted)
  if (passage !== undefined) return forgetPassage(backend, id, passage, options)
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
