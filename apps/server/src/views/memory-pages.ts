// MemoryPages: what an assistant remembers, page by page.
// Owns order, filters, and where long texts are cut. Leaves finding and keeping memories to the SDK.
// M1  A list is a page, and its long texts are cut; what is opened is whole.
// M3  The blocks are those that its prompts may show: its own, then those that others share with it.
// M2  Facts are read and checked once a commit of their assistant, however many pages of them are asked for.

import { defined } from "@reverie/protocol"
import { type BlockView, type Fact, type Hit, type Json, type MemoryKind, explainRecall } from "reverie"
import { boundOf, clip, clipAll, TEXT_CHARS } from "./message-view.ts"
import { datedFact, type FactCache, living } from "./facts.ts"
import { Malformed, memoryKinds } from "../api/index.ts"
import type { ReadFleet } from "../gateway.ts"
import { newestFirst, pageOf } from "./paging.ts"

/** Most hits of one question. */
const MAX_HITS = 100

/** Whether texts are reported whole. */
export interface Telling {
  readonly isWhole: boolean
}

const summaryOf = (block: BlockView, maxChars: number) => {
  const { charLimit, chars, description, id, label, permission, pinned, sharedFrom, text, type, version } = block
  const shown = { id, label, type, permission, description, pinned, version, charLimit, chars }
  return { ...shown, ...defined({ sharedFrom }), text: clip(text, maxChars) }
}

const hitOf = (
  { entry: { at, entities, id, importance, kind, speaker, tags, text, trust }, metadata, owner, score, why }: Hit,
  maxChars: number
) => ({
  owner,
  id,
  kind,
  text: clip(text, maxChars),
  at,
  score,
  ...defined({ speaker }),
  entities,
  tags,
  trust,
  importance,
  ...defined({ metadata }),
  why,
  because: explainRecall(why)
})

/** Every word of the question stands in it, whatever the case. */
const says = (text: string, words: ReadonlyArray<string>): boolean => {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

const wordsOf = (question: string = ""): ReadonlyArray<string> => question.toLowerCase().split(/\s+/).filter(Boolean)

export const overviewOf = async (
  factsOf: FactCache,
  fleet: ReadFleet,
  id: string,
  { isWhole }: Telling = { isWhole: false }
) => {
  const { version } = await living(fleet, id)
  const [facts, others, blocks] = await Promise.all([
    factsOf(fleet, id, version),
    fleet.memory.records(id, ["entity", "passage", "journal", "episode", "dream", "compaction"]),
    fleet.blocks.readBy(id)
  ])
  const countOf = (kind: string): number => others.filter((row) => row.kind === kind).length
  return {
    facts: facts.length,
    quarantined: facts.filter(({ state }) => state === "quarantined").length,
    proposed: facts.filter(({ state }) => state === "proposed").length,
    profiles: countOf("entity"),
    passages: countOf("passage"),
    journal: countOf("journal") + countOf("episode"),
    dreams: countOf("dream"),
    compactions: countOf("compaction"),
    blocks: blocks.map((block) => summaryOf(block, boundOf(isWhole, TEXT_CHARS)))
  }
}

export interface FactsAsked {
  readonly state?: Fact["state"]
  readonly q?: string
  readonly limit: number
  readonly cursor?: string
}

export const factsPage = async (
  factsOf: FactCache,
  fleet: ReadFleet,
  id: string,
  { cursor, limit, q, state }: FactsAsked,
  { isWhole }: Telling = { isWhole: false }
) => {
  const { version } = await living(fleet, id)
  const words = wordsOf(q)
  const meant = (await factsOf(fleet, id, version)).filter(
    (fact) => (state === undefined || fact.state === state) && says(fact.text, words)
  )
  const { items, next } = pageOf(meant, datedFact, { cursor, limit })
  return { items: items.map((fact) => ({ ...fact, text: clip(fact.text, boundOf(isWhole, TEXT_CHARS)) })), next }
}

export const journalPage = async (
  fleet: ReadFleet,
  id: string,
  asked: { readonly limit: number; readonly cursor?: string }
) => {
  await living(fleet, id)
  // An entry that says no time is older than all that do.
  const datedRow = ({ key, value }: { readonly key: string; readonly value: Json }) => {
    const told = typeof value === "object" && value !== null ? value : {}
    const timestamp: unknown = Reflect.get(told, "timestamp")
    const at: unknown = Reflect.get(told, "at") ?? (typeof timestamp === "string" ? Date.parse(timestamp) : 0)
    return { id: key, at: typeof at === "number" && !Number.isNaN(at) ? at : 0 }
  }
  const rows = newestFirst(await fleet.memory.records(id, ["journal", "episode"]), datedRow)
  const { items, next } = pageOf(rows, datedRow, asked)
  return { items: items.map(({ key, value }) => ({ key, value: clipAll(value, TEXT_CHARS) as Json })), next }
}

export const profilesPage = async (
  fleet: ReadFleet,
  id: string,
  asked: { readonly limit: number; readonly cursor?: string }
) => {
  await living(fleet, id)
  const lastHeard = (profile: {
    readonly id: string
    readonly observations: ReadonlyArray<{ readonly at: number }>
  }) => ({
    id: profile.id,
    at: profile.observations.reduce((at, each) => Math.max(at, each.at), 0)
  })
  return pageOf(newestFirst(await fleet.memory.profiles(id), lastHeard), lastHeard, asked)
}

export interface RecallAsked {
  readonly q: string
  readonly limit: number
  readonly mode?: "auto" | "fts" | "vector" | "hybrid"
  readonly scope?: "own" | "shared" | "fleet"
  readonly kinds?: string
  readonly since?: number
  readonly until?: number
  readonly minTrust?: number
  readonly entities?: string
  readonly tags?: string
}

const listIn = (words: string | undefined): ReadonlyArray<string> | undefined => {
  const list = (words ?? "").split(",").filter((word) => word !== "")
  return list.length === 0 ? undefined : list
}

const isKind = (name: string): name is MemoryKind => (memoryKinds as ReadonlyArray<string>).includes(name)

const kindsIn = (names: string | undefined): ReadonlyArray<MemoryKind> | undefined => {
  const kinds = listIn(names)
  const unknown = kinds?.find((name) => !isKind(name))
  if (unknown === undefined) return kinds?.filter(isKind)
  throw new Malformed({
    message: `there is no kind of memory "${unknown}"`,
    hint: `there are ${memoryKinds.join(", ")}`
  })
}

export const recalledPage = async (
  fleet: ReadFleet,
  id: string,
  { entities, kinds, limit, q, tags, ...asked }: RecallAsked,
  { isWhole }: Telling = { isWhole: false }
) => {
  await living(fleet, id)
  const {
    certainty,
    degraded,
    hits,
    mode: searched
  } = await fleet.memory.recall(id, q, {
    limit: Math.min(limit, boundOf(isWhole, MAX_HITS)),
    ...asked,
    ...defined({ kinds: kindsIn(kinds), entities: listIn(entities), tags: listIn(tags) })
  })
  return {
    items: hits.map((hit) => hitOf(hit, boundOf(isWhole, TEXT_CHARS))),
    mode: searched,
    ...defined({ certainty, degraded })
  }
}
