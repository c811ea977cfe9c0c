// Orders: what one assistant is ordered from outside.
// Owns giving one and waiting until it was followed. Leaves what it does to the fleet.
// O1  An order is durable when the command ends with 0, and has been followed as far as the fleet comes by itself, where
//     someone works.
// O2  Ordered twice under one key it is ordered once.
// O3  With --dry-run nothing is ordered; whom it would have been, in what state, is.

import { defined } from "@reverie/protocol"
import type { BudgetRequest } from "reverie"
import { assertConsent, type ChangeOptions } from "../../consent.ts"
import { CommandFailed } from "../../failure.ts"
import { named, oneOf } from "../../named.ts"
import { note, painted, say, sayJson } from "../../output.ts"
import { onOneLine, plain } from "../../texts/plain.ts"
import { tellNotice } from "../../texts/progress.ts"
import { findBackend, type Where } from "../../backend/find-backend.ts"
import type { Backend, View } from "../../backend/backend.ts"
import type { AttachedPart, OrderName, Taken } from "../../backend/transport.ts"
import type { Stop } from "../../running/stop.ts"
import { viewText } from "./agents.ts"

export type Order =
  | {
      readonly type: "send"
      readonly text: string
      readonly parts?: ReadonlyArray<AttachedPart>
      readonly context?: string
    }
  | {
      readonly type: "order"
      readonly order: OrderName
      readonly reason?: string
      readonly forMs?: number
      readonly tick?: number
    }
  | {
      readonly type: "decide"
      readonly decision: "approved" | "denied"
      readonly approval?: string
      readonly note?: string
    }
  | ({ readonly type: "budget" } & BudgetRequest)
  | { readonly type: "undoCompaction"; readonly compaction: string }
  | { readonly type: "retry"; readonly envelope: string }

export interface OrderOptions extends Where, ChangeOptions {
  /** As long as someone works there when not said. */
  readonly wait?: boolean
  readonly timeout?: number
}

const approvalOf = ({ approvals, id, state }: View, wanted: string | undefined): string => {
  const none = () => {
    const what = wanted === undefined ? "no approval" : `no approval ${wanted}`
    return new CommandFailed("wrong-state", `${id} asks for ${what}; it is in ${state}`)
  }
  const ids = approvals.map(({ approval }) => approval)
  const [first] = ids
  if (wanted !== undefined) return oneOf(ids, wanted, none)
  if (first === undefined) throw none()
  return first
}

const give = (backend: Backend, view: View, order: Order, id: string | undefined): Promise<Taken> => {
  const key = id === undefined ? {} : { id }
  switch (order.type) {
    case "send":
      return backend.send(view.id, order.text, { ...key, ...defined({ parts: order.parts, context: order.context }) })
    case "order": {
      const { order: name, type: _, ...request } = order
      return backend.order(view.id, name, { ...request, ...key })
    }
    case "decide": {
      const options = { ...key, ...defined({ note: order.note }) }
      return backend.decide(view.id, approvalOf(view, order.approval), order.decision, options)
    }
    case "budget": {
      const { type: _, ...budget } = order
      return backend.assistants((api) => api.setBudget({ params: { id: view.id }, payload: { ...budget, ...key } }))
    }
    case "undoCompaction":
      return backend.undoCompaction(view.id, order.compaction)
    case "retry":
      return backend.retry(view.id, order.envelope)
  }
}

const nameOf = (order: Order): string => (order.type === "order" ? order.order : order.type)

const tellTrial = (view: View, order: Order, json: boolean): number => {
  // Whether it could be decided is found out here too.
  const would = order.type === "decide" ? { ...order, approval: approvalOf(view, order.approval) } : order
  if (json) sayJson({ ok: true, dryRun: true, would, assistant: view })
  else say(plain(`would tell ${view.id} (${view.state}): ${nameOf(order)}`))
  return 0
}

/** Waits where that means something. */
export const followed = async (backend: Backend, id: string, { timeout, wait }: OrderOptions): Promise<void> => {
  if (wait === true && !backend.isWorking) {
    throw new CommandFailed("not-possible", `it is kept, and no one works on ${backend.place} from here`, {
      hint: "--fleet FILE lets it be followed here"
    })
  }
  if (wait === false) return
  if (!backend.isWorking) return note(painted("dim", "it is kept, and heard by anyone who works there next"))
  await backend.within(backend.rest(id), timeout === undefined ? undefined : timeout * 1_000)
}

/** Tells what happens to one, as long as it is asked for. */
export const watching = (backend: Backend, id: string, isQuiet: boolean): void => {
  if (isQuiet) return
  backend.listen((notice) => {
    if (backend.kind === "store" || notice.address.assistant === id) tellNotice(notice)
  })
}

/** Gives an order to one that has been found. */
export const giveOrder = async (backend: Backend, view: View, order: Order, options: OrderOptions): Promise<number> => {
  if (options.dryRun) return tellTrial(view, order, options.json)
  if (order.type === "order" && order.order === "retire") {
    await assertConsent(options, `${view.id} would be retired for good`)
  }
  watching(backend, view.id, options.json)
  const receipt = await backend.within(give(backend, view, order, options.id))
  await followed(backend, view.id, options)
  const after = (await backend.view(view.id)) ?? view
  if (options.json) sayJson({ ok: true, receipt: receipt.outcome, envelope: receipt.envelope, assistant: after })
  else say(plain(viewText(after).join("\n")))
  return 0
}

export const command = async (name: string, order: Order, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  return await giveOrder(backend, await named(backend, name), order, options)
}

/** Brings one to life, from a definition of the fleet. */
export const create = async (
  id: string,
  options: OrderOptions & { readonly from?: string },
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  if (backend.kind === "store" && !backend.isWorking) {
    throw new CommandFailed("no-fleet", `${id} can only be made from a definition, and there is none here`)
  }
  if (options.dryRun) {
    const isThere = (await backend.view(id)) !== undefined
    if (options.json)
      sayJson({ ok: true, dryRun: true, would: { create: id, definition: options.from ?? id }, isThere })
    else say(onOneLine(isThere ? `${id} exists already` : `would create ${id}`))
    return 0
  }
  const outcome = await backend.create(id, options.from)
  const assistant = await backend.view(id)
  if (options.json) sayJson({ ok: true, outcome, assistant: assistant ?? null })
  else say(onOneLine(outcome === "created" ? `${id} is created` : `${id} existed already`))
  return 0
}
