// Compactions: what was folded of an assistant's history, and the order to take a folding back.
// Owns choosing one and the order. Leaves reading and following to the SDK, the words to compactions-text.ts.
// C1  Listing and showing write nothing and disturb nobody.
// C2  The order to take back is durable when the command ends with 0; `undone` names what has been taken back by then.
// C3  An id may be given by a beginning that only one folding has.

import { type Compaction, Peek, type Records } from "reverie"
import { compactionsText, compactionText } from "../compactions-text.ts"
import { CommandFailed } from "../failure.ts"
import { loadFleet } from "../fleet-file.ts"
import { Host } from "../host.ts"
import { say, sayJson } from "../output.ts"
import { plain } from "../plain.ts"
import { tellNotice } from "../progress.ts"
import type { Stop } from "../stop.ts"
import { type LookOptions, named } from "./agents.ts"

export interface CompactionsOptions extends LookOptions {
  readonly show?: string
  readonly undo?: string
  /** Needed to take one back. */
  readonly fleet?: string
  readonly model: string
  readonly wait: boolean
  readonly timeout?: number
}

const chosen = (compactions: ReadonlyArray<Compaction>, wanted: string, whose: string): Compaction => {
  const exact = compactions.find(({ id }) => id === wanted)
  const [first, ...others] = exact === undefined ? compactions.filter(({ id }) => id.startsWith(wanted)) : [exact]
  if (first === undefined || wanted === "") {
    throw new CommandFailed("unknown-tick", `${whose} has no compaction "${wanted}"`, {
      code: "unknown-compaction",
      hint: "reverie compactions ID lists them"
    })
  }
  if (others.length > 0) {
    const ids = [first, ...others].map(({ id }) => id).join(", ")
    throw new CommandFailed("usage", `"${wanted}" is the beginning of ${ids}`)
  }
  return first
}

/** The folding whose marker stands at the beginning of what the model is shown. */
const currentOf = async (records: Records, id: string): Promise<string | undefined> =>
  (await records.historyStart(id))?.compaction

const look = async (name: string, { data, json, show }: CompactionsOptions): Promise<number> => {
  await using peek = await Peek.open(data)
  const { id } = named(await peek.views(), name)
  const compactions = await peek.compactions(id)
  const current = await currentOf(peek, id)
  if (show === undefined) {
    if (json) sayJson({ ok: true, assistant: id, current: current ?? null, compactions })
    else say(compactionsText(id, compactions, current))
    return 0
  }
  const compaction = chosen(compactions, show, id)
  const messages = await peek.folded(id, compaction)
  if (json) sayJson({ ok: true, assistant: id, current: current ?? null, compaction, messages })
  else say(compactionText(id, compaction, messages, current))
  return 0
}

const takeBack = async (name: string, wanted: string, options: CompactionsOptions, stop: Stop): Promise<number> => {
  if (options.fleet === undefined) throw new CommandFailed("usage", "--undo needs the fleet: add --fleet FILE")
  const fleet = await loadFleet(options.fleet)
  const model = options.model === "offline" ? { model: "offline" as const } : {}
  await using host = await Host.open({ fleet, data: options.data, ...model, stop })
  const { id } = named(await host.fleet.views(), name)
  const compaction = chosen(await host.fleet.compactions(id), wanted, id)
  if (compaction.undone_at !== undefined) {
    throw new CommandFailed("assistant-halted", `${compaction.id} has been taken back before`, {
      code: "wrong-state",
      hint: ""
    })
  }
  if (!options.json) host.fleet.on("*", tellNotice)
  const receipt = await host.fleet.unfold(id, compaction.id)
  const timeoutMillis = options.timeout === undefined ? undefined : options.timeout * 1_000
  if (options.wait) await host.within(host.fleet.rest(), timeoutMillis)
  const before = compaction.before.start?.compaction
  const undone = (await host.fleet.compactions(id)).flatMap((each) => (each.undone_at === undefined ? [] : [each.id]))
  const isDone = undone.includes(compaction.id)
  if (options.json) {
    const { envelope, outcome } = receipt
    sayJson({ ok: true, receipt: outcome, envelope, assistant: id, compaction: compaction.id, isDone, undone })
    return 0
  }
  const where = before === undefined ? "at its very beginning" : `with the marker of ${before}`
  say(
    plain(
      isDone
        ? `${compaction.id} is taken back: what ${id} is shown begins ${where} again`
        : `${id} is told to take ${compaction.id} back; it does when it is at rest`
    )
  )
  return 0
}

export const compactions = (name: string, options: CompactionsOptions, stop: Stop): Promise<number> =>
  options.undo === undefined ? look(name, options) : takeBack(name, options.undo, options, stop)
