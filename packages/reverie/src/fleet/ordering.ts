// Ordering: orders that a program gives: to one assistant, or to all of a tenant.
// Owns their options and sending one order to each. Leaves the single orders to the fleet, what they do to the statechart.
// What is forgotten is no order: the store is rewritten, no matter who works on it (`forgetting`).
// O1  An order resolves when it is durable; a reading shows whether the assistant has heard it.

import {
  type AssistantRecord,
  type Bundle,
  type BundlePlace,
  bundleOfParts,
  Bundles,
  goneBetween,
  MIN_FORGOTTEN_CHARS,
  type Ticks,
  withoutText,
  withoutTicks
} from "@reverie/ledger"
import { type AssistantId, defined, type Event, type Receipt, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { arrive, forgottenLife } from "@reverie/runtime"
import { placeOfId, Recall } from "@reverie/memory"
import * as Clock from "effect/Clock"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Compaction } from "@reverie/context"
import { EnvelopeInvalid } from "../errors.ts"
import { envelopeOf } from "../letter.ts"
import type { Services } from "../opening/deployment.ts"
import { type CompactionReadings, compactionsIn, type Definitions, type FleetMemory } from "./memories.ts"
import type { DreamItem } from "../views/dream-account.ts"
import { type Core, tenantPage } from "./entry-source.ts"
import { type ForgetFound, type ForgetSample, foundIn, type Topic, topicOf } from "./topics.ts"

/** Sends one event, as `fleet.post` does. */
export type Post = (
  to: string,
  event: Event,
  options?: { readonly id?: string; readonly from?: string }
) => Promise<Receipt>

// Orders: one event for every assistant of a tenant.
// O1  Every assistant that exists when the order is given gets it; one that has retired does not.

const PAGE = 500
const AT_ONCE = 16

/** Gives the order to each that it concerns; answers to how many. `id` names the order, and with it each envelope. */
const tellAll = Effect.fnUntraced(function* (
  tenant: TenantId,
  id: string,
  event: Event,
  concerns: (record: AssistantRecord) => boolean
) {
  let after: AssistantId | undefined
  let told = 0
  while (true) {
    const page = yield* tenantPage(tenant, after, PAGE)
    const meant = page.filter(concerns)
    yield* Effect.forEach(
      meant,
      ({ address: { assistant } }) =>
        Effect.flatMap(
          Effect.fromResult(envelopeOf({ id: `${id}/${assistant}`, tenant, to: assistant, from: "person", event })),
          // One that has retired since the page was read needs no order.
          (envelope) => Effect.catchTag(Effect.asVoid(arrive(envelope)), "UnknownAssistant", () => Effect.void)
        ),
      { concurrency: AT_ONCE, discard: true }
    )
    told += meant.length
    after = page.at(-1)?.address.assistant
    if (page.length < PAGE) return told
  }
})

const isAlive = ({ state }: AssistantRecord): boolean => state.status !== "retired"

export const haltAll = (tenant: TenantId, id: string, reason: string) =>
  tellAll(tenant, `halt-${id}`, { type: "halt", reason }, isAlive)

/** An order to halt may not have been heard yet: an assistant with waiting messages gets this one too. */
export const resumeAll = (tenant: TenantId, id: string) =>
  tellAll(
    tenant,
    `resume-${id}`,
    { type: "resume" },
    (record) => isAlive(record) && (record.state.status === "halted" || record.waiting > 0)
  )

/** For every order to one assistant. */
export interface OrderOptions {
  /** Idempotency key: the same id is accepted once. A fresh one when left out. */
  readonly id?: string
  /** Who gives the order. "person" when left out. */
  readonly from?: string
}

/** For `fleet.approve` and `fleet.deny`. */
export interface DecisionOptions extends OrderOptions {
  /** The model reads it. */
  readonly note?: string
}

export const decisionOf = (approval: string, decision: "approved" | "denied", note: string | undefined): Event => ({
  type: "approval",
  approval,
  decision,
  ...defined({ note })
})

/** For `fleet.sleep`. */
export interface SleepOptions extends OrderOptions {
  /** How long at most, in milliseconds; `settings.sleepMs` when neither is given. */
  readonly forMs?: number
  /** Until when, in milliseconds since the epoch; heard after that, the order means nothing any more. */
  readonly until?: number
}

/** `fleet.compactions`: how histories were compacted, and orders to do or undo it. */
export interface FleetCompactions extends CompactionReadings {
  /**
   * Compacts the older part of an assistant's history now, however full its window is; awake or asleep, it goes on where it
   * was. The order waits behind the mail before it, and is skipped with a reason when there is nothing to compact.
   * @throws UnknownAssistant, IdInvalid
   * @example await fleet.compactions.run("desk")
   */
  readonly run: (to: string, options?: OrderOptions) => Promise<Receipt>
  /**
   * Takes a compaction back, and those that came after it. The same order twice is one. What it brought back stays until
   * `release`, an order to compact, or an overflow of the window, which is then in the record of the compaction.
   */
  readonly undo: (to: string, compaction: Compaction["id"]) => Promise<Receipt>
  /** Lets the history be compacted again when its time comes, after an undo. */
  readonly release: (to: string, options?: OrderOptions) => Promise<Receipt>
}

export const openCompactions = (core: Core, post: Post, definitions: Definitions): FleetCompactions => ({
  ...compactionsIn(core, definitions),
  release: (to, options = {}) => post(to, { type: "releaseHistory" }, { from: "person", ...options }),
  run: (to, options = {}) => post(to, { type: "compact" }, { from: "person", ...options }),
  undo: (to, compaction) =>
    post(to, { type: "undoCompaction", compaction }, { from: "person", id: `unfold/${to}/${compaction}` })
})

/** For `fleet.memory.retireFact`. */
export interface RetireFactOptions {
  /** Why; it stands with the fact from then on. "retired by a person" when left out. */
  readonly reason?: string
}

/** For `fleet.memory.acceptDream`. */
export interface AcceptDreamOptions extends OrderOptions {
  /** What of it, as its account names each (`fact/fact_12_0`); all that waits when left out. */
  readonly items?: ReadonlyArray<DreamItem["item"]>
}

/** For `fleet.memory.undoDream`. */
export interface UndoDreamOptions extends OrderOptions {
  /** What of it, as its account names each (`fact/fact_12_0`); all of it when left out. */
  readonly items?: ReadonlyArray<DreamItem["item"]>
  /** Why; it stands with the facts that are retired. "dream_12 was undone" when left out. */
  readonly reason?: string
}

/** `fleet.memory` of an open fleet: what assistants remember, and a person's orders about it. */
export interface FleetMemories extends FleetMemory {
  /** Deletes a text that was put away (`store_memory`): it is found no more. The same order twice is one. */
  readonly deletePassage: (to: string, passage: string) => Promise<Receipt>
  /**
   * Lets what waits of a dream be done (`sleep.review`): proposed facts hold, and replace what they were to replace; what it would put
   * away is put away. Decline with `undoDream`.
   * @example await fleet.memory.acceptDream("desk", "dream_12", { items: ["fact/fact_12_0"] })
   */
  readonly acceptDream: (to: string, dream: string, options?: AcceptDreamOptions) => Promise<Receipt>
  /**
   * Releases a fact from quarantine, or one that is proposed: it is believed, found and dreamt of like any other. The same order twice is
   * one.
   */
  readonly releaseFact: (to: string, fact: string) => Promise<Receipt>
  /**
   * Retires a fact that is wrong: it is found no more, profiles lose what came of it, and a fact whose place it took holds again.
   * From the messages it came from it is not learnt again in the same words. The same order twice is one.
   * @example await fleet.memory.retireFact("desk", "fact_12_0", { reason: "it was a joke" })
   */
  readonly retireFact: (to: string, fact: string, options?: RetireFactOptions) => Promise<Receipt>
  /**
   * Takes back what a dream made of a memory, all of it or some `items` of its account, in one commit: what it learnt is retired, and
   * what it linked, replaced, confirmed, wrote into profiles and put away is as it was before that night. What was learnt elsewhere since
   * stays. A dream that is not over yet, and one of which nothing is left, are passed over with the reason.
   * @example await fleet.memory.undoDream("desk", "dream_12", { reason: "the radio was on" })
   */
  readonly undoDream: (to: string, dream: string, options?: UndoDreamOptions) => Promise<Receipt>
}

export const openMemories = (readings: FleetMemory, post: Post): FleetMemories => {
  return {
    ...readings,
    deletePassage: (to, passage) =>
      post(to, { type: "deletePassage", passage }, { from: "person", id: `delete/${to}/${passage}` }),
    releaseFact: (to, fact) => post(to, { type: "releaseFact", fact }, { from: "person", id: `release/${to}/${fact}` }),
    retireFact: (to, fact, { reason } = {}) =>
      post(to, { type: "retireFact", fact, ...defined({ reason }) }, { from: "person", id: `retire/${to}/${fact}` }),
    acceptDream: (to, dream, { items, ...options } = {}) =>
      post(to, { type: "acceptDream", dream, ...defined({ items }) }, { from: "person", ...options }),
    undoDream: (to, dream, { items, reason, ...options } = {}) =>
      post(to, { type: "undoDream", dream, ...defined({ items, reason }) }, { from: "person", ...options })
  }
}

// Forgetting: what is erased for good.
// P1  The index is emptied of those who are rewritten, before and after: what it finds then is made of what is left.
// P2  A trial reads the same and writes nothing.

/** What is to be forgotten, in one assistant, or in all of the tenant where none is named. */
export type Forgettable =
  /** All of one assistant: its name stays, and it is retired. */
  | { readonly assistant: string }
  | { readonly everything: true }
  /** What contains a text. At least 4 characters; the case of letters counts for nothing. */
  | { readonly text: string; readonly assistant?: string }
  /**
   * What says a topic: each text with all of these words in one line, in any form and order. With a message goes its whole turn and what
   * was learnt of it. A dry run lists what would go (`found`).
   */
  | { readonly topic: string; readonly assistant?: string }
  /**
   * What was said, with all that was answered, done and learnt of it: by a person, in messages (by their ids, `m/12/0`, of one
   * assistant), or in a span of time (in milliseconds since the epoch, both inclusive). What all of them mean, where
   * several are given.
   */
  | Sayings

interface Sayings {
  readonly person?: string
  readonly messages?: ReadonlyArray<string>
  readonly since?: number
  readonly until?: number
  readonly assistant?: string
}

/** For `fleet.forget`. */
export interface ForgetOptions {
  /** Says what would go, and forgets nothing. */
  readonly dryRun?: boolean
}

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
  /** Of a topic, in a dry run: what says it. A receipt of what went has no text. */
  readonly found?: ForgetFound
}

const placesIn = Effect.fnUntraced(function* (tenant: TenantId, assistant: AssistantId | undefined) {
  if (assistant !== undefined) return [{ tenant, assistant }] as ReadonlyArray<BundlePlace>
  const places: Array<BundlePlace> = [{ tenant }]
  let after: AssistantId | undefined
  while (true) {
    const page = yield* tenantPage(tenant, after, PAGE)
    places.push(...page.map(({ address }) => address))
    after = page.at(-1)?.address.assistant
    if (page.length < PAGE) return places
  }
})

const standing = (place: BundlePlace) =>
  Bundles.use((bundles) => {
    const { assistant, tenant } = place
    const parts = assistant === undefined ? bundles.packTenant(tenant) : bundles.pack({ tenant, assistant })
    return Effect.map(Stream.runCollect(parts), bundleOfParts)
  })

const eraseFrom = Effect.fnUntraced(function* (places: ReadonlyArray<BundlePlace>) {
  const recall = yield* Effect.serviceOption(Recall)
  if (Option.isNone(recall)) return
  for (const { assistant, tenant } of places)
    if (assistant !== undefined) yield* recall.value.erase({ tenant, assistant })
})

const forgetting = Effect.fnUntraced(function* (
  tenant: TenantId,
  assistant: AssistantId | undefined,
  without: ((there: Bundle) => Bundle) | undefined,
  topic: Topic | undefined,
  dryRun: boolean
) {
  const at = yield* Clock.currentTimeMillis
  const change = without ?? ((there: Bundle): Bundle => forgottenLife(there, at))
  const samples: Array<ForgetSample> = []
  const found: Array<{ readonly place: BundlePlace; readonly gone: Readonly<Record<string, number>> }> = []
  const named = yield* placesIn(tenant, assistant)
  for (const place of named) {
    const there = yield* standing(place)
    const made = change(there)
    const gone = goneBetween(there, made)
    const isSame = JSON.stringify(made.head) === JSON.stringify(there.head) && Object.keys(gone).length === 0
    if (!isSame) found.push({ place, gone })
    if (dryRun && topic !== undefined) samples.push(...topic.findIn(there))
  }
  const places = found.map(({ place }) => place)
  if (!dryRun && places.length > 0) {
    yield* eraseFrom(places)
    yield* Bundles.use((bundles) => bundles.rewrite(places, change))
    yield* eraseFrom(places)
  }
  // Of what is forgotten whole, copies that were made before are to be unreadable too; asked again, it is made up for.
  if (!dryRun && without === undefined) yield* Bundles.use((bundles) => bundles.shred(named))
  const gone: Record<string, number> = {}
  for (const each of found)
    for (const [kind, count] of Object.entries(each.gone)) gone[kind] = (gone[kind] ?? 0) + count
  const assistants = places.filter((place) => place.assistant !== undefined).length
  const says = dryRun && topic !== undefined ? foundIn(samples) : undefined
  return { at, dryRun, assistants, gone, ...defined({ found: says }) } satisfies ForgetReceipt
})

const flaw = (message: string): EnvelopeInvalid => new EnvelopeInvalid({ message })

const placeOf = (id: string) => {
  const place = placeOfId(id)
  if (place === undefined) throw flaw(`${JSON.stringify(id)} is no message; one has an id like m/12/0`)
  return place
}

const SAID = ["messages", "person", "since", "until"] as const

/** Which ticks; undefined where none is named. One that is named as undefined is a mistake: without it all would go. */
const ticksOf = (what: Sayings): Ticks | undefined => {
  const { assistant, messages, person, since, until } = what
  const empty = SAID.find((name) => name in what && what[name] === undefined)
  if (empty !== undefined) throw flaw(`${empty} is undefined; leave it out to forget all of an assistant`)
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
  const text = "text" in what ? what.text.trim() : undefined
  if (text !== undefined && text.length < MIN_FORGOTTEN_CHARS) {
    throw flaw(`the text to forget has fewer than ${MIN_FORGOTTEN_CHARS} characters`)
  }
  const named = "assistant" in what ? what.assistant : undefined
  const topic = "topic" in what ? topicOf(what.topic) : undefined
  if ("topic" in what && topic === undefined) throw flaw("the topic to forget has no word that says something")
  const ticks = "text" in what || "everything" in what || "topic" in what ? undefined : ticksOf(what)
  const without = text === undefined ? (topic?.without ?? (ticks && withoutTicks(ticks))) : withoutText(text)
  if (without === undefined && named === undefined && !("everything" in what)) throw flaw("nothing to forget is named")
  const assistant = named === undefined ? undefined : core.address(named).assistant
  const receipt = await run(forgetting(core.tenant, assistant, without, topic, dryRun))
  if (!dryRun && receipt.assistants + Object.keys(receipt.gone).length > 0)
    for (const listener of rewriteListeners.get(shared) ?? []) listener()
  return receipt
}
