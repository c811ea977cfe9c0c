// CheckMemory: what must be true of the memory of a world that has come to rest.
// Owns the judgement over facts, journal, dreams and compactions. Leaves everything else to check.ts.
// C9  What a dream has read is the source of exactly one fact; what none has read is the source of none.
// C10 Every step of a dream that was committed stands in a report, once; one that only waited for the model stands in none.
// C11 Compactions follow one another without a gap, count what they compacted, part no call from its result, and the history
//     begins where the last one ended.
// C18 What a call of a dream wrote stands in the journal once, at hand or put away.

import { CONSOLIDATED_KEY } from "@reverie/assistant"
import { type Compaction, historyStartOf, isCompaction } from "@reverie/context"
import { entryId, isFact, messageId } from "@reverie/memory"
import { addressKey, isBefore, type Json, type Message, type MessagePlace, type RecordKind } from "@reverie/protocol"
import type { Resident } from "../memory-disk.ts"
import { CONCLUDED } from "./digestion.ts"

const valuesOf = (resident: Resident, wanted: RecordKind): ReadonlyArray<Json> =>
  [...resident.records.values()].flatMap(({ kind, value }) => (kind === wanted ? [value] : []))

const deskOf = (resident: Resident): ReadonlyMap<string, Json> =>
  new Map([...resident.records.values()].flatMap(({ key, kind, value }) => (kind === "state" ? [[key, value]] : [])))

interface Placed {
  readonly place: MessagePlace
  readonly message: Message
}

const placedOf = ({ entries }: Resident): ReadonlyArray<Placed> =>
  entries.flatMap(({ entry: { messages, no } }) =>
    messages.map((message, index) => ({ message, place: { no, index } }))
  )

/** How far dreams have read the history. */
const readUntil = (resident: Resident): MessagePlace =>
  (deskOf(resident).get("lived-until") as MessagePlace | undefined) ?? { no: 1, index: 0 }

const isSaid = ({ name, role }: Message): boolean => role === "user" && name !== "clock"

const checkFacts = (resident: Resident): ReadonlyArray<string> => {
  const facts = valuesOf(resident, "fact").filter(isFact)
  const times = (source: string): number => facts.filter(({ sources }) => sources.includes(source)).length
  const until = readUntil(resident)
  const messages = placedOf(resident)
    .filter(({ message }) => isSaid(message))
    .map(({ place }) => ({ id: messageId(place), isRead: isBefore(place, until) }))
  const consolidated = deskOf(resident).get(CONSOLIDATED_KEY)
  const isConsolidated = new Set(Array.isArray(consolidated) ? consolidated : [])
  const idOf = (value: Json): string => (value as { readonly id: string }).id
  const entries = [
    ...valuesOf(resident, "journal").map((value) => ({ id: idOf(value), isRead: isConsolidated.has(idOf(value)) })),
    ...valuesOf(resident, "episode").map((value) => ({ id: idOf(value), isRead: true }))
  ].map(({ id, isRead }) => ({ id: entryId("episode", id), isRead }))
  return [...messages, ...entries].flatMap(({ id, isRead }) =>
    times(id) === (isRead ? 1 : 0) ? [] : [`C9 ${id} was ${isRead ? "" : "not "}read and is in ${times(id)} facts`]
  )
}

const checkConcluded = (resident: Resident): ReadonlyArray<string> => {
  const all = [...valuesOf(resident, "journal"), ...valuesOf(resident, "episode")]
  const written = all.map((value) => (value as { readonly content: string }).content)
  const concluded = written.filter((content) => content.startsWith(CONCLUDED))
  return concluded
    .filter((content, index) => concluded.indexOf(content) !== index)
    .map((content) => `C18 "${content}" was written more than once`)
}

interface Report {
  readonly lines: ReadonlyArray<{ readonly operation: string; readonly steps: number }>
}

const checkDreams = (resident: Resident): ReadonlyArray<string> => {
  const told = new Map<string, number>()
  for (const { lines } of valuesOf(resident, "dream") as unknown as ReadonlyArray<Report>) {
    for (const { operation, steps } of lines) told.set(operation, (told.get(operation) ?? 0) + steps)
  }
  const done = new Map<string, number>()
  for (const { entry } of resident.entries) {
    const { detail, kind, name = "" } = entry.step ?? {}
    const [, operation] = /^dream (\w+)$/.exec(kind === "dream" && detail?.waits !== true ? name : "") ?? []
    if (operation !== undefined) done.set(operation, (done.get(operation) ?? 0) + 1)
  }
  return [...new Set([...told.keys(), ...done.keys()])].flatMap((operation) =>
    told.get(operation) === done.get(operation)
      ? []
      : [`C10 ${operation} had ${done.get(operation) ?? 0} steps, and reports tell ${told.get(operation) ?? 0}`]
  )
}

const isWithin = ({ range: { from, to } }: Compaction, place: MessagePlace): boolean =>
  !isBefore(place, from) && !isBefore(to, place)

const same = (one: MessagePlace | undefined, other: MessagePlace | undefined): boolean =>
  one?.no === other?.no && one?.index === other?.index

const checkCompactions = (resident: Resident): ReadonlyArray<string> => {
  const all = placedOf(resident)
  const compactions = valuesOf(resident, "compaction")
    .filter(isCompaction)
    .toSorted((a, b) => (isBefore(a.range.from, b.range.from) ? -1 : 1))
  const problems: Array<string> = []
  let next = 0
  for (const compaction of compactions) {
    const { compacted_count, id, range } = compaction
    const compacted = all.filter(({ place }) => isWithin(compaction, place))
    if (!same(all[next]?.place, range.from)) problems.push(`C11 ${id} does not begin where the one before it ended`)
    if (compacted.length !== compacted_count)
      problems.push(`C11 ${id} counts ${compacted_count} of ${compacted.length} messages`)
    const calls = new Set(compacted.flatMap(({ message }) => (message.calls ?? []).map((call) => call.id)))
    const parted = all.filter(({ message, place }) => calls.has(message.call ?? "") && !isWithin(compaction, place))
    if (parted.length > 0) problems.push(`C11 ${id} has parted ${parted.length} calls from their results`)
    next += compacted_count
  }
  const start = historyStartOf(deskOf(resident))
  if (compactions.length > 0 && !same(start?.from, all[next]?.place))
    problems.push(`C11 the history does not begin where the last compaction ended`)
  return problems
}

export const checkMemory = (resident: Resident): ReadonlyArray<string> =>
  [...checkFacts(resident), ...checkConcluded(resident), ...checkDreams(resident), ...checkCompactions(resident)].map(
    (problem) => `${problem} (${addressKey(resident.address)})`
  )
