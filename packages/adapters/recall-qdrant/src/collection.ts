// Collection: the one collection of a fleet, behind its alias.
// Owns making it, what is known of it in this process, and its vector models. Leaves its layout to `form.ts`, points and
// filters to `point.ts`, and another collection in its place to `reforming.ts`.
// L1  The alias is given last, when everything is there: half a collection is never used, and making it goes on where
//     it stopped.
// L3  A collection of a newer format, or of someone else, is not touched. One of an older format is searched and written
//     until a new one beside it has everything; then the alias goes over to that.
// L4  A collection that is gone is made anew, empty; the runtime fills it from the ledger.

import { RecallUnavailable } from "@reverie/memory"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { isMissing, type Qdrant } from "./client.ts"
import {
  collectionOf,
  createCollection,
  createIndexes,
  FORMAT,
  type Form,
  giveAlias,
  type Models,
  readForm,
  type StoredModel,
  vectorLayout
} from "./form.ts"
import { finishReplacing, madeWritable, reforming } from "./reforming.ts"

/** What another process changed meanwhile, a search finds out by itself. */
const RECENT_MILLIS = 5_000

export interface Collection {
  /** The alias, by which everything is addressed. */
  readonly name: string
  /** The models as the server had them a moment ago at the latest: a question asks for them each time. */
  readonly recentModels: Effect.Effect<Models, RecallUnavailable>
  /** The models as the server has them now. */
  readonly freshModels: Effect.Effect<Models, RecallUnavailable>
  /** What is known of it is asked again. */
  readonly forget: Effect.Effect<void>
  /** Writes the models down, and the layout of a new vector with them. */
  readonly setModels: (models: Models, added?: StoredModel) => Effect.Effect<void, RecallUnavailable>
  /** Runs something that needs the collection; when it is gone, it is made anew before the next time. */
  readonly use: <A, E>(
    run: (models: Models) => Effect.Effect<A, E | RecallUnavailable>
  ) => Effect.Effect<A, E | RecallUnavailable>
}

/** Makes a collection of the present format, and gives it the alias. */
const make = (qdrant: Qdrant, name: string): Effect.Effect<Form, RecallUnavailable> => {
  const own = collectionOf(name, FORMAT)
  return createCollection(qdrant, own).pipe(
    Effect.andThen(createIndexes(qdrant, own)),
    Effect.andThen(giveAlias(qdrant, name, own, false)),
    Effect.as({ schema: FORMAT, models: {} })
  )
}

/** Does in the background what a collection of an older format needs, once at a time. */
const reformingIn = (scope: Scope.Scope, work: Effect.Effect<void>) => {
  let isUnderWay = false
  const begin = Effect.suspend(() => {
    isUnderWay = true
    const end = Effect.sync(() => {
      isUnderWay = false
    })
    return Effect.asVoid(Effect.forkIn(Effect.ensuring(work, end), scope, { startImmediately: true }))
  })
  return { begin, isUnderWay: () => isUnderWay }
}

/** The form of the collection, of which everything is there that it needs. */
const looking = (qdrant: Qdrant, name: string, reform: ReturnType<typeof reformingIn>) =>
  Effect.gen(function* () {
    const form = yield* Effect.catchIf(readForm(qdrant, name), isMissing, () => make(qdrant, name))
    if (form.replaces !== undefined) {
      yield* finishReplacing(qdrant, name, form.replaces, form.filling !== undefined)
    }
    if (form.schema < FORMAT && !reform.isUnderWay()) {
      yield* madeWritable(qdrant, name)
      yield* reform.begin
    }
    return form
  })

const settingModels =
  ({ write }: Qdrant, name: string, known: Ref.Ref<Option.Option<Models>>): Collection["setModels"] =>
  (next, added) =>
    Effect.andThen(
      write("vectors", (client) =>
        client.updateCollection(name, {
          metadata: { current: next.current ?? null, next: next.next ?? null },
          ...(added && { vectors: { [added.vector]: vectorLayout } })
        })
      ),
      Ref.set(known, Option.some(next))
    )

/** `whole` runs something while no write of this process is under way. */
export const openCollection = (
  qdrant: Qdrant,
  name: string,
  whole: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
): Effect.Effect<Collection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const known = yield* Ref.make(Option.none<Models>())
    const forget = Ref.set(known, Option.none())
    const one = yield* Semaphore.make(1)
    const reform = reformingIn(yield* Effect.scope, Effect.ensuring(reforming(qdrant, name, whole), forget))
    let readAt = Number.NEGATIVE_INFINITY
    const look = Effect.gen(function* () {
      const { models } = yield* looking(qdrant, name, reform)
      yield* Ref.set(known, Option.some(models))
      readAt = yield* Clock.currentTimeMillis
      return models
    })
    const models = Effect.flatMap(Ref.get(known), (there) =>
      Option.isSome(there)
        ? Effect.succeed(there.value)
        : one.withPermit(
            Effect.flatMap(Ref.get(known), (now) => (Option.isSome(now) ? Effect.succeed(now.value) : look))
          )
    )
    const recentModels = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      now < readAt + RECENT_MILLIS && now >= readAt ? models : one.withPermit(look)
    )
    return {
      name,
      recentModels,
      freshModels: one.withPermit(look),
      forget,
      setModels: settingModels(qdrant, name, known),
      use: (run) =>
        Effect.flatMap(models, run).pipe(
          Effect.tapError((error) => (error instanceof RecallUnavailable && isMissing(error) ? forget : Effect.void))
        )
    }
  })
