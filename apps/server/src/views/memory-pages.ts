// MemoryPages: what an assistant remembers, page by page.
// Owns order, filters, and where long texts are cut. Leaves finding and keeping memories to the SDK.
// M1  A list is a page, and its long texts are cut; what is opened is whole.
// M2  Facts are read and checked once a commit of their assistant, however many pages of them are asked for.

import { defined } from "@reverie/protocol"
import { type BlockView, type Fleet, type Hit, type Json, whyInWords } from "reverie"
import { clip, clipAll, TEXT_CHARS } from "./message-view.ts"
import { datedFact, type FactCache, living } from "./facts.ts"
import { newestFirst, pageOf } from "./paging.ts"

/** Most hits of one question. */
const MAX_HITS = 100

const summaryOf = (block: BlockView) => {
  const { charLimit, chars, description, id, label, permission, pinned, text, type, version } = block
  return { id, label, type, permission, description, pinned, version, charLimit, chars, text: clip(text, TEXT_CHARS) }
}

const hitOf = ({ entry, owner, score, why }: Hit) => ({
  owner,
  id: entry.id,
  kind: entry.kind,
  text: clip(entry.text, TEXT_CHARS),
  at: entry.at,
  score,
  trust: entry.trust,
  why: why as unknown as Json,
  because: whyInWords(why)
})

/** Every word of the question stands in it, whatever the case. */
const says = (text: string, words: ReadonlyArray<string>): boolean => {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

const wordsOf = (question: string = ""): ReadonlyArray<string> => question.toLowerCase().split(/\s+/).filter(Boolean)

export const overviewOf = async (factsOf: FactCache, fleet: Fleet, id: string) => {
  const { version } = await living(fleet, id)
  const [facts, others, blocks] = await Promise.all([
    factsOf(fleet, id, version),
    fleet.records(id, ["entity", "passage", "journal"]),
    fleet.blocks().list(id)
  ])
  const countOf = (kind: string): number => others.filter((row) => row.kind === kind).length
  return {
    facts: facts.length,
    quarantined: facts.filter(({ state }) => state === "quarantined").length,
    profiles: countOf("entity"),
    passages: countOf("passage"),
    journal: countOf("journal"),
    blocks: blocks.map(summaryOf)
  }
}

export interface FactsAsked {
  readonly state?: string
  readonly q?: string
  readonly limit: number
  readonly cursor?: string
}

export const factsPage = async (
  factsOf: FactCache,
  fleet: Fleet,
  id: string,
  { cursor, limit, q, state }: FactsAsked
) => {
  const { version } = await living(fleet, id)
  const words = wordsOf(q)
  const meant = (await factsOf(fleet, id, version)).filter(
    (fact) => (state === undefined || fact.state === state) && says(fact.text, words)
  )
  const { items, next } = pageOf(meant, datedFact, { cursor, limit })
  return { items: items.map((fact) => ({ ...fact, text: clip(fact.text, TEXT_CHARS) })), next }
}

export const journalPage = async (
  fleet: Fleet,
  id: string,
  asked: { readonly limit: number; readonly cursor?: string }
) => {
  await living(fleet, id)
  // An entry that says no time is older than all that do.
  const datedRow = ({ key, value }: { readonly key: string; readonly value: Json }) => {
    const at: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "at") : undefined
    return { id: key, at: typeof at === "number" ? at : 0 }
  }
  const rows = newestFirst(await fleet.records(id, ["journal"]), datedRow)
  const { items, next } = pageOf(rows, datedRow, asked)
  return { items: items.map(({ key, value }) => ({ key, value: clipAll(value, TEXT_CHARS) as Json })), next }
}

export const profilesPage = async (
  fleet: Fleet,
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
  return pageOf(newestFirst(await fleet.profiles(id), lastHeard), lastHeard, asked)
}

export interface RecallAsked {
  readonly q: string
  readonly limit: number
  readonly mode?: "auto" | "fts" | "vector" | "hybrid"
  readonly scope?: "own" | "shared" | "fleet"
}

export const recalledPage = async (fleet: Fleet, id: string, { limit, mode, q, scope }: RecallAsked) => {
  await living(fleet, id)
  const { degraded, hits } = await fleet.recall(id, q, {
    limit: Math.min(limit, MAX_HITS),
    ...defined({ mode, scope })
  })
  return { items: hits.map(hitOf), ...defined({ degraded }) }
}
