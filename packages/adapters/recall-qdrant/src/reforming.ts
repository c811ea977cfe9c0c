// Reforming: another collection in the place of the one that is in use, without a gap.
// Owns the order of it: made beside, filled, the alias, the old one dropped. Leaves who asks for it to its callers.
// G1  Searches and writes go to the collection that has the alias, until one request gives it to the one that has everything.
// G2  Where each assistant stands is read before its entries are copied, and written after: what was applied meanwhile is
//     missing in the new one as the position says, and the runtime makes it up from the ledger.
// G3  Who was erased meanwhile is erased in the new one too, before the old one, by which that is known, is dropped.
// G4  It may break off anywhere: before the alias the old one is in use, and what was begun is dropped and begun anew;
//     after it the new one is, and says which one it replaces.
// G5  One process does it: who made the collection, and says every half minute that it is at it. The others wait.

import { INDEX_START, type RecallUnavailable } from "@reverie/memory"
import { type Address, defined } from "@reverie/protocol"
import type { Schemas } from "@qdrant/js-client-rest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { AliasesAnswer, CountAnswer, isMissing, type Qdrant, ScrollAnswer } from "./client.ts"
import {
  collectionOf,
  createCollection,
  createIndexes,
  FORMAT,
  type Form,
  giveAlias,
  MAX_BATCH_POINTS,
  type Models,
  readForm,
  refusedBecause,
  vectorLayout
} from "./form.ts"
import {
  anyMemory,
  anyStanding,
  memoryIn,
  ofAssistant,
  payloadOf,
  pointId,
  positionPoint,
  type Standing,
  standingIn,
  vectorsIn,
  wordsOf
} from "./point.ts"

type Alone = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
type Filter = Schemas["Filter"]

/** A process that has not said for so long that it fills a collection does it no more. */
const GIVEN_UP_MILLIS = 120_000
const SAID_EVERY_MILLIS = 30_000
const AGAIN_MILLIS = 15_000

/** The collection that an alias stands for. */
export const targetOf = ({ read }: Qdrant, name: string): Effect.Effect<string, RecallUnavailable> =>
  Effect.flatMap(
    read("open", AliasesAnswer, (client) => client.getAliases()),
    ({ aliases }) => {
      const found = aliases.find(({ alias_name: alias }) => alias === name)
      return found === undefined
        ? Effect.fail(refusedBecause(`${name} is no alias of a collection`))
        : Effect.succeed(found.collection_name)
    }
  )

/** Goes through the points of a collection, some at a time. */
const eachPage = (
  { read }: Qdrant,
  collection: string,
  filter: Filter,
  vectors: ReadonlyArray<string>,
  take: (points: (typeof ScrollAnswer.Type)["points"]) => Effect.Effect<unknown, RecallUnavailable>
) =>
  Effect.gen(function* () {
    let offset: string | number | null | undefined
    do {
      const asked = {
        filter,
        limit: MAX_BATCH_POINTS,
        with_payload: true,
        with_vector: vectors.length === 0 ? false : [...vectors],
        ...defined({ offset: offset ?? undefined })
      }
      const page = yield* read("reform", ScrollAnswer, (client) => client.scroll(collection, asked))
      yield* take(page.points)
      offset = page.next_page_offset
    } while (offset != null)
  })

/** Where each assistant stands in a collection. */
export const standingsIn = (qdrant: Qdrant, collection: string) =>
  Effect.gen(function* () {
    const all = new Map<string, Standing>()
    yield* eachPage(qdrant, collection, anyStanding(), [], (points) =>
      Effect.sync(() => {
        for (const { payload } of points) {
          const standing = standingIn(payload)
          if (standing !== undefined) all.set(standing.agent, standing)
        }
      })
    )
    return all
  })

/** `isCopied` marks what was not applied here: the mark goes with the next apply. */
const putStandings = ({ write }: Qdrant, collection: string, all: ReadonlyArray<Standing>, isCopied: boolean) =>
  Effect.gen(function* () {
    for (let from = 0; from < all.length; from += MAX_BATCH_POINTS) {
      const points = all.slice(from, from + MAX_BATCH_POINTS).map(({ address, position }) => {
        const point = positionPoint(address, position)
        return isCopied ? { ...point, payload: { ...point.payload, copied: true } } : point
      })
      yield* write("reform", (client) => client.upsert(collection, { points, wait: true, ordering: "strong" }))
    }
  })

/** A collection of an older format, which lacks indexes and whose standings may lack a digest, can be written as it is. */
export const madeWritable = (qdrant: Qdrant, name: string) =>
  Effect.gen(function* () {
    yield* createIndexes(qdrant, name)
    const standings = yield* standingsIn(qdrant, name)
    const unread = [...standings.values()].filter(({ isRead }) => !isRead)
    yield* putStandings(qdrant, name, unread, false)
  })

export const say = ({ write }: Qdrant, collection: string, metadata: Record<string, unknown>) =>
  write("reform", (client) => client.updateCollection(collection, { metadata }))

/** The server answers false where there is none. */
export const drop = ({ read }: Qdrant, collection: string) =>
  Effect.uninterruptible(read("reform", Schema.Boolean, (client) => client.deleteCollection(collection)))

/** Makes the collection; false while another process fills it. */
const begun = (qdrant: Qdrant, own: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (yield* createCollection(qdrant, own, now)) return true
    const { filling = 0 } = yield* readForm(qdrant, own)
    if (now < filling + GIVEN_UP_MILLIS) return false
    yield* drop(qdrant, own)
    return yield* createCollection(qdrant, own, now)
  })

const modelsOf = ({ current, next }: Models) => [current, next].filter((model) => model !== undefined)

const makeRoom = (qdrant: Qdrant, own: string, { models }: Form, replaces: string) =>
  Effect.gen(function* () {
    yield* createIndexes(qdrant, own)
    for (const { dimensions, vector } of modelsOf(models)) {
      const dense = { size: dimensions, distance: "Cosine" as const }
      yield* qdrant.write("reform", (client) => client.createVectorName(own, vector, { dense }, { wait: true }))
    }
    const vectors = modelsOf(models).map(({ vector }) => [vector, vectorLayout] as const)
    yield* qdrant.write("reform", (client) =>
      client.updateCollection(own, {
        metadata: { ...models, replaces },
        ...defined({ vectors: vectors.length === 0 ? undefined : Object.fromEntries(vectors) })
      })
    )
  })

const copy = (qdrant: Qdrant, from: string, to: string, { models }: Form, filter: Filter) =>
  Effect.gen(function* () {
    const names = modelsOf(models)
    let said = yield* Clock.currentTimeMillis
    yield* eachPage(
      qdrant,
      from,
      filter,
      names.map(({ vector }) => vector),
      Effect.fnUntraced(function* (found) {
        const points = found.flatMap(({ payload, vector }) => {
          const memory = memoryIn(payload)
          if (memory === undefined) return []
          const { address, entry } = memory
          const vectors = { ...vectorsIn(vector, names), ...wordsOf(memory) }
          return [{ id: pointId(address, entry.id), payload: payloadOf(address, memory), vector: vectors }]
        })
        if (points.length > 0) {
          yield* qdrant.write("reform", (client) => client.upsert(to, { points, wait: true, ordering: "strong" }))
        }
        const now = yield* Clock.currentTimeMillis
        if (now < said + SAID_EVERY_MILLIS) return
        said = now
        yield* say(qdrant, to, { filling: now })
      })
    )
  })

/** Who has a standing that was copied, and nothing where it was copied from. */
const erasedIn = (qdrant: Qdrant, own: string, old: string) =>
  Effect.gen(function* () {
    const left = yield* standingsIn(qdrant, old)
    const copied = [...(yield* standingsIn(qdrant, own)).values()].filter(({ isCopied }) => isCopied)
    const gone: Array<Address> = []
    for (const { address, agent } of copied) {
      if (left.has(agent)) continue
      const filter = ofAssistant(address)
      const { count } = yield* qdrant.read("reform", CountAnswer, (client) =>
        client.count(old, { filter, exact: true })
      )
      if (count === 0) gone.push(address)
    }
    return gone
  })

/** What is left to do once the new collection has the alias. `isCopy` where it was filled from the old one. */
export const finishReplacing = (qdrant: Qdrant, name: string, old: string, isCopy: boolean) =>
  Effect.gen(function* () {
    const erased = isCopy ? erasedIn(qdrant, name, old) : Effect.succeed([])
    const gone = yield* Effect.catchIf(erased, isMissing, () => Effect.succeed([]))
    for (const address of gone) {
      const filter = ofAssistant(address)
      yield* qdrant.write("reform", (client) => client.delete(name, { filter, wait: true, ordering: "strong" }))
    }
    yield* drop(qdrant, old)
    yield* say(qdrant, name, { filling: null, replaces: null })
  })

interface Replacing {
  readonly name: string
  readonly old: string
  readonly own: string
  readonly form: Form
  readonly alone: Alone
}

const filledFrom = (qdrant: Qdrant, { alone, form, name, old, own }: Replacing) =>
  Effect.gen(function* () {
    yield* makeRoom(qdrant, own, form, old)
    const standings = yield* standingsIn(qdrant, old)
    yield* copy(qdrant, old, own, form, anyMemory())
    const late = Effect.gen(function* () {
      // Blocks are no part of the ledger: those of this moment are copied while no one here writes any.
      yield* copy(qdrant, old, own, form, anyMemory(["block"]))
      const unknown = [...(yield* standingsIn(qdrant, old)).values()].filter(({ agent }) => !standings.has(agent))
      const start = unknown.map((standing) => ({ ...standing, position: INDEX_START }))
      yield* putStandings(qdrant, own, [...standings.values(), ...start], true)
      yield* giveAlias(qdrant, name, own, true)
    })
    yield* alone(late)
  })

/** Fills the new collection and gives it the alias; false while another process does it. */
const replacedBy = (qdrant: Qdrant, name: string, own: string, alone: Alone) =>
  Effect.gen(function* () {
    const form = yield* readForm(qdrant, name)
    if (form.schema === FORMAT) return true
    const old = yield* targetOf(qdrant, name)
    if (!(yield* begun(qdrant, own))) return false
    yield* Effect.logInfo(`the index of memories is put into format ${FORMAT}; ${old} answers meanwhile`)
    // Who takes over need not wait then.
    yield* Effect.onError(filledFrom(qdrant, { name, old, own, form, alone }), () =>
      Effect.ignore(say(qdrant, own, { filling: 0 }))
    )
    yield* finishReplacing(qdrant, name, old, true)
    yield* Effect.logInfo(`the index of memories is in format ${FORMAT}`)
    return true
  })

/** Puts a collection of the present format in the place of an older one. Tries again until that is done. */
export const reforming = (qdrant: Qdrant, name: string, alone: Alone): Effect.Effect<void> =>
  replacedBy(qdrant, name, collectionOf(name, FORMAT), alone).pipe(
    Effect.tapError(({ message }) =>
      Effect.logWarning(`the index of memories could not be put into its present format: ${message}`)
    ),
    Effect.catch(() => Effect.succeed(false)),
    Effect.repeat({ schedule: Schedule.spaced(AGAIN_MILLIS), until: (isDone) => isDone }),
    Effect.asVoid
  )
