// Memory: the group about what an assistant remembers, and its memory blocks.
// Owns edits of blocks in the name of the caller. Leaves pages to ../memory-pages.ts, every rule to `memory`.

import { defined } from "@reverie/protocol"
import type { Fact, Json } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, Conflict, Forbidden, Malformed } from "../../api/index.ts"
import { boundOf, clip, clipAll, WHOLE_CHARS } from "../../views/message-view.ts"
import { asking, changing, costing, type ReadFleet } from "../../gateway.ts"
import { Live } from "../../live.ts"
import { factCache, found, living } from "../../views/facts.ts"
import { factsPage, journalPage, overviewOf, profilesPage, recalledPage } from "../../views/memory-pages.ts"

/** Of one that is not there, which the fleet refuses, undefined. */
const stateOf = (facts: ReadonlyArray<Fact>, fact: string): Fact["state"] | undefined =>
  facts.find((each) => each.id === fact)?.state

/** Throws about a fact that is retired. */
const retirable = (facts: ReadonlyArray<Fact>, fact: string): void => {
  if (stateOf(facts, fact) !== "retired") return
  throw new Conflict({ message: `${fact} is retired already`, hint: "list those that hold with state=active" })
}

/** Throws about a fact that is not in quarantine. */
const releasable = (facts: ReadonlyArray<Fact>, fact: string): void => {
  const state = stateOf(facts, fact)
  if (state === undefined || state === "quarantined" || state === "proposed") return
  throw new Conflict({
    message: `${fact} is not in quarantine: it is ${state}`,
    hint: "list those with state=quarantined"
  })
}

const deletesPassage = (id: string, passage: string) =>
  changing("memory.deletePassage", `${id}/${passage}`, async (fleet) => {
    await living(fleet, id)
    return fleet.memory.deletePassage(id, passage)
  })

const correctsFact = (id: string, fact: string, text: string, key: string | undefined) =>
  changing("memory.correctFact", `${id}/${fact}`, async (fleet, { name }) => {
    await living(fleet, id)
    return fleet.memory.correctFact(id, fact, text, { from: name, ...defined({ id: key }) })
  })

const addsFact = (id: string, text: string, key: string | undefined) =>
  changing("memory.addFact", id, async (fleet, { name }) => {
    await living(fleet, id)
    return fleet.memory.addFact(id, text, { from: name, ...defined({ id: key }) })
  })

const rebuilds = (id: string) =>
  costing("memory.rebuild", id, async (fleet) => {
    await living(fleet, id)
    const [{ entries, memories } = { entries: 0, memories: 0 }] = await fleet.memory.rebuild(id)
    return { entries, memories }
  })

type Index = ReadFleet["memory"]["index"]

/** The index as a whole, of all tenants: it is shown and changed with a token of the deployment's own. */
const ofIndex = ({ isWhole, ownTenant }: Live["Service"]) => {
  const indexOf = (fleet: Pick<ReadFleet, "memory" | "tenant">): Index => {
    if (fleet.tenant === ownTenant) return fleet.memory.index
    throw new Forbidden({ message: "the index is looked after with a token of the deployment's own tenant" })
  }
  return {
    index: () => asking((fleet) => indexOf(fleet).status()),
    indexSnapshots: () => asking(async (fleet) => ({ items: await indexOf(fleet).snapshots() })),
    makeIndexSnapshot: () => changing("memory.makeIndexSnapshot", "", (fleet) => indexOf(fleet).snapshot()),
    restoreIndex: ({ payload: { snapshot } }: { readonly payload: { readonly snapshot: string } }) =>
      changing("memory.restoreIndex", snapshot, async (fleet) => {
        const index = indexOf(fleet)
        // Who asks over the network names no place that the server of the index would fetch one from.
        if (!isWhole) {
          found(
            (await index.snapshots()).find(({ name }) => name === snapshot),
            `snapshot ${snapshot}`
          )
        }
        return index.restore(snapshot)
      }),
    catchUpIndex: () => changing("memory.catchUpIndex", "", (fleet) => indexOf(fleet).catchUp())
  }
}

interface ProfileAsked {
  readonly attribute?: string
  readonly text?: string
  readonly undo?: boolean
}

const writesProfile = (id: string, entity: string, asked: ProfileAsked, key: string | undefined) =>
  changing("memory.writeProfile", `${id}/${entity}/${asked.attribute ?? "new"}`, async (fleet, { name }) => {
    await living(fleet, id)
    const { attribute = "", text, undo = false } = asked
    if (attribute === "" && text === undefined) throw new Malformed({ message: "say an attribute, or a text to add" })
    const options = { from: name, ...defined({ id: key }) }
    const { addAttribute, correctAttribute, removeAttribute, undoAttribute } = fleet.memory
    if (undo) return undoAttribute(id, entity, attribute, options)
    if (text === undefined) return removeAttribute(id, entity, attribute, options)
    return attribute === ""
      ? addAttribute(id, entity, text, options)
      : correctAttribute(id, entity, attribute, text, options)
  })

export const memoryLive = HttpApiBuilder.group(
  Api,
  "memory",
  Effect.fnUntraced(function* (handlers) {
    const telling = yield* Live
    const factsOf = factCache(telling.drops)
    const maxChars = boundOf(telling.isWhole, WHOLE_CHARS)
    return handlers.handleAll({
      overview: ({ params: { id } }) => asking((fleet) => overviewOf(factsOf, fleet, id, telling)),
      facts: ({ params: { id }, query }) => asking((fleet) => factsPage(factsOf, fleet, id, query, telling)),
      profiles: ({ params: { id }, query }) => asking((fleet) => profilesPage(fleet, id, query)),
      journal: ({ params: { id }, query }) => asking((fleet) => journalPage(fleet, id, query)),
      recall: ({ params: { id }, query }) => asking((fleet) => recalledPage(fleet, id, query, telling)),
      deletePassage: ({ params: { id, passage } }) => deletesPassage(id, passage),
      releaseFact: ({ params: { fact, id } }) =>
        changing("memory.releaseFact", `${id}/${fact}`, async (fleet) => {
          const { version } = await living(fleet, id)
          releasable(await factsOf(fleet, id, version), fact)
          return fleet.memory.releaseFact(id, fact)
        }),
      retireFact: ({ params: { fact, id }, payload }) =>
        changing("memory.retireFact", `${id}/${fact}`, async (fleet) => {
          const { version } = await living(fleet, id)
          retirable(await factsOf(fleet, id, version), fact)
          return fleet.memory.retireFact(id, fact, payload)
        }),
      correctFact: ({ headers, params: { fact, id }, payload: { text } }) =>
        correctsFact(id, fact, text, headers["idempotency-key"]),
      addFact: ({ headers, params: { id }, payload: { text } }) => addsFact(id, text, headers["idempotency-key"]),
      writeProfile: ({ headers, params: { entity, id }, payload }) =>
        writesProfile(id, entity, payload, headers["idempotency-key"]),
      rebuild: ({ params: { id } }) => rebuilds(id),
      ...ofIndex(telling),
      blockVersions: ({ params: { block }, query }) =>
        asking(async (fleet) => {
          const versions = await fleet.blocks.versions(block, query)
          return { items: versions.map(({ isSystem: _, ...version }) => version) }
        }),
      block: ({ params: { block }, query: { version } }) =>
        asking(async (fleet) => {
          const { content, text, version: shown } = await fleet.blocks.read(block, version)
          return { version: shown, text: clip(text, maxChars), content: clipAll(content, maxChars) as Json }
        }),
      editBlock: ({ params: { block }, payload: { key, operation } }) =>
        changing("memory.editBlock", block, async (fleet, { name }) => {
          const options = { by: name, ...defined({ key }) }
          const { version } = await fleet.blocks.edit(block, operation, options)
          return { version }
        }),
      undoBlock: ({ headers: { "idempotency-key": key }, params: { block } }) =>
        changing("memory.undoBlock", block, async (fleet, { name }) => {
          const { version } = await fleet.blocks.undo(block, { by: name, ...defined({ key }) })
          return { version }
        }),
      deleteBlock: ({ headers: { "idempotency-key": key }, params: { block } }) =>
        changing("memory.deleteBlock", block, async (fleet, { name }) => {
          const { version } = await fleet.blocks.delete(block, { by: name, ...defined({ key }) })
          return { version }
        })
    })
  })
)
