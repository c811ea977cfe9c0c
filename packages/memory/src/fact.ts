// Fact: one thing that an assistant knows, with where it knows it from.
// Owns its shape as it is kept. Leaves finding facts to `facts/`, recalling them to the index.
// O1  A fact names its sources. One joins when the same is said again, from the ninth time on at each doubling, so that a fact grows with
//     the logarithm of its repeats; one that is taken back with its night is named as that: so the
//     index can lead from each source to the fact, or no longer. A fact without a source is not kept.
// O2  A fact is never deleted: it is superseded by another one, retired, held back in quarantine, or proposed.
// O3  What came from untrusted text carries its origin, and never more trust than that origin has. Both change only when
//     someone who is believed more says it in the same words.

import * as Schema from "effect/Schema"

/**
 * person: said to the assistant. assistant: said by another assistant. tool: a tool's result. overheard: said nearby. self:
 * the assistant's own words and conclusions.
 */
export const originTypes = ["person", "assistant", "tool", "ambientMessages", "self"] as const
export type OriginType = (typeof originTypes)[number]

export const Origin = Schema.Struct({ type: Schema.Literals(originTypes), name: Schema.String })
export type Origin = typeof Origin.Type

/** How far an origin is believed, at the most. */
export const trustOf: Readonly<Record<OriginType, number>> = {
  person: 0.9,
  assistant: 0.7,
  tool: 0.8,
  ambientMessages: 0.3,
  self: 0.6
}

/**
 * active: it holds. superseded: another one took its place. retired: it holds no longer. quarantined: not to be used. proposed: a dream
 * learnt it, and a person has not said yet whether it holds.
 */
const factStates = ["active", "superseded", "retired", "quarantined", "proposed"] as const

const Link = Schema.Struct({ to: Schema.String, why: Schema.String })
type Link = typeof Link.Type

/** As it is kept, under its id, as a record of the kind `fact`. */
export const Fact = Schema.Struct({
  id: Schema.String,
  text: Schema.String,
  /** When what it says was said, in milliseconds since the epoch: it holds since then. */
  at: Schema.Finite,
  /** When it became a fact. */
  learnt_at: Schema.Finite,
  /** Entry ids (`messages.ts`) of the messages and journal entries it came from. */
  sources: Schema.Array(Schema.String),
  /** How often it was heard, where that is more often than it has sources. */
  heard: Schema.optionalKey(Schema.Int),
  /** Those that were taken back: the index leads from none of them to the fact, and it is not learnt of them again. */
  withdrawn: Schema.optionalKey(Schema.Array(Schema.String)),
  origin: Origin,
  /** Of one that an operator wrote: the conversation it belongs to, that of what it corrects; empty where it is everybody's. */
  thread: Schema.optionalKey(Schema.String),
  trust: Schema.Finite,
  importance: Schema.Finite,
  entities: Schema.Array(Schema.String),
  links: Schema.Array(Link),
  state: Schema.Literals(factStates),
  /** The fact that took its place, when it is superseded. */
  superseded_by: Schema.optionalKey(Schema.String),
  /** Of a superseded one: when what took its place was said. It held from `at` until then. */
  until: Schema.optionalKey(Schema.Finite),
  /** Of a proposed one: the fact whose place it takes when it is accepted. */
  replaces: Schema.optionalKey(Schema.String),
  /** Why it is retired or quarantined. */
  reason: Schema.optionalKey(Schema.String),
  /** A person took back that it was put away: no night puts it away again. */
  kept: Schema.optionalKey(Schema.Boolean),
  /** Neighbours have been looked for. */
  linked: Schema.Boolean,
  /** The profiles of its entities have heard of it. */
  profiled: Schema.Boolean
})
export type Fact = typeof Fact.Type

/** How often it was heard. */
export const timesHeard = ({ heard, sources }: Pick<Fact, "heard" | "sources">): number => heard ?? sources.length

const MAX_EACH = 8

/** The same was heard again, from this source. */
export const heardAgain = (fact: Fact, source: string): Fact => {
  const heard = timesHeard(fact) + 1
  const isNamed = heard <= MAX_EACH || Number.isInteger(Math.log2(heard))
  const sources = isNamed ? [...fact.sources, source] : fact.sources
  return heard === sources.length ? { ...fact, sources } : { ...fact, sources, heard }
}

export const isFact = Schema.is(Fact)

/** When facts are changed: the tick that they are counted by, and the present in milliseconds since the epoch. */
export interface FactMoment {
  readonly tick: number
  readonly now: number
}

// Lived: something the assistant lived through, as memory reads it: a message or a journal entry.

export interface Lived {
  /** Entry id: `m/12/0` or `j/entry_3_0`. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Who said it, or "journal". */
  readonly speaker: string
  readonly text: string
  readonly origin: Origin
  /** How far it is believed; the origin's own trust when not said. */
  readonly trust?: number
  /** What it was given by hand or by a heuristic, 1 to 10. */
  readonly importance: number
  /** Whose conversation it belongs to, where the assistant keeps people apart. */
  readonly thread?: string
  /** The assistant answered it before anyone else spoke. */
  readonly answered?: boolean
}

/** Of one item: what is longer is shown in parts. */
export const MAX_SHOWN_CHARS = 2_000

/** Stands before the number of a part in its id, and in no id of an item. */
const PART = "#"

/** An item in as many as it needs, each short enough to be shown whole. */
export const inParts = (item: Lived): ReadonlyArray<Lived> => {
  if (item.text.length <= MAX_SHOWN_CHARS) return [item]
  const parts: Array<Lived> = []
  for (let rest = item.text.trim(); rest !== "";) {
    const within = rest.slice(0, MAX_SHOWN_CHARS)
    // After a line, a sentence or a word, where one ends in its second half; never inside of a letter.
    const after = ["\n", ". ", " "].map((mark) => within.lastIndexOf(mark) + 1).find((at) => at > MAX_SHOWN_CHARS / 2)
    const end = after ?? (/[\uD800-\uDBFF]$/.test(within) ? MAX_SHOWN_CHARS - 1 : MAX_SHOWN_CHARS)
    const text = rest.length <= MAX_SHOWN_CHARS ? rest : rest.slice(0, end)
    const id = parts.length === 0 ? item.id : `${item.id}${PART}${parts.length}`
    parts.push({ ...item, id, text: text.trim() })
    rest = rest.slice(text.length).trim()
  }
  return parts
}

/** Of the item that a part is of. */
export const wholeId = (id: string): string => id.split(PART)[0] ?? id
