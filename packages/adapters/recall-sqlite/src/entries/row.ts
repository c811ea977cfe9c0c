// Row: an entry of a memory as the index keeps it and finds it.
// Owns the form of a row. Leaves reading and writing rows to entries.ts.
// W1  What was put comes back equal.
// W2  What was said around an entry is not kept a second time: its row names the entries that say it.

import { type AttachedFact, type MemoryEntry, memoryKinds, type Readers } from "@reverie/memory"
import { type Address, defined } from "@reverie/protocol"

/** An entry as it is kept: `body` is JSON. */
export interface EntryRow {
  readonly key: number
  readonly doc: number
  readonly body: string
}

/** An entry with the facts attached to it. */
export interface Kept {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
  /** Ids of the entries whose texts are its context; it is left out of one that was read, then. */
  readonly around: ReadonlyArray<string>
}

export interface FoundEntry extends Pick<Kept, "entry" | "facts"> {
  readonly key: number
  readonly owner: Address
}

/** Whose entries: the owner and the key of its group. */
export interface Owner {
  readonly address: Address
  readonly key: number
}

/** Without the names of the fields, which would be half of a row; 0 stands for what is not there. */
type Body = readonly [
  id: string,
  kind: number,
  at: number,
  text: string,
  trust: number,
  importance: number,
  entities: ReadonlyArray<string>,
  tags: ReadonlyArray<string>,
  speaker?: string | 0,
  thread?: string | 0,
  readers?: 0 | 1 | Exclude<Readers, string>,
  facts?: ReadonlyArray<readonly [id: string, text: string]> | 0,
  around?: ReadonlyArray<string> | string | 0
]

const readersIn = (readers: Body[10] = 0): Readers => {
  if (readers === 0) return "owner"
  return readers === 1 ? "fleet" : readers
}

const readersOut = (readers: Readers): Body[10] => {
  if (readers === "owner") return 0
  return readers === "fleet" ? 1 : (readers as Exclude<Readers, string>)
}

const textOr = (text: string | 0 | undefined): string | undefined => (text === 0 ? undefined : text)

const entryOf = ([
  id,
  kind,
  at,
  text,
  trust,
  importance,
  entities,
  tags,
  speaker,
  thread,
  readers
]: Body): MemoryEntry => ({
  id,
  kind: memoryKinds[kind] ?? "message",
  at,
  text,
  trust,
  importance,
  entities,
  tags,
  readers: readersIn(readers),
  ...defined({ speaker: textOr(speaker), thread: textOr(thread) })
})

const factsOf = ([, , , , , , , , , , , facts]: Body): ReadonlyArray<AttachedFact> =>
  facts === undefined || facts === 0 ? [] : facts.map(([id, text]) => ({ id, text }))

const bodyIn = ({ body }: Pick<EntryRow, "body">): Body => JSON.parse(body) as Body

/** Without what was said around it. */
export const readEntry = (row: Pick<EntryRow, "body">): MemoryEntry => entryOf(bodyIn(row))

/** An entry and its facts. */
export const readFound = (row: Pick<EntryRow, "body">): Pick<Kept, "entry" | "facts"> => {
  const body = bodyIn(row)
  return { entry: entryOf(body), facts: factsOf(body) }
}

export const readRow = (row: EntryRow): Kept => {
  const body = bodyIn(row)
  const { 12: around } = body
  const entry = entryOf(body)
  return {
    entry: typeof around === "string" ? { ...entry, context: around } : entry,
    facts: factsOf(body),
    around: Array.isArray(around) ? (around as ReadonlyArray<string>) : []
  }
}

export const writeRow = ({ around, entry, facts }: Kept): string => {
  const { at, context, entities, id, importance, kind, readers, speaker, tags, text, thread, trust } = entry
  const body: Array<unknown> = [id, memoryKinds.indexOf(kind), at, text, trust, importance, entities, tags]
  body.push(speaker ?? 0, thread ?? 0, readersOut(readers))
  body.push(facts.length === 0 ? 0 : facts.map((fact) => [fact.id, fact.text]))
  body.push(around.length === 0 ? (context ?? 0) : around)
  while (body.at(-1) === 0) body.pop()
  return JSON.stringify(body)
}
