// Index: the index of memories as a whole: how it is, its snapshots, and what it lacks.
// Owns what is said of it. Leaves measuring, making and putting back to the fleet.
// X1  The index is of all tenants of a store, and so is what is done here.

import { describeIndex } from "reverie"
import { assertConsent } from "../../consent.ts"
import { CommandFailed } from "../../failure.ts"
import { say, sayJson } from "../../output.ts"
import { counted, onOneLine, plain, table } from "../../texts/plain.ts"
import { type ListOptions, pageOf, tellList } from "../../texts/list.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Stop } from "../../running/stop.ts"
import type { LookOptions } from "../agents/agents.ts"
import type { OrderOptions } from "../agents/orders.ts"

export const status = async (options: LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const report = await backend.memory((api) => api.index())
  if (options.json) sayJson({ ok: true, ...report })
  else say(onOneLine(`the index: ${describeIndex(report)}`, 500))
  return 0
}

const MEGABYTE = 1_000_000

export const snapshots = async (options: LookOptions & ListOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const find = async () => {
    const { items: all } = await backend.memory((api) => api.indexSnapshots())
    const { items, next } = pageOf(all, options)
    const rows = items.map(({ at, bytes, name }) => [
      onOneLine(name, 120),
      at === undefined ? "" : new Date(at).toISOString(),
      `${(bytes / MEGABYTE).toFixed(1)} MB`
    ])
    const text = rows.length === 0 ? "there are no snapshots" : table([["snapshot", "made", "size"], ...rows])
    return { key: "snapshots", items, next, text }
  }
  return await tellList(options, find, backend)
}

const tell = ({ json }: OrderOptions, object: object, text: string): number => {
  if (json) sayJson({ ok: true, ...object })
  else say(plain(text))
  return 0
}

export const snapshot = async (options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  if (options.dryRun) return tell(options, { dryRun: true }, "would make a snapshot of the index")
  const made = await backend.memory((api) => api.makeIndexSnapshot())
  return tell(options, { snapshot: made }, `made ${made.name}, ${(made.bytes / MEGABYTE).toFixed(1)} MB`)
}

const caughtUpText = (done: { readonly assistants: number; readonly entries: number; readonly erased: number }) =>
  `${counted(done.entries, "entry", "entries")} of ${counted(done.assistants, "assistant")} indexed` +
  (done.erased === 0 ? "" : `, ${counted(done.erased, "assistant")} that the store does not know taken out`)

export const restore = async (name: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  if (options.dryRun) {
    return tell(options, { dryRun: true, snapshot: name }, `would put ${name} in the place of the index`)
  }
  const { items } = await backend.memory((api) => api.indexSnapshots())
  if (!name.includes("://") && !items.some((each) => each.name === name)) {
    throw new CommandFailed("not-found", `there is no snapshot ${name}`, { hint: "reverie index snapshots lists them" })
  }
  await assertConsent(options, `${name} would take the place of the index; what it lacks is made up from the ledger`)
  const done = await backend.memory((api) => api.restoreIndex({ payload: { snapshot: name } }))
  return tell(options, done, `${done.snapshot} is the index; ${caughtUpText(done)}`)
}

export const catchUp = async (options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  if (options.dryRun) {
    return tell(options, { dryRun: true }, "would bring the index of every assistant up to its ledger")
  }
  const done = await backend.memory((api) => api.catchUpIndex())
  return tell(options, done, caughtUpText(done))
}
