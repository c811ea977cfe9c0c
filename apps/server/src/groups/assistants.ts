// Assistants: the group about who lives in the fleet, and the orders they are given.
// Owns lists, creations and orders by HTTP. Leaves order and pages of a list to board/, what an order does to the statechart.
// A1  An order to no one is `NotFound`; one that means nothing in the present state is accepted, as any event is.

import { defined } from "@reverie/protocol"
import type { AssistantRecord, Fleet, Forgettable, LimitsRequest, Receipt } from "reverie"
import { activityOf, tagsOf, viewOf } from "reverie/look"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { AssistantsApi, type Order } from "../api/assistants.ts"
import type { AssistantDetail, AssistantRow, StoredAssistant } from "../api/fleet/rows.ts"
import { Forbidden } from "../api/errors.ts"
import { asking, changing, costing, type ReadFleet } from "../gateway.ts"
import type { Filter, Question, Tags } from "../board/choice.ts"
import type { GroupQuestion } from "../board/groups.ts"
import { Live } from "../live.ts"
import { living, livingOrUnread } from "../views/facts.ts"

/** What an order says besides its name. */
interface Said {
  readonly order: typeof Order.Type
  readonly reason?: string
  readonly forMs?: number
  readonly tick?: number
  readonly id?: string
}

const keyOf = (id: string | undefined) => (id === undefined ? {} : { id })

const give = (fleet: Fleet, to: string, { forMs, id, order, reason, tick }: Said): Promise<Receipt> => {
  const options = keyOf(id)
  switch (order) {
    case "wake":
      return fleet.wake(to, reason, options)
    case "sleep":
      return fleet.sleep(to, { ...options, ...defined({ forMs }) })
    case "compact":
      return fleet.compactions.run(to, options)
    case "stop":
      return fleet.stop(to, { ...options, ...defined({ reason, tick }) })
    case "halt":
      return fleet.halt(to, reason ?? "halted by order", options)
    case "resume":
      return fleet.resume(to, options)
    case "retire":
      return fleet.retire(to, reason, options)
  }
}

const detailOf = (row: AssistantRow, record: AssistantRecord): AssistantDetail => {
  const { accepts, approvals, receives, iteration, jobs, tick, timers } = viewOf(record)
  return { ...row, accepts, receives, jobs, timers, approvalsAsked: approvals, tick, iteration }
}

const storedOf = (record: AssistantRecord): StoredAssistant => {
  const view = viewOf(record)
  return { ...view, activity: activityOf(view.state), tags: tagsOf(view.state) }
}

/** As no id is written that could not be one, what is no beginning of an id begins none. */
const BEGINNING = /^[A-Za-z0-9._:@#+-]{0,128}$/

/** Ids stand in the order of their characters, so that those with one beginning stand together. */
const pageFrom = async (fleet: ReadFleet, start: string, after: string | undefined, limit: number) => {
  if (!BEGINNING.test(start)) return []
  // A page tells what is after an id: the one that is the beginning itself is looked for apart.
  const self = after === undefined && start !== "" ? await fleet.inspect(start) : undefined
  const others = await fleet.list(after ?? (start === "" ? undefined : start), limit)
  return [...(self === undefined ? [] : [self]), ...others]
    .filter(({ address }) => address.assistant.startsWith(start))
    .slice(0, limit)
}

/** Records that are looked at together for those of one definition. */
const LOOKED_AT = 500

/** The labels of the definitions; they are looked for where something is asked by label. */
const labelsOf = async (fleet: Pick<ReadFleet, "definitions">, isAsked: boolean): Promise<Tags> =>
  new Map(isAsked ? (await fleet.definitions()).map(({ name, tags }) => [name, tags] as const) : [])

type Boards = Live["Service"]["boards"]

const listOf = async (fleet: ReadFleet, boards: Boards, question: Question) => {
  const tags = await labelsOf(fleet, question.tag !== undefined)
  return (await boards.of(fleet.tenant)).list({ ...question, tags }, Date.now())
}

const groupsOf = async (fleet: ReadFleet, boards: Boards, question: GroupQuestion) => {
  const tags = await labelsOf(fleet, question.by === "tag" || question.tag !== undefined)
  return (await boards.of(fleet.tenant)).groups({ ...question, tags }, Date.now())
}

const pageOfDefinition = async (
  fleet: ReadFleet,
  isMeant: (definition: string) => boolean,
  start: string,
  cursor: string | undefined,
  limit: number
) => {
  const found: Array<AssistantRecord> = []
  let after = cursor
  while (found.length < limit) {
    const looked = await pageFrom(fleet, start, after, LOOKED_AT)
    found.push(...looked.filter(({ state }) => isMeant(state.definition)))
    if (looked.length < LOOKED_AT) break
    after = looked.at(-1)?.address.assistant
  }
  return found.slice(0, limit)
}

const HOUR_MILLIS = 3_600_000
const HOURS = 24

/** Tokens of the last 24 hours, an hour each: what one costs does not grow with the fleet, for each has an index of its own. */
const hourlyOf = async (fleet: Pick<ReadFleet, "usage">, ids: ReadonlyArray<string>, now: number) => {
  const first = Math.floor(now / HOUR_MILLIS) - HOURS + 1
  const from = first * HOUR_MILLIS
  const items = await Promise.all(
    ids.map(async (id) => {
      const tokens = Array.from({ length: HOURS }, () => 0)
      const { rows } = await fleet.usage({ assistant: id, by: "hour", from, limit: HOURS + 1 })
      for (const row of rows) {
        const place = Date.parse(row.key) / HOUR_MILLIS - first
        if (place >= 0 && place < HOURS) tokens[place] = row.tokens
      }
      return { id, tokens }
    })
  )
  return { from, items }
}

interface ViewsAsked {
  readonly start?: string
  readonly definition?: string
  readonly tag?: string
  readonly limit: number
  readonly cursor?: string
}

const viewsOf = async (fleet: ReadFleet, asked: ViewsAsked, ownTenant: string) => {
  const { cursor, definition, limit, start = "", tag } = asked
  const tags = await labelsOf(fleet, tag !== undefined)
  const isMeant = (name: string): boolean =>
    (definition === undefined || name === definition) && (tag === undefined || tags.get(name)?.includes(tag) === true)
  const records =
    definition === undefined && tag === undefined
      ? await pageFrom(fleet, start, cursor, limit + 1)
      : await pageOfDefinition(fleet, isMeant, start, cursor, limit + 1)
  const items = records.slice(0, limit).map(storedOf)
  const next = records.length > limit ? (items.at(-1)?.id ?? null) : null
  const totals = fleet.tenant === ownTenant ? await fleet.monitor.totals() : undefined
  return { items, next, ...defined({ totals }) }
}

const AT_ONCE = 16

const giveAll = async (fleet: Fleet, ids: ReadonlyArray<string>, said: Said): Promise<number> => {
  let told = 0
  for (let first = 0; first < ids.length; first += AT_ONCE) {
    const outcomes = await Promise.allSettled(ids.slice(first, first + AT_ONCE).map((id) => give(fleet, id, said)))
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") told++
      // An assistant that has retired meanwhile needs no order.
      else if (Reflect.get(Object(outcome.reason), "_tag") !== "UnknownAssistant") throw outcome.reason
    }
  }
  return told
}

/** Whom an order for many is for. */
interface Meant extends Filter {
  readonly ids?: ReadonlyArray<string>
}

const meantBy = async (
  boards: Live["Service"]["boards"],
  fleet: Pick<ReadFleet, "definitions" | "tenant">,
  { ids, ...filter }: Meant
) => {
  const board = await boards.of(fleet.tenant)
  const meant = await board.meant(filter, Date.now(), await labelsOf(fleet, filter.tag !== undefined))
  if (ids === undefined) return meant
  const wanted = new Set(ids)
  return meant.filter((id) => wanted.has(id))
}

const MAX_NAMED = 100

const orderAll = (
  boards: Live["Service"]["boards"],
  { dryRun = false, ...payload }: Said & Meant & { readonly dryRun?: boolean }
) => {
  if (dryRun) {
    return asking(async (fleet) => {
      const meant = await meantBy(boards, fleet, payload)
      return { matched: meant.length, told: 0, ids: meant.slice(0, MAX_NAMED) }
    })
  }
  return changing("assistants.orderAll", payload.order, async (fleet) => {
    const meant = await meantBy(boards, fleet, payload)
    const told = await giveAll(fleet, meant, payload)
    return { matched: meant.length, told, ids: meant.slice(0, MAX_NAMED) }
  })
}

interface Forgetting {
  readonly assistant?: string
  readonly text?: string
  readonly topic?: string
  readonly everything?: true
  readonly person?: string
  readonly messages?: ReadonlyArray<string>
  readonly since?: number
  readonly until?: number
}

/** The log of changes says whose it was: what was forgotten would stand there for good. */
const forgottenOf = ({ assistant, messages, person, since, text, topic, until }: Forgetting): string => {
  const named = [
    text === undefined ? [] : "a text",
    topic === undefined ? [] : "a topic",
    person === undefined ? [] : "a person",
    messages === undefined ? [] : `${messages.length} messages`,
    since === undefined && until === undefined ? [] : "a span of time"
  ].flat()
  return `${named.length === 0 ? "all" : named.join(", ")} of ${assistant ?? "everyone"}`
}

const budgetWords = (budget: Readonly<Record<string, number | null | undefined>>): string =>
  Object.entries(budget)
    .map(([measure, most]) => `${measure} ${most ?? "unlimited"}`)
    .join(", ")

const budgetsOf = async ({ monitor, tenant }: ReadFleet, boards: Live["Service"]["boards"], limit: number) => {
  const found = await (await boards.of(tenant)).budgets(Date.now(), limit)
  return { ...found, tenant: await monitor.limits() }
}

interface LimitsAsked extends LimitsRequest {
  readonly tenant?: string
}

/** Whose money it is decides: no tenant raises its own limits. */
const setLimits = ({ tenant, ...request }: LimitsAsked, ownTenant: string) =>
  changing(
    "assistants.setLimits",
    `${budgetWords(request)}${tenant === undefined ? "" : ` for ${tenant}`}`,
    (fleet) => {
      if (fleet.tenant !== ownTenant) {
        throw new Forbidden({
          message: "limits are set with a token of the deployment's own tenant, or by its program"
        })
      }
      return fleet.forTenant(tenant ?? fleet.tenant).monitor.setLimits(request)
    }
  )

export const assistantsLive = HttpApiBuilder.group(
  AssistantsApi,
  "assistants",
  Effect.fnUntraced(function* (handlers) {
    const { boards, ownTenant } = yield* Live
    return handlers.handleAll({
      list: ({ query: { descending, ...query } }) =>
        asking((fleet) => listOf(fleet, boards, { ...query, isDescending: descending === "true" })),
      groups: ({ query }) => asking((fleet) => groupsOf(fleet, boards, query)),
      activity: ({ query: { ids } }) => asking((fleet) => hourlyOf(fleet, [...new Set(ids.split(","))], Date.now())),
      views: ({ query }) => asking((fleet) => viewsOf(fleet, query, ownTenant)),
      view: ({ params: { id } }) => asking(async (fleet) => storedOf(await living(fleet, id))),
      create: ({ payload: { definition, id } }) =>
        changing("assistants.create", id, async (fleet) => ({ outcome: await fleet.create(id, definition ?? id), id })),
      inspect: ({ params: { id } }) =>
        asking(async (fleet) => {
          const record = await living(fleet, id)
          const row = await (await boards.of(fleet.tenant)).rowOf(id, Date.now())
          return detailOf(row as AssistantRow, record)
        }),
      order: ({ params: { id }, payload }) =>
        changing("assistants.order", `${payload.order} ${id}`, async (fleet) => {
          const receipt = await give(fleet, id, payload)
          boards.touch(fleet.tenant, id)
          return receipt
        }),
      setBudget: ({ params: { id }, payload: { id: key, ...budget } }) =>
        changing("assistants.setBudget", `${budgetWords(budget)} for ${id}`, async (fleet) => {
          const receipt = fleet.subAgents.setBudget(id, budget, keyOf(key))
          return receipt.finally(() => boards.touch(fleet.tenant, id))
        }),
      budgets: ({ query: { limit } }) => asking((fleet) => budgetsOf(fleet, boards, limit)),
      setLimits: ({ payload }) => setLimits(payload, ownTenant),
      orderAll: ({ payload }) => orderAll(boards, payload),
      forget: ({ payload: { dryRun = false, ...payload } }) =>
        changing("assistants.forget", `${dryRun ? "a trial: " : ""}${forgottenOf(payload)}`, async (fleet) => {
          const isWhole = Object.keys(payload).length === 1
          if (payload.assistant !== undefined) await (isWhole ? livingOrUnread : living)(fleet, payload.assistant)
          // The fleet refuses what names nothing, or several things at once.
          return fleet.forget(payload as Forgettable, { dryRun })
        }),
      vacuum: ({ payload: { dryRun = false } }) =>
        dryRun
          ? costing("assistants.vacuum", "a trial", (fleet) => fleet.vacuum({ dryRun }))
          : changing("assistants.vacuum", "", (fleet) => fleet.vacuum()),
      mailbox: ({ params: { id }, query: { limit } }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          const letters = await fleet.history.mailbox(id, limit)
          return {
            items: letters.map(({ acceptedAt, ...letter }) => ({
              ...letter,
              ...defined({ acceptedAt: acceptedAt === 0 ? undefined : acceptedAt })
            }))
          }
        }),
      usage: ({ query: { assistant, cursor, ...query } }) =>
        asking(async (fleet) => {
          if (assistant !== undefined) await living(fleet, assistant)
          const { rows: items, ...page } = await fleet.usage({ ...query, ...defined({ assistant, after: cursor }) })
          return { ...page, items }
        })
    })
  })
)
