// Agents: who lives in a data directory, and orders to them.
// Owns the readings beside a running fleet and the orders through one of its own. Leaves opening to the SDK and host.ts.
// A1  `ls` and `inspect` write nothing and disturb nobody.
// A2  An order is durable when the command ends with 0, and has been followed as far as the fleet comes by itself.
// A3  An id may be given by a prefix that only one assistant has.

import { type AssistantView, type Entry, Peek } from "reverie"
import { CommandFailed } from "../failure.ts"
import { loadFleet } from "../fleet-file.ts"
import { Host } from "../host.ts"
import { say, sayJson } from "../output.ts"
import { onOneLine, plain } from "../plain.ts"
import { tellNotice } from "../progress.ts"
import { assistantTable } from "../report.ts"
import type { Stop } from "../stop.ts"
import { writtenCall } from "../written-call.ts"

export interface LookOptions {
  readonly data: string | undefined
  readonly json: boolean
}

export const list = async (options: LookOptions): Promise<number> => {
  await using peek = await Peek.open(options.data)
  const assistants = await peek.views()
  const { accepted, dead, settled } = await peek.tally()
  if (options.json) sayJson({ ok: true, assistants, total: { accepted, committed: settled, deadLetters: dead } })
  else say(`${assistantTable(assistants)}\n\n${accepted} accepted, ${settled} committed, ${dead} dead letters`)
  return 0
}

/** The one assistant that an id or the beginning of one names. */
export const named = (views: ReadonlyArray<AssistantView>, name: string): AssistantView => {
  const exact = views.find(({ id }) => id === name)
  const [first, ...others] = exact === undefined ? views.filter(({ id }) => id.startsWith(name)) : [exact]
  if (first === undefined || name === "") {
    const known = views.map(({ id }) => id).join(", ")
    throw new CommandFailed("unknown-assistant", `there is no assistant "${name}"`, { hint: `there are ${known}` })
  }
  if (others.length > 0) {
    throw new CommandFailed(
      "usage",
      `"${name}" is the beginning of ${[first, ...others].map(({ id }) => id).join(", ")}`
    )
  }
  return first
}

/** Entries shown by `inspect`. */
const SHOWN_ENTRIES = 40

const messageLines = ({ messages }: Entry): ReadonlyArray<string> =>
  messages.map(({ calls = [], content, name, role }) => {
    const asked = calls.map((call) => `${call.tool} ${JSON.stringify(call.arguments)}`).join(", ")
    return `  ${onOneLine(`${name ?? role}: ${content}${asked === "" ? "" : ` [${asked}]`}`)}`
  })

const viewText = (view: AssistantView): ReadonlyArray<string> => [
  `${view.id}: ${view.state}${view.haltReason === undefined ? "" : `, ${onOneLine(view.haltReason)}`}`,
  `${view.ticks} ticks, ${view.commits} commits, ${view.waiting} waiting`,
  ...view.jobs.map((job) => `open job: ${job}`),
  ...view.timers.map(({ dueAt, name }) => `timer: ${name} at ${new Date(dueAt).toISOString()}`),
  ...view.approvals.map(({ approval, tool }) => `waits for approval: ${tool} (${approval})`)
]

export const inspect = async (name: string, options: LookOptions): Promise<number> => {
  await using peek = await Peek.open(options.data)
  const view = named(await peek.views(), name)
  const rows = await peek.entries(view.id, Math.max(1, view.commits - SHOWN_ENTRIES + 1), SHOWN_ENTRIES)
  const entries = rows.map(({ entry }) => entry)
  const deadLetters = (await peek.deadLetters(1_000)).filter(({ address }) => address.assistant === view.id)
  if (options.json) {
    sayJson({ ok: true, assistant: view, entries, deadLetters })
    return 0
  }
  const asked = await Promise.all(view.approvals.map(({ call }) => writtenCall(peek, view.id, call)))
  const dead = deadLetters.map(({ envelope, reason }) => `dead letter ${onOneLine(envelope, 60)}: ${onOneLine(reason)}`)
  say(
    [...viewText(view), ...asked.map((call) => `  ${call}`), ...dead, "", ...entries.flatMap(messageLines)].join("\n")
  )
  return 0
}

export type Order =
  | { readonly type: "send"; readonly text: string; readonly id?: string }
  | { readonly type: "halt"; readonly reason: string }
  | { readonly type: "resume" }
  | { readonly type: "decide"; readonly decision: "approved" | "denied"; readonly approval?: string }

export interface OrderOptions extends LookOptions {
  readonly fleet: string
  readonly model: string
  readonly wait: boolean
  readonly timeout?: number
}

const approvalOf = (view: AssistantView, wanted: string | undefined): string => {
  const asked = view.approvals.find(({ approval }) => wanted === undefined || approval.startsWith(wanted))
  if (asked !== undefined) return asked.approval
  const what = wanted === undefined ? "no approval" : `no approval ${wanted}`
  throw new CommandFailed("assistant-halted", `${view.id} asks for ${what}; it is in ${view.state}`, {
    code: "wrong-state",
    hint: ""
  })
}

const follow = ({ fleet }: Host, view: AssistantView, order: Order) => {
  switch (order.type) {
    case "send":
      return fleet.send(view.id, order.text, order.id === undefined ? {} : { id: order.id })
    case "halt":
      return fleet.halt(view.id, order.reason)
    case "resume":
      return fleet.resume(view.id)
    case "decide":
      return fleet.decide(view.id, approvalOf(view, order.approval), order.decision)
  }
}

/** Gives an order, and waits until the fleet has come to rest on it. */
export const command = async (name: string, order: Order, options: OrderOptions, stop: Stop): Promise<number> => {
  const fleet = await loadFleet(options.fleet)
  const model = options.model === "offline" ? { model: "offline" as const } : {}
  await using host = await Host.open({ fleet, data: options.data, ...model, stop })
  const view = named(await host.fleet.views(), name)
  if (!options.json) host.fleet.on("*", tellNotice)
  const receipt = await follow(host, view, order)
  const timeoutMillis = options.timeout === undefined ? undefined : options.timeout * 1_000
  if (options.wait) await host.within(host.fleet.rest(), timeoutMillis)
  const after = named(await host.fleet.views(), view.id)
  if (options.json) sayJson({ ok: true, receipt: receipt.outcome, envelope: receipt.envelope, assistant: after })
  else say(plain(viewText(after).join("\n")))
  return 0
}
