// Queues: what waits, dead letters, and stopping or emptying all of it.
// Owns the readings and the orders to everybody. Leaves one assistant to orders.ts.
// Q1  A wake-up can be lost or held back without any harm, so holding wake-ups back stops no one: `pause` halts everybody, which
//     does, and `resume` lets everybody go on.
// Q2  A dead letter that is discarded is listed no more; that it was dead-lettered, and why, stays in the history.
// Q3  A dead letter is named by its whole id: once one is gone, the same words would mean another one that begins so.

import { defined } from "@reverie/protocol"
import { assertConsent } from "../consent.ts"
import { CommandFailed } from "../failure.ts"
import { type ListOptions, pageOf, tellList } from "../texts/list.ts"
import { named } from "../named.ts"
import { say, sayJson } from "../output.ts"
import { ago, onOneLine, counted, table } from "../texts/plain.ts"
import { findBackend } from "../backend/find-backend.ts"
import type { DeadLettered, QueueView, Backend } from "../backend/backend.ts"
import type { Stop } from "../running/stop.ts"
import type { LookOptions } from "./agents/agents.ts"
import { giveOrder, type OrderOptions } from "./agents/orders.ts"

const MAX_WORKERS_SHOWN = 8

const workersText = (workers: NonNullable<QueueView["workers"]>): string => {
  if (workers.length === 0) return "no one works: what comes waits for a worker"
  const names = workers.slice(0, MAX_WORKERS_SHOWN).map(({ name }) => onOneLine(name, 40))
  const more = workers.length > names.length ? [`and ${workers.length - names.length} more`] : []
  return `${counted(workers.length, "worker")}: ${[...names, ...more].join(", ")}`
}

export const queuesText = ({ backend, queues, totals, workers }: QueueView): string => {
  const rows = queues.map(({ active, delayed, failed, name, waiting }) => [
    onOneLine(name, 40),
    ...[waiting, active, delayed, failed].map((count) => (count === undefined ? "" : String(count)))
  ])
  const { accepted = 0, discarded = 0, dead = 0, settled = 0 } = totals ?? {}
  return [
    onOneLine(backend, 120),
    ...(workers === undefined ? [] : [workersText(workers)]),
    "",
    table([["queue", "waiting", "active", "delayed", "failed"], ...rows]),
    ...(totals === undefined
      ? []
      : ["", `${accepted} received, ${settled} processed, ${counted(dead - discarded, "dead letter")}`])
  ].join("\n")
}

export const list = async (options: LookOptions & ListOptions, stop: Stop): Promise<number> => {
  await using found = await findBackend(options, "look", stop)
  const find = async () => {
    const view = await found.queues()
    const { items, next } = pageOf(view.queues, options)
    const { backend, totals, workers } = view
    // Null where it is not known: who reads the store alone sees no one, no matter who may work on it.
    const beside = { backend, ...defined({ totals }), workers: workers ?? null }
    return { key: "queues", items, next, beside, text: queuesText(view) }
  }
  return await tellList(options, find, found)
}

const MOST_DEAD_LETTERED = 500
/** An id is reported whole: a letter has no other name. */
const MAX_ID_CHARS = 256

const deadText = (letters: ReadonlyArray<DeadLettered>): string =>
  letters.length === 0
    ? "there are no dead letters"
    : table([
        ["assistant", "envelope", "when", "reason"],
        ...letters.map(({ assistant, at, envelope, reason }) => [
          assistant,
          onOneLine(envelope, MAX_ID_CHARS),
          ago(at),
          onOneLine(reason, 80)
        ])
      ])

export const dead = async (options: LookOptions & ListOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const find = async () => {
    const { items, next } = pageOf(await backend.dead(MOST_DEAD_LETTERED), options)
    return { key: "deadLetters", items, next, text: deadText(items) }
  }
  return await tellList(options, find, backend)
}

/** The dead letter of this very id, if it is listed; with --dry-run it has to be. */
const deadLetteredAs = async (backend: Backend, id: string, envelope: string, { dryRun }: OrderOptions) => {
  const deadLettered = (await backend.dead(MOST_DEAD_LETTERED)).filter(({ assistant }) => assistant === id)
  const letter = deadLettered.find((each) => each.envelope === envelope)
  if (letter !== undefined || !dryRun) return letter
  throw new CommandFailed("not-found", `${id} has no dead letter "${envelope}"`, {
    hint: "reverie queues dead names them"
  })
}

/** Sends dead letters again, under a new id. */
export const retry = async (name: string, envelope: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const view = await named(backend, name)
  const letter = await deadLetteredAs(backend, view.id, envelope, options)
  if (letter?.isRetired === true) {
    throw new CommandFailed("conflict", `${view.id} has retired: its dead letters are not sent again`, {
      hint: `reverie queues discard ${view.id} ${envelope} takes it off the list`
    })
  }
  return await giveOrder(backend, view, { type: "retry", envelope }, options)
}

/** Discards a dead letter, without sending it. */
export const discard = async (name: string, envelope: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const letter = await deadLetteredAs(backend, id, envelope, options)
  const what = `the dead letter ${envelope} of ${id}${letter === undefined ? "" : ` (${letter.reason})`}`
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { type: "discard", envelope }, letter })
    else say(onOneLine(`would discard ${what}`))
    return 0
  }
  await assertConsent(options, `${what} would be discarded for good, and not sent`)
  const outcome = await backend.within(backend.discard(id, envelope))
  if (options.json) sayJson({ ok: true, outcome, assistant: id, envelope })
  else say(onOneLine(`${what} ${outcome === "discarded" ? "is" : "was already"} discarded`))
  return 0
}

const tellAll = async (
  backend: Backend,
  order: "halt" | "resume",
  options: OrderOptions & { readonly reason?: string }
): Promise<number> => {
  const everybody = (await backend.page({ limit: Infinity })).items
  const meant = everybody.filter(
    ({ tags }) => !tags.includes("retired") && tags.includes("halted") === (order === "resume")
  )
  const ids = meant.map(({ id }) => id)
  const what = order === "halt" ? "halted" : "let go on"
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { order }, assistants: ids })
    else say(`${counted(meant.length, "assistant")} would be ${what}`)
    return 0
  }
  if (order === "halt") await assertConsent(options, "all would be halted")
  // An order to halt may not have been heard yet: an assistant with something waiting is asked to go on too.
  const waiting = everybody.filter(
    ({ tags, waiting: some }) => !tags.includes("retired") && (tags.includes("halted") || some > 0)
  )
  const told = await backend.orderAll(order, {
    ids: order === "halt" ? undefined : waiting.map(({ id }) => id),
    reason: options.reason
  })
  if (options.json) sayJson({ ok: true, order, told })
  else say(`${counted(told, "assistant")} told: ${what}`)
  return 0
}

export const pause = async (options: OrderOptions & { readonly reason?: string }, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  return await tellAll(backend, "halt", options)
}

export const resume = async (options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  return await tellAll(backend, "resume", options)
}

const LOOK_AGAIN_MILLIS = 500

const waitingIn = async (backend: Backend): Promise<number> => {
  const totals = await backend.totals()
  if (totals !== undefined) return Math.max(0, totals.accepted - totals.settled - totals.dead)
  return (await backend.page({ limit: 500 })).items.reduce((sum, { waiting }) => sum + waiting, 0)
}

const emptied = async (backend: Backend, stop: Stop): Promise<void> => {
  while (!stop.isAsked) {
    if ((await waitingIn(backend)) === 0) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MILLIS))
  }
}

/** Waits until everything that was accepted has come to its end. */
export const drain = async (options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const waiting = await waitingIn(backend)
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, waiting })
    else say(`${counted(waiting, "envelope")} would be waited for`)
    return 0
  }
  if (waiting > 0 && !backend.isWorking) {
    throw new CommandFailed("not-possible", `${counted(waiting, "envelope")} wait, and no one works there from here`, {
      hint: "--fleet FILE lets it be worked off here"
    })
  }
  await backend.within(emptied(backend, stop), options.timeout === undefined ? undefined : options.timeout * 1_000)
  if (options.json) sayJson({ ok: true, drained: waiting })
  else say(`${counted(waiting, "envelope")} came to an end, nothing waits`)
  return 0
}
