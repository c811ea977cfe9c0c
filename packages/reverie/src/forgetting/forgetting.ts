// Forgetting: what is erased for good.
// Owns what may be named, the trial, and the order of erasing. Leaves what is left of a life to the ledger, topics to topics.ts, what a trial
// lists of what was said to said.ts.
// P1  The index is emptied of those who are rewritten, before and after: what it finds then is made of what is left.
// P2  What waits in the queue is emptied of it first, for all that are named: what can not be reached there is forgotten nowhere, and
//     is made up for when it is asked again. Afterwards once more, for what came in between.
// P3  A trial reads the same and writes nothing.
// P4  A segment that is lost holds up no forgetting of the rest: the receipt names it, and says what became of it.
// P6  What forgotten turns sent to other assistants goes from these too, with all that came of it, whichever was named (looking.ts). It is all
//     known before anything goes, and goes at once.
// P5  What was on its way from one assistant to another while this was done is looked for once more where it went, until nothing is found.
// P7  What can not be read for want of its data keys is forgotten whole like any other, and never in part.

import {
  type Bundle,
  type BundlePlace,
  Bundles,
  isUnopenedLife,
  MIN_FORGOTTEN_CHARS,
  soughtChars,
  type Ticks,
  withoutDamaged,
  withoutTicks
} from "@reverie/ledger"
import { type AssistantId, defined, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { emptyIndex, forgottenLife } from "@reverie/runtime"
import { WakeQueue } from "@reverie/mailbox"
import { loadLoro, placeOfId, Recall, RecallUnavailable } from "@reverie/memory"
import * as Clock from "effect/Clock"
import * as Option from "effect/Option"
import { EnvelopeInvalid } from "../errors.ts"
import type { Services } from "../opening/deployment.ts"
import type { Core } from "../fleet/entry-source.ts"
import { remakingWith } from "./block-remaking.ts"
import { HandingOn } from "./handing-on.ts"
import { assistantOf, type Found, looking, placesIn, type Search, type UnreadSegment } from "./looking.ts"
import { goingIn } from "./said.ts"
import { type ForgetFound, foundIn, textTopic, type Topic, topicOf } from "./topics.ts"

/**
 * What is to be forgotten, in one assistant, or in all of the tenant where none is named: one thing at a time. What names several, or
 * something that is not known here, is refused before anything is erased.
 */
export type Forgettable =
  /** All of one assistant: its name stays, and it is retired. */
  | Only<{ readonly assistant: string }>
  | Only<{ readonly everything: true }>
  /** What contains a text. At least 4 characters; the case of letters counts for nothing. A dry run lists what would go (`found`). */
  | Only<{ readonly text: string; readonly assistant?: string }>
  /**
   * What says a topic: each text with all of these words in one line, in any form and order. With a message goes its whole turn and what
   * was learnt of it. A dry run lists what would go (`found`).
   */
  | Only<{ readonly topic: string; readonly assistant?: string }>
  /**
   * What was said, with all that was answered, done and learnt of it: by a person, in messages (by their ids, `m/12/0`, of one
   * assistant), or in a span of time (in milliseconds since the epoch, both inclusive). What all of them mean, where
   * several are given.
   */
  | Only<Sayings>

/** Which of what was said is meant; what all of them mean, where several are given. */
export interface Sayings {
  /** What this person said. */
  readonly person?: string
  /** Messages by their ids, as `m/12/0`; `assistant` says whose. */
  readonly messages?: ReadonlyArray<string>
  /** From this moment on, in milliseconds since the epoch. */
  readonly since?: number
  /** Up to this moment, itself included. */
  readonly until?: number
  /** What was said to this assistant; to all of them when left out. */
  readonly assistant?: string
}

interface Nameable extends Sayings {
  readonly everything?: true
  readonly text?: string
  readonly topic?: string
}

/** These members, and none of the others. */
type Only<Named> = Named & { readonly [Name in Exclude<keyof Nameable, keyof Named>]?: never }

/** For `fleet.forget`. */
export interface ForgetOptions {
  /** Says what would go, and forgets nothing. */
  readonly dryRun?: boolean
}

export type { UnreadSegment }

/** What went, as numbers. */
export interface ForgetReceipt {
  /** When, in milliseconds since the epoch. */
  readonly at: number
  /** Whether it was a dry run, in which nothing went. */
  readonly dryRun: boolean
  /** How many assistants something went of. */
  readonly assistants: number
  /** How many of each kind: `entry`, `envelope`, `record`, `block`, `blob`, `dead-letter`, `prompt` and the like. */
  readonly gone: Readonly<Record<string, number>>
  /**
   * In a dry run: what says a topic or a text; of what was said the messages that go, and what was learnt of them. A receipt of what went has
   * no text.
   */
  readonly found?: ForgetFound
  /** Segments that are missing or damaged: what they held was not looked through. Left out where there is none. */
  readonly unread?: ReadonlyArray<UnreadSegment>
}

const eraseFrom = Effect.fnUntraced(function* (places: ReadonlyArray<BundlePlace>) {
  const recall = yield* Effect.serviceOption(Recall)
  if (Option.isNone(recall)) return
  for (const { assistant, tenant } of places) {
    if (assistant !== undefined) yield* Effect.provideService(emptyIndex({ tenant, assistant }), Recall, recall.value)
  }
})

/** Before anything was rewritten. */
const nothingYet = ({ cause, message }: RecallUnavailable): RecallUnavailable =>
  new RecallUnavailable({
    operation: "forget",
    message: `nothing was forgotten, for the index of memories does not answer (${message}); forget again when it does`,
    ...defined({ cause })
  })

const eraseFromQueue = (places: ReadonlyArray<BundlePlace>) =>
  WakeQueue.use((queue) =>
    queue.redact(places.flatMap(({ assistant, tenant }) => (assistant === undefined ? [] : [{ tenant, assistant }])))
  )

/** What is meant, and how it is taken out of a life. */
interface Meant {
  /** Undefined for all of it. */
  readonly without: Topic["without"] | undefined
  readonly topic: Topic | undefined
  readonly ticks: Ticks | undefined
}

/** So often it is looked for once more: who sends it on each time does not hold this up for ever. */
const MOST_ROUNDS = 8

/** Takes it out of lives, and out of those that it reached meanwhile. Answers these. */
const takingOut = Effect.fnUntraced(function* (
  named: ReadonlyArray<BundlePlace>,
  first: ReadonlyArray<Found>,
  search: Search
) {
  const reached: Array<Found> = []
  let found = first
  for (let round = 0; found.length > 0 && round < MOST_ROUNDS; round++) {
    const places = found.map(({ place }) => place)
    yield* round === 0 ? Effect.mapError(eraseFrom(places), nothingYet) : eraseFrom(places)
    yield* Bundles.use((bundles) => bundles.rewrite(places, search.change))
    yield* eraseFrom(places)
    yield* eraseFromQueue(places)
    const to = new Set(found.flatMap((each) => each.to))
    const next = yield* looking(
      named.filter(({ assistant }) => assistant !== undefined && to.has(assistant)),
      search
    )
    found = [...next.found]
    reached.push(...found)
  }
  return reached
})

const forgetting = Effect.fnUntraced(function* (
  tenant: TenantId,
  assistant: AssistantId | undefined,
  { ticks, topic, without }: Meant,
  dryRun: boolean
) {
  const at = yield* Clock.currentTimeMillis
  const handed = new HandingOn()
  const change = (there: Bundle): Bundle => {
    if (without === undefined) return forgottenLife(there, at)
    if (isUnopenedLife(there)) return there
    const letters = handed.to(assistantOf(there))
    return withoutDamaged(there, without(there, letters, handed.learn), letters.size > 0 ? undefined : ticks)
  }
  const named = yield* placesIn(tenant, assistant, without === undefined)
  const findIn = topic?.findIn ?? (ticks && goingIn)
  const search: Search = { tenant, handed, change, ...defined({ findIn: dryRun ? findIn : undefined }) }
  const { found, samples, unread } = yield* looking(named, search)
  if (!dryRun) {
    yield* eraseFromQueue([...named, ...found.map(({ place }) => place)])
    // Who is forgotten whole has retired, and nothing arrives there.
    found.push(...(yield* takingOut(without === undefined ? [] : named, found, search)))
  }
  // Of what is forgotten whole, copies that were made before are to be unreadable too; asked again, it is made up for.
  if (!dryRun && without === undefined) yield* Bundles.use((bundles) => bundles.shred(named))
  const gone: Record<string, number> = {}
  for (const each of found)
    for (const [kind, count] of Object.entries(each.gone)) gone[kind] = (gone[kind] ?? 0) + count
  const says = dryRun && findIn !== undefined ? foundIn(samples) : undefined
  return {
    at,
    dryRun,
    assistants: new Set(found.flatMap(({ place }) => place.assistant ?? [])).size,
    gone,
    ...defined({ found: says, unread: unread.length === 0 ? undefined : unread })
  } satisfies ForgetReceipt
})

const flaw = (message: string): EnvelopeInvalid => new EnvelopeInvalid({ message })

const placeOf = (id: string) => {
  const place = placeOfId(id)
  if (place === undefined) throw flaw(`${JSON.stringify(id)} is no message; one has an id like m/12/0`)
  return place
}

const SAID = ["messages", "person", "since", "until"] as const
const NAMED: ReadonlySet<string> = new Set(["assistant", "everything", "text", "topic", ...SAID])

/** Refuses what names several things, nothing, or what is not known: the rest of it would mean more than was meant. */
/** Callers without types name what they like. */
const assertTypes = (what: Nameable): void => {
  if (typeof what !== "object" || what === null) throw flaw("nothing to forget is named")
  for (const name of ["assistant", "person", "text", "topic"] as const) {
    if (name in what && typeof what[name] !== "string") throw flaw(`${name} is no text`)
  }
  for (const name of ["since", "until"] as const) {
    if (name in what && !Number.isFinite(what[name])) throw flaw(`${name} is no time; say it in milliseconds`)
  }
}

const assertOneThing = (what: Nameable): void => {
  const unknown = Object.keys(what ?? {}).find((name) => !NAMED.has(name))
  if (unknown !== undefined) throw flaw(`nothing is forgotten by ${JSON.stringify(unknown)}`)
  const empty = Object.entries(what ?? {}).find(([, value]) => value === undefined)
  if (empty !== undefined) throw flaw(`${empty[0]} is undefined; leave it out to forget all of an assistant`)
  assertTypes(what)
  if ("everything" in what && !what.everything) throw flaw("everything is true, or left out")
  const ways = (["everything", "text", "topic"] as const).filter((name) => name in what)
  const isSaid = SAID.some((name) => name in what)
  if (ways.length + (isSaid ? 1 : 0) > 1 || ("everything" in what && "assistant" in what)) {
    throw flaw(
      `one thing is forgotten at a time, and ${Object.keys(what).join(" and ")} are named; name an assistant, a text, a topic, ` +
        "what was said (by a person, in messages, in a span of time), or everything"
    )
  }
  if (ways.length === 0 && !isSaid && !("assistant" in what)) throw flaw("nothing to forget is named")
}

/** Which ticks; undefined where none is named. */
const ticksOf = (what: Sayings): Ticks | undefined => {
  const { assistant, messages, person, since, until } = what
  if (!SAID.some((name) => name in what)) return undefined
  if (person?.trim() === "") throw flaw("the person to forget has no name")
  if (messages !== undefined && assistant === undefined) throw flaw("messages are forgotten of one assistant; name it")
  if (!((since ?? 0) <= (until ?? Infinity))) throw flaw("the span to forget ends before it begins")
  return defined({ person, messages: messages?.map(placeOf), since, until })
}

/** Who is called when lives were rewritten, by what the tenants of a fleet share. */
const rewriteListeners = new WeakMap<object, Set<() => void>>()

/** Calls back when lives were rewritten; answers with what ends it. */
export const onRewritten =
  (shared: object) =>
  (listener: () => void): (() => void) => {
    const listeners = rewriteListeners.get(shared) ?? new Set()
    rewriteListeners.set(shared, listeners)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

/** Rejects with EnvelopeInvalid where the text could stand in anything, and where nothing could be meant. */
export const forgotten = async (
  run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>,
  core: Core,
  what: Forgettable,
  { dryRun = false }: ForgetOptions,
  shared: object
): Promise<ForgetReceipt> => {
  const named: Nameable = what
  assertOneThing(named)
  // Its length, too, is the same in each form of its letters.
  const text = named.text?.trim().normalize("NFC")
  if (text !== undefined && soughtChars(text) < MIN_FORGOTTEN_CHARS) {
    throw flaw(`the text to forget has fewer than ${MIN_FORGOTTEN_CHARS} characters`)
  }
  const remaking = remakingWith(await run(loadLoro))
  const sought = named.topic === undefined ? undefined : topicOf(named.topic, remaking)
  const topic = sought ?? (text === undefined ? undefined : textTopic(text))
  if (named.topic !== undefined && topic === undefined)
    throw flaw("the topic to forget has no word that says something")
  const ticks = ticksOf(named)
  const assistant = named.assistant === undefined ? undefined : core.address(named.assistant).assistant
  const meant: Topic["without"] | undefined =
    topic?.without ?? (ticks && ((there, letters, tell) => withoutTicks({ ...ticks, letters }, remaking, tell)(there)))
  const without: Topic["without"] | undefined =
    meant &&
    ((there, letters, tell) =>
      assistant === undefined || assistantOf(there) === assistant
        ? meant(there, letters, tell)
        : withoutTicks({ letters }, remaking, tell)(there))
  const receipt = await run(forgetting(core.tenant, assistant, { without, topic, ticks }, dryRun))
  if (!dryRun && receipt.assistants + Object.keys(receipt.gone).length > 0)
    for (const listener of rewriteListeners.get(shared) ?? []) listener()
  return receipt
}
