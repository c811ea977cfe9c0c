// Memory: the group about what an assistant remembers, and its memory blocks.
// Owns pages of it, and edits of blocks in the name of whoever asks. Leaves every rule to `memory`.
// M1  A list is a page, and its long texts are cut; what is opened is whole.
// M2  Facts are read and checked once a commit of their assistant, however many pages of them are asked for.

import { type BlockView, type Fleet, type Hit, type Json, whyInWords } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../api/index.ts"
import { clip, clipAll, TEXT_CHARS, WHOLE_CHARS } from "../clip.ts"
import { asking, changing } from "../desk.ts"
import { datedFact, type FactShelf, factShelf } from "../facts.ts"
import { living } from "../living.ts"
import { newestFirst, pageOf } from "../paging.ts"

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

const overviewOf = async (factsOf: FactShelf, fleet: Fleet, id: string) => {
  const { version } = await living(fleet, id)
  const [facts, others, blocks] = await Promise.all([
    factsOf(fleet, id, version),
    fleet.desk(id, ["entity", "passage", "journal"]),
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

interface FactsAsked {
  readonly state?: string
  readonly q?: string
  readonly limit: number
  readonly cursor?: string
}

const factsPage = async (factsOf: FactShelf, fleet: Fleet, id: string, { cursor, limit, q, state }: FactsAsked) => {
  const { version } = await living(fleet, id)
  const words = wordsOf(q)
  const meant = (await factsOf(fleet, id, version)).filter(
    (fact) => (state === undefined || fact.state === state) && says(fact.text, words)
  )
  const { items, next } = pageOf(meant, datedFact, { cursor, limit })
  return { items: items.map((fact) => ({ ...fact, text: clip(fact.text, TEXT_CHARS) })), next }
}

const journalPage = async (fleet: Fleet, id: string, asked: { readonly limit: number; readonly cursor?: string }) => {
  await living(fleet, id)
  // An entry that says no time is older than all that do.
  const datedRow = ({ key, value }: { readonly key: string; readonly value: Json }) => {
    const at: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "at") : undefined
    return { id: key, at: typeof at === "number" ? at : 0 }
  }
  const rows = newestFirst(await fleet.desk(id, ["journal"]), datedRow)
  const { items, next } = pageOf(rows, datedRow, asked)
  return { items: items.map(({ key, value }) => ({ key, value: clipAll(value, TEXT_CHARS) as Json })), next }
}

const profilesPage = async (fleet: Fleet, id: string, asked: { readonly limit: number; readonly cursor?: string }) => {
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

export const memoryLive = HttpApiBuilder.group(
  Api,
  "memory",
  Effect.fnUntraced(function* (handlers) {
    const factsOf = factShelf()
    return handlers.handleAll({
      overview: ({ params: { id } }) => asking((fleet) => overviewOf(factsOf, fleet, id)),
      facts: ({ params: { id }, query }) => asking((fleet) => factsPage(factsOf, fleet, id, query)),
      profiles: ({ params: { id }, query }) => asking((fleet) => profilesPage(fleet, id, query)),
      journal: ({ params: { id }, query }) => asking((fleet) => journalPage(fleet, id, query)),
      recall: ({ params: { id }, query: { limit, mode, q, scope } }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          const { degraded, hits } = await fleet.recall(id, q, {
            limit: Math.min(limit, MAX_HITS),
            ...(mode === undefined ? {} : { mode }),
            ...(scope === undefined ? {} : { scope })
          })
          return { items: hits.map(hitOf), ...(degraded === undefined ? {} : { degraded }) }
        }),
      blockVersions: ({ params: { block }, query }) =>
        asking(async (fleet) => {
          const versions = await fleet.blocks().versions(block, query)
          return { items: versions.map(({ isSystem: _, ...version }) => version) }
        }),
      block: ({ params: { block }, query: { version } }) =>
        asking(async (fleet) => {
          const { content, text, version: shown } = await fleet.blocks().read(block, version)
          return { version: shown, text: clip(text, WHOLE_CHARS), content: clipAll(content, WHOLE_CHARS) as Json }
        }),
      editBlock: ({ params: { block }, payload: { key, operation } }) =>
        changing("memory.editBlock", block, async (fleet, { name }) => {
          const options = { by: name, ...(key === undefined ? {} : { key }) }
          const { version } = await fleet.blocks().edit(block, operation, options)
          return { version }
        }),
      undoBlock: ({ params: { block } }) =>
        changing("memory.undoBlock", block, async (fleet, { name }) => {
          const { version } = await fleet.blocks().undo(block, { by: name })
          return { version }
        })
    })
  })
)
