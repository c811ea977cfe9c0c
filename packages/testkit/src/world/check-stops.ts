// CheckStops: what must be true of a world in which a person stopped ticks.
// Owns the judgement over ends and answers. Leaves ordering the stops to people.ts.
// C19 A stop ends the tick that it names, or none: one that comes late ends no other.
// C20 Every tick ends at most once, and every message once, whatever ended it.
// C21 An assistant that waits for an answer gets exactly one, also where a person stopped the tick of its message; of one that was
//     stopped it learns that it failed.

import { addressKey, type Entry, type Envelope } from "@reverie/protocol"
import type { MemoryDisk, Resident } from "../memory-disk.ts"
import { entriesOf } from "./check-sub-agents.ts"
import type { Sent } from "./people.ts"

const isStopped = ({ tickEnd }: Entry): boolean => tickEnd?.outcome === "stopped"

const checkNamed = (resident: Resident, stops: ReadonlyMap<string, number>): ReadonlyArray<string> =>
  entriesOf(resident).flatMap((entry) => {
    const { cause, no, tick } = entry
    if (!isStopped(entry)) return []
    const named = cause.kind === "envelope" ? stops.get(cause.id) : undefined
    return named === tick ? [] : [`C19 ${addressKey(resident.address)}: entry ${no} stopped tick ${tick}, not ${named}`]
  })

const checkOnce = (resident: Resident): ReadonlyArray<string> => {
  const ends = entriesOf(resident).flatMap(({ tick, tickEnd }) => (tickEnd === undefined ? [] : [{ tick, ...tickEnd }]))
  const twice = (keys: ReadonlyArray<string>) => keys.filter((key, index) => keys.indexOf(key) !== index)
  const problems = [...twice(ends.map(({ tick }) => `tick ${tick}`)), ...twice(ends.map(({ envelope }) => envelope))]
  return problems.map((what) => `C20 ${addressKey(resident.address)}: ${what} ended twice`)
}

/** Answers that reached an assistant, by the id of the message that they answer. */
const answersTo = ({ mail }: Resident): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, Array<string>>()
  for (const { envelope } of [...mail.control, ...mail.reply, ...mail.mail]) {
    if (typeof envelope === "string" || envelope.event.type !== "message") continue
    const { answers } = envelope.event
    if (answers === undefined) continue
    found.set(answers.envelope, [...(found.get(answers.envelope) ?? []), answers.outcome])
  }
  return found
}

const isAsking = ({ event }: Envelope): boolean => event.type === "message" && event.wantsAnswer === true

const checkAnswers = (disk: MemoryDisk): ReadonlyArray<string> => {
  const stopped = new Set(
    disk.outbox.flatMap(({ address, entry }) =>
      isStopped(entry) ? [`${addressKey(address)} ${entry.tickEnd?.envelope}`] : []
    )
  )
  return disk.outbox.flatMap(({ address, entry: { sends = [] } }) => {
    const asker = disk.resident(address)
    // Who has retired learns nothing more.
    if (asker === undefined || asker.state.status === "retired") return []
    const answers = answersTo(asker)
    return sends.filter(isAsking).flatMap(({ id, to }) => {
      const told = answers.get(id) ?? []
      if (told.length !== 1) return [`C21 ${addressKey(address)} asked ${id} and was told ${told.length} times`]
      return stopped.has(`${addressKey(to)} ${id}`) && told[0] !== "failed"
        ? [`C21 ${id} was stopped, and its asker was told that it was ${told[0]}`]
        : []
    })
  })
}

/** How many ticks a person stopped, and how many of those someone waited for. */
export const countStops = ({ outbox }: MemoryDisk): { readonly stopped: number; readonly stoppedAsked: number } => {
  const asked = new Set(outbox.flatMap(({ entry: { sends = [] } }) => sends.filter(isAsking).map(({ id }) => id)))
  const ends = outbox.flatMap(({ entry }) => (isStopped(entry) ? [entry.tickEnd?.envelope] : []))
  return { stopped: ends.length, stoppedAsked: ends.filter((id) => id !== undefined && asked.has(id)).length }
}

export const checkStops = (disk: MemoryDisk, sent: ReadonlyArray<Sent>): ReadonlyArray<string> => {
  const stops = new Map(
    sent.flatMap(({ envelope: { event, id } }) => (event.type === "stop" ? [[id as string, event.tick] as const] : []))
  )
  const residents = [...disk.residents.values()]
  return [
    ...residents.flatMap((resident) => checkNamed(resident, stops)),
    ...residents.flatMap(checkOnce),
    ...checkAnswers(disk)
  ]
}
