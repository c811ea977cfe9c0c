// Check: what must be true of a world that has come to rest.
// Owns the judgement over the record. Leaves memory to check-memory.ts, bringing the world to rest to world.ts.
// C1  Every acknowledged envelope has exactly one settlement.
// C2  Messages of one sender to one assistant are taken up in the order of their acknowledgement.
// C3  Entries are numbered without gap and their epochs never go back; one epoch belongs to one worker.
// C4  Replaying the recorded events over the creation gives the stored snapshot, byte for byte.
// C5  No unsafe effect happened twice; a repeated safe one came with the same key.
// C6  Every tool call has exactly one tool message, and the other way round.
// C7  What an assistant sent was accepted exactly once.
// C8  A worker never has more assistants at work than it may.
// C9  Crashes at random cost time, and never a message: none is dead-lettered because processes ended.

import { persist, type Settings, statusOf } from "@reverie/assistant"
import { addressKey, type Entry } from "@reverie/protocol"
import type { MemoryDisk, Resident } from "../memory-disk.ts"
import { checkSubAgents, entriesOf, type TakenCall } from "./check-sub-agents.ts"
import { checkMemory } from "./check-memory.ts"
import { checkStops } from "./check-stops.ts"
import { NO_ANSWER } from "./weather.ts"
import { statesOf } from "./lives.ts"
import type { Effected } from "./outside.ts"
import type { Sent } from "./people.ts"

// CheckOutages: what must be true of a world whose model was away for a while.
// Owns the judgement over every entry that tells of an outage. Leaves what it may cost to check-sub-agents.ts.
// C17 An outage of the model ends no tick, settles nothing and halts no one, whatever its length; and nothing is given up for
//     want of an answer, since nothing but an outage fails so often here.

const tellsOfOutage = ({ event }: Entry): boolean =>
  (event as { readonly error?: { readonly outage?: unknown } } | null)?.error?.outage !== undefined

const endedBy = (entries: ReadonlyArray<Entry>, settings: Partial<Settings>): ReadonlyArray<string> => {
  const states = statesOf(entries, settings)
  return entries.flatMap((entry, index) => {
    const [before, after] = [states[index - 1], states[index]]
    if (!tellsOfOutage(entry) || before === undefined || after === undefined) return []
    const isHalted = statusOf(after) === "halted" && statusOf(before) !== "halted"
    const ended = [
      ...(entry.tickEnd === undefined ? [] : [`ended its tick as ${entry.tickEnd.outcome}`]),
      ...((entry.settled ?? []).length === 0 ? [] : ["settled what it was at work on"]),
      ...(isHalted ? ["halted it"] : [])
    ]
    return ended.map((what) => `an outage, entry ${entry.no}, ${what}`)
  })
}

const givenUp = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  entries.flatMap(({ settled = [] }) =>
    settled.flatMap(({ id, outcome, reason }) =>
      outcome === "dead" && reason?.includes(NO_ANSWER) === true ? [`${id} was given up: ${reason}`] : []
    )
  )

const checkOutages = (resident: Resident, settings: Partial<Settings>): ReadonlyArray<string> => {
  const entries = entriesOf(resident)
  const problems = [...(entries.some(tellsOfOutage) ? endedBy(entries, settings) : []), ...givenUp(entries)]
  return problems.map((problem) => `C17 ${addressKey(resident.address)}: ${problem}`)
}

export interface Record {
  readonly disk: MemoryDisk
  readonly acknowledged: ReadonlyArray<Sent>
  readonly tooLate: ReadonlyArray<Sent>
  readonly effects: ReadonlyArray<Effected>
  /** Which worker was granted which epoch, as `assistant epoch worker`. */
  readonly grants: ReadonlyArray<readonly [assistant: string, epoch: number, worker: string]>
  readonly mostAtOnce: number
  readonly concurrency: number
  readonly settings: Partial<Settings>
  /** Model calls for tasks that were handed on, as they were really made. */
  readonly taken: ReadonlyArray<TakenCall>
}

const settlements = (record: Record): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const { address, entry } of record.disk.outbox) {
    for (const { id } of entry.settled ?? []) {
      const key = `${addressKey(address)} ${id}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return counts
}

const checkSettled = (record: Record): ReadonlyArray<string> => {
  const counts = settlements(record)
  const lost = record.acknowledged.flatMap(({ envelope }) => {
    const count = counts.get(`${addressKey(envelope.to)} ${envelope.id}`) ?? 0
    return count === 1 ? [] : [`C1 ${envelope.id} (${envelope.event.type}) was acknowledged and settled ${count} times`]
  })
  const sent = [...record.acknowledged, ...record.tooLate]
  const known = new Set(sent.map(({ envelope }) => `${addressKey(envelope.to)} ${envelope.id}`))
  for (const { entry } of record.disk.outbox)
    for (const sent of entry.sends ?? []) known.add(`${addressKey(sent.to)} ${sent.id}`)
  const strangers = [...counts.keys()].filter((key) => !known.has(key) && !key.includes(" returned:"))
  return [...lost, ...strangers.map((key) => `C1 ${key} was settled, but no one sent it`)]
}

const checkOrder = (record: Record): ReadonlyArray<string> => {
  const expected = new Map<string, Array<string>>()
  for (const { envelope, sender } of record.acknowledged) {
    if (envelope.event.type !== "message") continue
    const key = `${addressKey(envelope.to)} ${sender}`
    expected.set(key, [...(expected.get(key) ?? []), envelope.event.text])
  }
  const taken = new Map<string, Array<string>>()
  for (const { address, entry } of record.disk.outbox) {
    for (const message of entry.messages) {
      if (message.role !== "user" || message.name === undefined || !message.name.startsWith("sender")) continue
      const key = `${addressKey(address)} ${message.name}`
      taken.set(key, [...(taken.get(key) ?? []), message.content])
    }
  }
  const retired = new Set(
    [...record.disk.residents.values()].flatMap(({ address, state }) =>
      state.status === "retired" ? [addressKey(address)] : []
    )
  )
  return [...expected].flatMap(([key, texts]) => {
    const heard = taken.get(key) ?? []
    // What was still waiting for someone who retired is dead-lettered.
    const wanted = retired.has(key.split(" ")[0] ?? "") ? texts.slice(0, heard.length) : texts
    return JSON.stringify(wanted) === JSON.stringify(heard)
      ? []
      : [`C2 ${key}: sent ${texts.join(", ")}; taken up ${heard.join(", ")}`]
  })
}

const checkNumbers = (resident: Resident): ReadonlyArray<string> => {
  const problems: Array<string> = []
  let epoch = 0
  resident.entries.forEach(({ entry }, index) => {
    if (entry.no !== index + 1)
      problems.push(`C3 ${addressKey(resident.address)}: entry ${index + 1} has number ${entry.no}`)
    if (entry.epoch < epoch)
      problems.push(`C3 ${addressKey(resident.address)}: epoch ${entry.epoch} wrote after ${epoch}`)
    epoch = entry.epoch
  })
  return problems
}

const checkGrants = (record: Record): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return record.grants.flatMap(([assistant, epoch]) => {
    const key = `${assistant} ${epoch}`
    if (seen.has(key)) return [`C3 ${assistant}: epoch ${epoch} was granted twice`]
    seen.add(key)
    return []
  })
}

const checkReplay = (resident: Resident, settings: Partial<Settings>): ReadonlyArray<string> => {
  const decoded = statesOf(entriesOf(resident), settings).at(-1)
  const compacted = decoded === undefined ? "nothing" : JSON.stringify(persist(decoded))
  const stored = JSON.stringify(resident.state.snapshot)
  return compacted === stored ? [] : [`C4 ${addressKey(resident.address)}: compacted ${compacted}, stored ${stored}`]
}

const checkEffects = (record: Record): ReadonlyArray<string> => {
  const unsafe = record.effects
    .filter(({ idempotent }) => !idempotent)
    .map(({ key, tool }) => `${tool} ${key.split("?")[0]}`)
  const repeated = unsafe.filter((name, index) => unsafe.indexOf(name) !== index)
  const calls = new Map<string, Set<string>>()
  for (const { key } of record.effects) {
    const call = key.split("?")[0] ?? key
    calls.set(call, (calls.get(call) ?? new Set()).add(key))
  }
  return [
    ...repeated.map((name) => `C5 the unsafe effect ${name} happened more than once`),
    ...[...calls].filter(([, keys]) => keys.size > 1).map(([call]) => `C5 ${call} was repeated under another key`)
  ]
}

const checkPairs = (resident: Resident): ReadonlyArray<string> => {
  const messages = resident.entries.flatMap(({ entry }) => entry.messages)
  const called = messages.flatMap((message) => (message.calls ?? []).map((call) => call.id))
  const answered = messages.flatMap((message) => (message.call === undefined ? [] : [message.call]))
  const problems = answered
    .filter((call, index) => answered.indexOf(call) !== index)
    .map((call) => `C6 ${call} was answered twice`)
  for (const call of called) if (!answered.includes(call)) problems.push(`C6 ${call} was never answered`)
  for (const call of answered) if (!called.includes(call)) problems.push(`C6 ${call} was answered and never asked`)
  return problems.map((problem) => `${problem} (${addressKey(resident.address)})`)
}

const checkSends = (record: Record): ReadonlyArray<string> => {
  const counts = settlements(record)
  return record.disk.outbox.flatMap(({ entry }) =>
    (entry.sends ?? []).flatMap((sent) => {
      const count = counts.get(`${addressKey(sent.to)} ${sent.id}`) ?? 0
      // Who has retired takes nothing more.
      const isGone = record.disk.resident(sent.to)?.state.status === "retired"
      const isAnswer = sent.event.type === "message" && sent.event.answers !== undefined
      // An answer may take one hop more than a question.
      const allowed = sent.hops > (isAnswer ? 9 : 8) ? count === 0 : count === 1 || (isGone && count === 0)
      return allowed ? [] : [`C7 ${sent.id} was sent and settled ${count} times`]
    })
  )
}

const checkBlame = ({ disk }: Record): ReadonlyArray<string> =>
  disk.deadLetters.flatMap(({ address, envelope, reason }) =>
    reason.startsWith("the process ended")
      ? [`C9 ${envelope} of ${addressKey(address)} was dead-lettered though nothing in it ends processes: ${reason}`]
      : []
  )

/** Every violation, in words; none when the world is as it should be. */
export const check = (record: Record): ReadonlyArray<string> => {
  const residents = [...record.disk.residents.values()]
  return [
    ...checkSettled(record),
    ...checkOrder(record),
    ...residents.flatMap(checkNumbers),
    ...checkGrants(record),
    ...residents.flatMap((resident) => checkReplay(resident, record.settings)),
    ...checkEffects(record),
    ...residents.flatMap(checkPairs),
    ...checkSends(record),
    ...checkBlame(record),
    ...residents.flatMap(checkMemory),
    ...residents.flatMap((resident) => checkOutages(resident, record.settings)),
    ...checkStops(record.disk, [...record.acknowledged, ...record.tooLate]),
    ...checkSubAgents(record.disk, record.settings, record.taken),
    ...(record.mostAtOnce > record.concurrency
      ? [`C8 ${record.mostAtOnce} assistants worked at once in a worker that may run ${record.concurrency}`]
      : [])
  ]
}
