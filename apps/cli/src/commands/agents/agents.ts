// Agents: who lives in a fleet, and what is known of one.
// Owns the readings. Leaves orders to orders.ts, where they are asked to backend/.
// A1  Reading writes nothing and disturbs nothing.
// A2  An id may be given by a prefix that only one assistant has.

import { defined, earlierModels, eventWords, type Json, timerWords } from "@reverie/protocol"
import { CommandFailed } from "../../failure.ts"
import { type ListOptions, tellList } from "../../texts/list.ts"
import { named, writtenCall } from "../../named.ts"
import { failureEnvelope, say, sayJson, tellFailure } from "../../output.ts"
import { ago, onOneLine, plain, counted } from "../../texts/plain.ts"
import { findBackend, type Where } from "../../backend/find-backend.ts"
import { PAGE } from "../../backend/transport.ts"
import type { Backend, Entry, EntryPage, SubAgentTree, UsageSums, View } from "../../backend/backend.ts"
import { lackingText } from "../../texts/lacking-text.ts"
import { assistantTable, useTable } from "../../texts/report.ts"
import type { Stop } from "../../running/stop.ts"
import { outageLines, waitText } from "../../running/away.ts"

export interface LookOptions extends Where {
  readonly json: boolean
}

interface AssistantsOptions extends LookOptions, ListOptions {
  readonly definition?: string
  readonly tag?: string
}

/** Why some may wait: what they need of the store lies apart, and where that is was not said. */
const unreachedLines = async ({ store }: Backend, items: ReadonlyArray<View>): Promise<ReadonlyArray<string>> => {
  if (!items.some(({ waiting }) => waiting > 0)) return []
  const apart = await store?.segments()
  if (apart?.isNamed !== false) return []
  const which = counted(apart.segments, "segment")
  return [`${which} of older entries apart from the store, and their place is not named: set REVERIE_SEGMENTS`, ""]
}

/** Those who are there and in no list, for nothing of them opens. */
const lackingIn = async ({ store }: Backend): Promise<CommandFailed | undefined> => {
  const lacking = await store?.lacking()
  const assistants = lacking?.assistants.filter((each) => each.startsWith(`${store?.tenant ?? ""}/`)) ?? []
  if (lacking === undefined || assistants.length === 0) return undefined
  return new CommandFailed("keys-lacking", lackingText({ ...lacking, assistants }))
}

export const list = async (options: AssistantsOptions, stop: Stop): Promise<number> => {
  const { cursor, definition, fleet, limit = 50, tag } = options
  await using backend = await findBackend(options, tag === undefined || fleet === undefined ? "look" : "fork", stop)
  if (tag !== undefined && backend.kind === "store" && fleet === undefined) {
    throw new CommandFailed("no-fleet", "tags stand in the definitions, which are not known here", {
      hint: "--fleet FILE says them; a running server knows them"
    })
  }
  const lacking = await backend.within(lackingIn(backend))
  const envelope = lacking === undefined ? undefined : failureEnvelope(lacking.failure)
  const exit = await tellList(
    options,
    async () => {
      const { items, next, totals } = await backend.page({ limit, ...defined({ cursor, definition, tag }) })
      const text = [...outageLines(items), ...(await unreachedLines(backend, items)), assistantTable(items)].join("\n")
      if (totals === undefined) return { key: "assistants", items, next, text }
      const { accepted, discarded, dead, settled } = totals
      const others = ((await backend.store?.tenants()) ?? []).filter((each) => each !== backend.store?.tenant)
      const whose = others.length === 0 ? "" : `, of all tenants; also here: ${others.join(", ")} (--tenant)`
      return {
        key: "assistants",
        items,
        next,
        beside: {
          ...envelope,
          total: { accepted, committed: settled, deadLetters: dead, discarded: discarded },
          ...defined({ otherTenants: others.length === 0 ? undefined : others })
        },
        text: `${text}\n\n${accepted} received, ${settled} processed, ${counted(dead - discarded, "dead letter")}${whose}`
      }
    },
    backend
  )
  return lacking === undefined ? exit : tellFailure(lacking, false)
}

/** Entries shown by `inspect`. */
const SHOWN_ENTRIES = 40

const messageText = ({ calls = [], content, name, role }: Entry["messages"][number]): string => {
  const asked = calls.map((call) => `${call.tool} ${JSON.stringify(call.arguments)}`).join(", ")
  return `${name ?? role}: ${content}${asked === "" ? "" : `${content === "" ? "" : " "}[${asked}]`}`
}

/** Of money in whole units, with four digits. */
export const amountText = (measure: "tokens" | "costMicros" | "calls", value: number): string =>
  measure === "costMicros" ? (value / 1_000_000).toFixed(4) : String(value)

/** Of what is bounded: what is spent and set aside, of how much. */
const budgetText = ({ granted, reserved, spent }: NonNullable<View["budget"]>): string => {
  const said = (["tokens", "costMicros", "calls"] as const).flatMap((measure) => {
    const most = granted[measure]
    const gone = spent[measure] + reserved[measure]
    const noun = measure === "costMicros" ? "cost" : measure
    return most === null ? [] : [`${amountText(measure, gone)} of ${amountText(measure, most)} ${noun}`]
  })
  return `budget: ${said.join(", ")}`
}

export const viewText = (view: View): ReadonlyArray<string> => [
  `${view.id}: ${view.state}${view.haltReason === undefined ? "" : `, ${onOneLine(view.haltReason)}`}`,
  ...(view.outage === undefined ? [] : [waitText(view.outage)]),
  `${counted(view.ticks, "run")}, ${counted(view.commits, "event")}, ${view.waiting} queued`,
  ...(view.budget === undefined ? [] : [budgetText(view.budget)]),
  ...view.jobs.map((job) => `open job: ${job}`),
  ...view.timers.map(({ dueAt, name }) => `timer: ${timerWords(name)} ${ago(dueAt)} (${when(dueAt)} UTC)`),
  ...view.approvals.map(({ approval, tool }) => `waits for approval: ${tool} (${approval})`)
]

/** Lines of entries in their order; a segment that lacks is one line in the place of its entries. */
const linesOf = ({ items, lost }: EntryPage, told: (entry: Entry) => ReadonlyArray<string>): ReadonlyArray<string> =>
  [
    ...items.map((entry) => ({ no: entry.no, lines: told(entry) })),
    ...lost.map(({ from, reason, to }) => {
      const which = from === to ? `event ${from}` : `events ${from} to ${to}`
      return { no: from, lines: [onOneLine(`${which}: ${reason}`, 300)] }
    })
  ]
    .toSorted((one, other) => one.no - other.no)
    .flatMap(({ lines }) => lines)

const lostBeside = ({ lost }: EntryPage) => defined({ lost: lost.length === 0 ? undefined : lost })

const latest = (backend: Backend, { commits, id }: View, count: number): Promise<EntryPage> =>
  backend.entries(id, Math.max(1, commits - count + 1), count)

/** What one may spend, as far as anything bounds it. */
export const budget = async (name: string, options: LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const { budget: bound = null, id } = await named(backend, name)
  if (options.json) sayJson({ ok: true, assistant: id, budget: bound })
  else say(onOneLine(`${id}: ${bound === null ? "nothing bounds what it may spend" : budgetText(bound)}`))
  return 0
}

export const inspect = async (name: string, options: LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const view = await named(backend, name)
  const page = await latest(backend, view, SHOWN_ENTRIES)
  const { items: entries } = page
  const deadLetters = (await backend.dead(1_000)).filter(({ assistant }) => assistant === view.id)
  if (options.json) {
    sayJson({ ok: true, assistant: view, entries, ...lostBeside(page), deadLetters })
    return 0
  }
  const asked = await Promise.all(view.approvals.map(({ call }) => writtenCall(backend, view.id, call)))
  const dead = deadLetters.map(({ envelope, reason }) => `dead letter ${onOneLine(envelope, 60)}: ${onOneLine(reason)}`)
  const told = [
    ...viewText(view),
    ...asked.map((call) => `  ${call}`),
    ...dead,
    "",
    ...linesOf(page, ({ messages }) => messages.map((each) => onOneLine(messageText(each)))).map((each) => `  ${each}`)
  ]
  say(plain(told.join("\n")))
  return 0
}

const when = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

/** Who answered where others of a list did not. */
const insteadText = ({ step }: Entry): string => {
  const { earlier, model } = step?.detail ?? {}
  const others = earlierModels(earlier as Json).map((each) => `${each.model} did not answer (${each.reason})`)
  return others.length === 0 ? "" : ` by ${typeof model === "string" ? model : "another"}: ${others.join(", ")}`
}

/** What hooks did in it. */
const hooksText = ({ hooks = [] }: Entry): string =>
  hooks
    .map(({ did, hook, reason, tool }) => {
      const about = tool === undefined ? "" : ` ${tool}`
      return ` [hook ${hook} ${did}${about}${reason === undefined ? "" : `: ${reason}`}]`
    })
    .join("")

/** What ended, as far as the event does not say so itself: a tool's name, what a dream did. */
const stepText = ({ kind, name, ok }: NonNullable<Entry["step"]>): string => {
  const what = name === kind ? "" : ` ${name.startsWith(`${kind} `) ? name.slice(kind.length + 1) : name}`
  return `${what}${ok ? "" : " failed"}`
}

const logLine = (entry: Entry): string => {
  const { at, cause, event, messages, no, status, step } = entry
  const type: unknown = typeof event === "object" && event !== null ? Reflect.get(event, "type") : undefined
  const did = step === undefined ? "" : `${stepText(step)}${insteadText(entry)}`
  const guarded = hooksText(entry)
  const said = messages.map(messageText).join(" | ")
  const happened = typeof type === "string" ? eventWords(type) : cause.kind
  const line = `${String(no).padStart(5)}  ${when(at)}  ${happened}${did}${guarded} → ${status}`
  return onOneLine(said === "" ? line : `${line}  ${said}`, 240)
}

/** The ledger of one, the newest entries, in the order of time; the cursor leads to older ones. */
export const logs = async (name: string, options: LookOptions & ListOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const { cursor, limit = 50 } = options
  return await tellList(
    options,
    async () => {
      const commits = (await backend.view(id))?.commits ?? 0
      const last = cursor === undefined ? commits : Math.min(commits, Number.parseInt(cursor, 10) || 0)
      const from = Math.max(1, last - limit + 1)
      const page = last < 1 ? { items: [], lost: [] } : await backend.entries(id, from, last - from + 1)
      const { items } = page
      const next = from > 1 ? String(from - 1) : null
      return {
        key: "entries",
        items,
        next,
        beside: { assistant: id, ...lostBeside(page) },
        text: linesOf(page, (entry) => [logLine(entry)]).join("\n")
      }
    },
    backend
  )
}

type ContextKind = Awaited<ReturnType<Backend["kinds"]>>["items"][number]

const kindLines = (kind: ContextKind): ReadonlyArray<string> => {
  const { mode, multiStep, requireApproval, stopOnFinal, subAgents, timers, tokenBudget, toolCategories, tools } = kind
  const limits = [
    `${mode}, at most ${counted(kind.maxSteps, "step")}`,
    ...(tokenBudget === null ? [] : [`${tokenBudget} tokens`]),
    multiStep ? "several tool calls" : "one tool call",
    ...(subAgents ? ["sub-agents"] : []),
    ...(requireApproval ? ["dangerous calls wait for approval"] : []),
    ...(stopOnFinal ? ["a final tool ends it"] : [])
  ]
  const listed = (words: ReadonlyArray<string> | null) => (words === null ? "all" : words.join(", ") || "none")
  return [
    `${kind.name}${kind.isOwn ? " (its own)" : ""}: ${onOneLine(kind.description)}`,
    `  limits: ${limits.join(", ")}`,
    `  tools:  ${listed(tools)}${toolCategories === null ? "" : `, of ${listed(toolCategories)}`}`,
    `  parts:  ${listed(kind.components)}`,
    ...(timers.length === 0 ? [] : [`  timers: ${onOneLine(timers.join(", "))}`]),
    ...Object.entries(kind.overrides ?? {}).map(([part, text]) => `  ${part} is: ${onOneLine(text, 160)}`)
  ]
}

/** They stand in the definition of one, which a store does not have. */
export const kinds = async (name: string, options: LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, options.fleet === undefined ? "look" : "fork", stop)
  const { definition: from, id } = await named(backend, name)
  if (backend.kind === "store" && options.fleet === undefined) {
    throw new CommandFailed(
      "no-fleet",
      `the contexts of ${id} stand in its definition ${from}, which is not known here`
    )
  }
  const { definition, items } = await backend.kinds(id)
  if (options.json) sayJson({ ok: true, assistant: id, definition, contexts: items })
  else
    say(
      plain(
        items
          .flatMap((kind) => [...kindLines(kind), ""])
          .join("\n")
          .trimEnd()
      )
    )
  return 0
}

const subAgentTreeLines = (node: SubAgentTree, indent = ""): ReadonlyArray<string> => {
  const { granted, id, phase, spent, state, subAgents, task } = node
  const how = [state, phase].filter((word) => word !== undefined).join(", ")
  const bound = granted.tokens === null ? "" : ` of ${granted.tokens}`
  const line = `${id}${how === "" ? "" : ` (${how})`}: ${spent.tokens}${bound} tokens, ${counted(spent.calls, "call")}`
  return [
    `${indent}${onOneLine(line, 200)}`,
    ...(task === undefined ? [] : [`${indent}  ${onOneLine(task, 120)}`]),
    ...subAgents.flatMap((each) => subAgentTreeLines(each, `${indent}  `))
  ]
}

export const tree = async (name: string, options: LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const subAgentTree = await backend.subAgentTree(id)
  if (subAgentTree === undefined) throw new CommandFailed("unknown-assistant", `there is no assistant "${id}" any more`)
  if (options.json) sayJson({ ok: true, subAgentTree })
  else say(plain(subAgentTreeLines(subAgentTree).join("\n")))
  return 0
}

// Usage: what model calls took, as the ledger has summed it.

export interface UsageOptions extends LookOptions, ListOptions {
  readonly by?: UsageSums["by"]
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly greatest?: boolean
}

/** Of all, by assistant; of one, by purpose. */
export const usage = async (name: string | undefined, options: UsageOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const assistant = name === undefined ? undefined : (await named(backend, name)).id
  const {
    by = assistant === undefined ? "assistant" : "purpose",
    cursor,
    greatest = false,
    limit = 50,
    since
  } = options
  const order = greatest ? ("greatest" as const) : undefined
  return await tellList(
    options,
    async () => {
      const sums = await backend.usage({
        by,
        limit: Math.min(limit, PAGE),
        ...defined({ assistant, cursor, from: since, order })
      })
      const { items, next, total, ...range } = sums
      const text = useTable(sums)
      return { key: "usage", items, next, beside: { ...range, total, ...defined({ assistant }) }, text }
    },
    backend
  )
}
