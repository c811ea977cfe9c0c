// Night: the group about what happens to memory while no one talks: compactions of the history, and dreams.
// Owns their views. Leaves compaction and dreaming to the runtime.
// N1  Of a list the long texts are cut; the compaction that is opened is whole, with the first MAX_COMPACTED messages it compacted.
// N2  Of a list of dreams the accounts are not read: what waits of each, and whether it is quiet, follows from the report and what is known
//     now. None is called quiet of which something came; one may not be called quiet whose proposals all came to nothing.

import { defined, isJsonObject } from "@reverie/protocol"
import type { Compaction, DreamAccount, DreamLine, Fact, Json, PlacedMessage, RetainedDetail } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, type CompactionView, Conflict } from "../../api/index.ts"
import { boundOf, clip, clipAll, LIST_CHARS, messageViewOf, TEXT_CHARS, WHOLE_CHARS } from "../../views/message-view.ts"
import { asking, changing, type ReadFleet } from "../../gateway.ts"
import { found, living } from "../../views/facts.ts"
import { Live } from "../../live.ts"
import { newestFirst, pageOf } from "../../views/paging.ts"

const MAX_COMPACTED = 1_000
const MAX_DETAILS = 300

/** The timer that the next night of an assistant is. */
const SLEEP_TIMER = "sleepTimer"

const viewOf = (compaction: Compaction, maxChars: number): CompactionView => {
  const { after, at, before, compacted_count: messages, id, summary, trigger, undone_at: undoneAt } = compaction
  return {
    id,
    at,
    reason: trigger,
    undone: undoneAt !== undefined,
    messages,
    beforeTokens: before.tokens,
    afterTokens: after.tokens,
    summary: clip(summary, maxChars),
    record: clipAll(compaction, maxChars) as Compaction
  }
}

/** Whether every call among the messages has its result among them. */
const arePairsWhole = (messages: ReadonlyArray<PlacedMessage>): boolean => {
  const answered = new Set(messages.flatMap(({ message }) => message.call ?? []))
  return messages.every(({ message }) => (message.calls ?? []).every(({ id }) => answered.has(id)))
}

const outcomeOf = async (fleet: ReadFleet, id: string, compaction: string, maxItems: number) => {
  const left = found(await fleet.compactions.outcome(id, compaction), `compaction ${compaction} of ${id}`)
  const shown = (list: ReadonlyArray<RetainedDetail>) => ({
    count: list.length,
    items: list.slice(0, maxItems).map((each) => ({ ...each, text: clip(each.text, LIST_CHARS) }))
  })
  const { inMemory, inSummary, lost, parts } = left
  return { inSummary: shown(inSummary), inMemory: shown(inMemory), lost: shown(lost), parts }
}

const opened = async (fleet: ReadFleet, id: string, wanted: string, isWhole: boolean) => {
  await living(fleet, id)
  const all = await fleet.compactions.list(id)
  const compaction = found(
    all.find((each) => each.id === wanted),
    `compaction ${wanted} of ${id}`
  )
  const compacted = await fleet.compactions.messages(id, compaction)
  const shown = compacted.slice(0, boundOf(isWhole, MAX_COMPACTED))
  const maxChars = boundOf(isWhole, TEXT_CHARS)
  return {
    compaction: { ...viewOf(compaction, boundOf(isWhole, WHOLE_CHARS)), pairsWhole: arePairsWhole(compacted) },
    compacted: shown.map((message) => messageViewOf(message, maxChars)),
    messages: shown.map((message) => clipAll(message, maxChars) as PlacedMessage),
    outcome: await outcomeOf(fleet, id, wanted, boundOf(isWhole, MAX_DETAILS))
  }
}

/** The night that a dream or a fact is of. */
const nightOf = (id: string): string | undefined => /^(?:dream|fact)_(\d+)(?:_|$)/.exec(id)?.[1]

/** What is put away when a person says so: facts that hold, and entries of the journal that are there, but what was declined. */
const forgettableOf = async (fleet: ReadFleet, id: string, facts: ReadonlyArray<Fact>) => {
  const journal = await fleet.memory.records(id, ["journal"])
  const holding = facts.flatMap(({ id: fact, kept, state }) =>
    state === "active" && kept !== true ? [`fact/${fact}`] : []
  )
  const entries = journal.filter(({ value }) => !isJsonObject(value) || value["kept"] !== true)
  return new Set([...holding, ...entries.map(({ key }) => `episode/${key}`)])
}

/** Nothing came of a step: what was proposed and not accepted may have been said again. */
const isIdle = ({ accepted, operation, proposed }: DreamLine): boolean =>
  accepted === 0 && (operation !== "consolidating" || proposed === 0)

/** The reports, each with what waits of it and whether it is quiet. */
const reportsOf = async (fleet: ReadFleet, id: string) => {
  const reports = await fleet.memory.dreams(id)
  const facts = reports.length === 0 ? [] : await fleet.memory.facts(id)
  const byNight = Map.groupBy(facts, (fact) => nightOf(fact.id))
  const wouldForget = reports.some(({ would_forget: items = [] }) => items.length > 0)
  const forgettable = wouldForget ? await forgettableOf(fleet, id, facts) : new Set<string>()
  return reports.map((report) => {
    const learnt = byNight.get(nightOf(report.id)) ?? []
    const proposed = learnt.filter(({ state }) => state === "proposed").length
    const wouldGo = report.undone_at === undefined ? (report.would_forget ?? []) : []
    const waiting = proposed + wouldGo.filter((item) => forgettable.has(item)).length
    const isQuiet = learnt.length + waiting === 0 && report.lines.every(isIdle)
    return { ...report, waiting, isQuiet }
  })
}

const dreamsOf = async (fleet: ReadFleet, id: string) => {
  const { state } = await living(fleet, id)
  const reports = await reportsOf(fleet, id)
  const { sleep } = (await fleet.definitions()).find(({ name }) => name === state.definition) ?? {}
  return {
    items: reports,
    schedule: sleep === undefined ? null : (sleep as unknown as Json),
    nextAt: state.timers.find(({ name }) => name === SLEEP_TIMER)?.dueAt ?? null
  }
}

const dreamOf = async (fleet: ReadFleet, id: string, dream: string) => {
  await living(fleet, id)
  return found(await fleet.memory.dream(id, dream), `dream ${dream} of ${id}`)
}

/** Throws about a dream of which nothing waits for a person. */
const assertWaiting = (account: DreamAccount) => {
  if ([...account.learnt, ...account.forgotten].some(({ waits }) => waits === true)) return
  throw new Conflict({ message: `nothing of ${account.id} waits for a person`, hint: "its account says what does" })
}

/** Throws about a dream that was taken back. */
const assertStanding = (account: DreamAccount) => {
  if (account.undoneAt === undefined) return
  throw new Conflict({ message: `${account.id} was taken back already`, hint: "its account says what became of it" })
}

export const nightLive = HttpApiBuilder.group(
  Api,
  "night",
  Effect.fnUntraced(function* (handlers) {
    const { isWhole } = yield* Live
    return handlers.handleAll({
      compactions: ({ params: { id }, query }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          const { items, next } = pageOf(
            newestFirst(await fleet.compactions.list(id), (each) => each),
            (each) => each,
            query
          )
          const current = (await fleet.compactions.historyStart(id))?.compaction ?? null
          const hold = (await fleet.compactions.hold(id)) ?? null
          return { items: items.map((each) => viewOf(each, boundOf(isWhole, LIST_CHARS))), next, current, hold }
        }),
      compaction: ({ params: { compaction, id } }) => asking((fleet) => opened(fleet, id, compaction, isWhole)),
      undoCompaction: ({ params: { compaction, id } }) =>
        changing("night.undo-compaction", `${id}/${compaction}`, async (fleet) => {
          const all = await fleet.compactions.list((await living(fleet, id)).address.assistant)
          found(
            all.find((each) => each.id === compaction),
            `compaction ${compaction} of ${id}`
          )
          return fleet.compactions.undo(id, compaction)
        }),
      releaseHistory: ({ headers: { "idempotency-key": key }, params: { id } }) =>
        changing("night.release-history", id, async (fleet) => {
          await living(fleet, id)
          return fleet.compactions.release(id, defined({ id: key }))
        }),
      window: ({ params: { id } }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          return fleet.compactions.window(id)
        }),
      dreams: ({ params: { id } }) => asking((fleet) => dreamsOf(fleet, id)),
      dream: ({ params: { dream, id } }) =>
        asking(async (fleet) => clipAll(await dreamOf(fleet, id, dream), boundOf(isWhole, TEXT_CHARS)) as DreamAccount),
      acceptDream: ({ headers: { "idempotency-key": key }, params: { dream, id }, payload }) =>
        changing("night.accept-dream", `${id}/${dream}`, async (fleet) => {
          assertWaiting(await dreamOf(fleet, id, dream))
          return fleet.memory.acceptDream(id, dream, { ...payload, ...defined({ id: key }) })
        }),
      undoDream: ({ headers: { "idempotency-key": key }, params: { dream, id }, payload }) =>
        changing("night.undo-dream", `${id}/${dream}`, async (fleet) => {
          assertStanding(await dreamOf(fleet, id, dream))
          return fleet.memory.undoDream(id, dream, { ...payload, ...defined({ id: key }) })
        })
    })
  })
)
