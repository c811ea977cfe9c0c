// ProfileText: how profiles stand in a prompt, in the place `entity_context`.
// Owns the lines. The prompt decides whose profiles are shown, and where.
// T1  A line begins with "Entity: ", "- ", "~ " or "… " and is one line: no text in it can write another.
// T2  However much is known, the text has at most `maxChars` UTF-16 units; what is left out is counted.
// T3  What a person wrote comes first, then the best founded attributes; what is not digested yet follows, the latest first.

import { cleanLine } from "../integrity/clean-text.ts"
import { cut, type EntityProfile } from "./profile.ts"
import { tierAt } from "./name.ts"

const PROFILE_CHARS = 1_200
const ENTITY_CONTEXT_CHARS = 4_000

const MAX_UNDIGESTED_SHOWN = 5
const MAX_ALIASES_SHOWN = 3
/** Room for the line that counts what is left out. */
const COUNT_CHARS = 24

const dayOf = (at: number): string => {
  const day = new Date(at)
  return Number.isNaN(day.getTime()) ? "undated" : day.toISOString().slice(0, 10)
}

const contactsOf = ({ first_at, interactions, last_at }: EntityProfile["relationship"]): string =>
  interactions === 1
    ? `met once, on ${dayOf(last_at)}`
    : `met ${interactions} times from ${dayOf(first_at)} to ${dayOf(last_at)}`

const headOf = ({ aliases, name, relationship, type }: EntityProfile, now: number): string => {
  const called = aliases.slice(0, MAX_ALIASES_SHOWN).map(cleanLine).join(", ")
  return [
    `Entity: ${cleanLine(name)} (${type})`,
    ...(called === "" ? [] : [`also called ${called}`]),
    ...(relationship.interactions === 0 ? [] : [`${tierAt(relationship, now)}, ${contactsOf(relationship)}`])
  ].join("; ")
}

const linesOf = ({ attributes, observations }: EntityProfile): ReadonlyArray<string> => [
  ...attributes
    .toSorted(
      (a, b) =>
        Number(b.by !== undefined) - Number(a.by !== undefined) || b.evidence.length - a.evidence.length || b.at - a.at
    )
    .map(({ at, text }) => `- ${cleanLine(text)} (${dayOf(at)})`),
  ...observations
    .filter(({ digested }) => !digested)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_UNDIGESTED_SHOWN)
    .map(({ at, text }) => `~ ${cleanLine(text)} (${dayOf(at)})`)
]

/** What is known of one; only the head when nothing is. */
export const profileText = (profile: EntityProfile, now: number, maxChars: number = PROFILE_CHARS): string => {
  const head = cut(headOf(profile, now), maxChars)
  const lines = linesOf(profile)
  const shown: Array<string> = []
  let room = maxChars - head.length
  for (const [at, line] of lines.entries()) {
    const isLast = at === lines.length - 1
    if (line.length + 1 > room - (isLast ? 0 : COUNT_CHARS)) break
    shown.push(line)
    room -= line.length + 1
  }
  const left = lines.length - shown.length
  const count = `… ${left} more`
  return [head, ...shown, ...(left > 0 && count.length < room ? [count] : [])].join("\n")
}

/** What is known of several, those that come first first; empty for none. */
export const entityContext = (
  profiles: Iterable<EntityProfile>,
  now: number,
  maxChars: number = ENTITY_CONTEXT_CHARS
): string => {
  const texts: Array<string> = []
  let room = maxChars
  for (const profile of profiles) {
    // Half a head says nothing.
    if (headOf(profile, now).length > room) break
    const text = profileText(profile, now, Math.min(PROFILE_CHARS, room))
    texts.push(text)
    room -= text.length + 2
  }
  return texts.join("\n\n")
}
