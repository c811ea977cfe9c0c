// Ordering: orders that a program gives: to one assistant, or to all of a tenant.
// Owns their options and sending one order to each. Leaves the single orders to the fleet, what they do to the statechart.
// What is forgotten is no order: the store is rewritten, no matter who works on it (`forgetting`).
// O1  An order resolves when it is durable; a reading shows whether the assistant has heard it.

import type { AssistantRecord } from "@reverie/ledger"
import { type AssistantId, defined, type Event, type Receipt, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import { arrive } from "@reverie/runtime"
import type { Compaction } from "@reverie/context"
import { envelopeOf } from "../letter.ts"
import { type CompactionReadings, compactionsIn, type Definitions, type FleetMemory } from "./memories.ts"
import { tagsOf } from "@reverie/assistant"
import { viewOf } from "../views/view.ts"
import type { DreamItem } from "../views/dream-account.ts"
import { type Core, tenantPage } from "./entry-source.ts"

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

/** Whether the model call of a tick waits, and not for a server that is away. */
const isHeldBack = (record: AssistantRecord): boolean => {
  const tags = tagsOf(record.state.status)
  return tags.includes("paused") && tags.includes("inTick") && viewOf(record).outage === undefined
}

// Letting go on: those whose model calls wait for a limit of the tenant try again at once.
// G1  Each that waits gets one order, durable, no matter which process works on it. One that waits for its server, or for itself, gets none.
// G2  A call that was refused by the limit before may not be committed as waiting yet: those get it a moment later.

/** How long it is waited for that all have theirs; in a crowd that goes on behind. */
const TELLING_MILLIS = 2_000
const LATE_MILLIS = 1_000

const tellHeldBack = Effect.fnUntraced(function* (tenant: TenantId) {
  const id = (yield* Random.nextIntBetween(0, 2 ** 48)).toString(36)
  yield* tellAll(tenant, `retry-${id}`, { type: "resume" }, isHeldBack)
})

export const letGoOn = Effect.fnUntraced(function* (tenant: TenantId) {
  const told = yield* Effect.forkDetach(tellHeldBack(tenant), { startImmediately: true })
  // Setting the same limit again reaches those who are later still.
  yield* Effect.forkDetach(Effect.ignoreCause(Effect.delay(tellHeldBack(tenant), LATE_MILLIS)))
  yield* Effect.timeoutOption(Fiber.join(told), TELLING_MILLIS)
})

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

/** More than any approval has. */
const MAX_APPROVAL_CHARS = 64

/** The id of a decision that is given none: one for one approval, so that of two decisions one is accepted. */
export const decisionKey = (to: string, event: Event): string | undefined =>
  event.type === "approval" && event.approval !== undefined && event.approval.length <= MAX_APPROVAL_CHARS
    ? `decision/${to}/${event.approval}`
    : undefined

/** For `fleet.stop`. */
export interface StopOptions extends OrderOptions {
  /** Which tick is meant; the one in progress when left out. */
  readonly tick?: number
  /** Why; it stands with the order. */
  readonly reason?: string
}

/** Ends one tick. The order names it: given twice it ends it once, and a late one ends no other. */
export const stopTick = async (
  post: Post,
  inspect: (id: string) => Promise<AssistantRecord | undefined>,
  to: string,
  { reason, tick, ...options }: StopOptions
): Promise<Receipt> => {
  const record = tick === undefined ? await inspect(to) : undefined
  const meant = tick ?? Math.max(1, record === undefined ? 1 : viewOf(record).tick)
  return await post(to, { type: "stop", tick: meant, ...defined({ reason }) }, { from: "person", ...options })
}

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

/**
 * `fleet.memory` of an open fleet: what assistants remember, and a person's orders about it. An order that names what is not there is
 * refused with MemoryUnknown, one whose text is empty with EnvelopeInvalid; then nothing is accepted.
 */
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
   * Writes what is right in the place of a fact that is wrong: the old one is superseded, the new one is the person's (`options.from`,
   * "person" when left out), found at once and put away by no dream. Retire the new one to undo it: then the old one holds again. What
   * poses as an instruction is held back, and corrects nothing. A fact that holds no more is refused with MemoryRefused, which names the
   * one that took its place.
   * @example await fleet.memory.correctFact("desk", "fact_12_0", "The ferry leaves at nine.")
   */
  readonly correctFact: (to: string, fact: string, text: string, options?: OrderOptions) => Promise<Receipt>
  /**
   * Adds a fact in a person's own words, as `correctFact` does, beside all others.
   * @example await fleet.memory.addFact("desk", "Berth 7 is closed until May.")
   */
  readonly addFact: (to: string, text: string, options?: OrderOptions) => Promise<Receipt>
  /**
   * Writes what is known of someone, in a person's own words (`options.from`, "person" when left out), beside what a profile says already;
   * it begins one where there is none. It is found at once, and no dream replaces it. `entity` is the id of a profile or a name.
   * @example await fleet.memory.addAttribute("desk", "Nora", "Prefers to be called in the evening.")
   */
  readonly addAttribute: (to: string, entity: string, text: string, options?: OrderOptions) => Promise<Receipt>
  /**
   * Writes what is right in the place of an attribute of a profile that is wrong: what it said stays behind it, and is found no more.
   * What a dream learns instead stands beside it from then on.
   * @example await fleet.memory.correctAttribute("desk", "nora", "a3", "Works at the shipyard.")
   */
  readonly correctAttribute: (
    to: string,
    entity: string,
    attribute: string,
    text: string,
    options?: OrderOptions
  ) => Promise<Receipt>
  /**
   * Removes an attribute of a profile.
   * @example await fleet.memory.removeAttribute("desk", "nora", "a3")
   */
  readonly removeAttribute: (to: string, entity: string, attribute: string, options?: OrderOptions) => Promise<Receipt>
  /**
   * Takes back what a person did last to an attribute: what it said before stands there again, what was removed is put back, what was
   * added is gone.
   * @example await fleet.memory.undoAttribute("desk", "nora", "a3")
   */
  readonly undoAttribute: (to: string, entity: string, attribute: string, options?: OrderOptions) => Promise<Receipt>
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
    deletePassage: (to, named) => {
      // As recall names it, too.
      const passage = named.replace(/^p\//, "")
      return post(to, { type: "deletePassage", passage }, { from: "person", id: `delete/${to}/${passage}` })
    },
    releaseFact: (to, fact) => post(to, { type: "releaseFact", fact }, { from: "person", id: `release/${to}/${fact}` }),
    retireFact: (to, fact, { reason } = {}) =>
      post(to, { type: "retireFact", fact, ...defined({ reason }) }, { from: "person", id: `retire/${to}/${fact}` }),
    correctFact: (to, fact, text, options = {}) =>
      post(to, { type: "writeFact", fact, text }, { from: "person", ...options }),
    addFact: (to, text, options = {}) => post(to, { type: "writeFact", text }, { from: "person", ...options }),
    addAttribute: (to, entity, text, options = {}) =>
      post(to, { type: "writeProfile", entity, text }, { from: "person", ...options }),
    correctAttribute: (to, entity, attribute, text, options = {}) =>
      post(to, { type: "writeProfile", entity, attribute, text }, { from: "person", ...options }),
    removeAttribute: (to, entity, attribute, options = {}) =>
      post(to, { type: "writeProfile", entity, attribute }, { from: "person", ...options }),
    undoAttribute: (to, entity, attribute, options = {}) =>
      post(to, { type: "writeProfile", entity, attribute, undo: true }, { from: "person", ...options }),
    acceptDream: (to, dream, { items, ...options } = {}) =>
      post(to, { type: "acceptDream", dream, ...defined({ items }) }, { from: "person", ...options }),
    undoDream: (to, dream, { items, reason, ...options } = {}) =>
      post(to, { type: "undoDream", dream, ...defined({ items, reason }) }, { from: "person", ...options })
  }
}
