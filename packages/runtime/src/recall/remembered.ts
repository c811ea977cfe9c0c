// Remembered: hits as a model is shown them.
// Owns how many of them there is room for, and how much of each. Leaves their form, as data, to `memory`.
// M1  What is shown costs no more than there is room for; what is left out is the least of it.

import { type Content, dataOf } from "@reverie/context"
import { asData, type EntityProfile, entryId, type Hit, lineOfHit, type MemoryLine, profileText } from "@reverie/memory"
import { type AssistantId, defined } from "@reverie/protocol"

/** Of each hit, in UTF-16 units. */
const MAX_HIT_CHARS = 600

export interface Room {
  readonly maxTokens: number
  /** What a line costs with its line break. */
  readonly tokensOf: (line: string) => number
}

export interface Remembered {
  readonly content: Content
  /** Of what is shown; those of another assistant with its name before them. */
  readonly ids: ReadonlyArray<string>
}

const lineOf = (hit: Hit, self: AssistantId): MemoryLine => {
  const line = lineOfHit(hit)
  const { text } = line
  const shown = text.length <= MAX_HIT_CHARS ? text : `${text.slice(0, MAX_HIT_CHARS - 1).toWellFormed()}…`
  return { ...line, text: shown, ...defined({ kind: hit.owner === self ? undefined : `${line.kind} of ${hit.owner}` }) }
}

/** The hits that there is room for, the best first; undefined when there is none. */
export const remembered = (
  hits: ReadonlyArray<Hit>,
  self: AssistantId,
  { maxTokens, tokensOf }: Room
): Remembered | undefined => {
  if (hits.length === 0) return undefined
  const memories = hits.map((hit) => lineOf(hit, self))
  const written = asData(memories).split("\n")
  // Each memory is one line; the others open and close the whole.
  const frame = written.length - memories.length
  const before = frame - 1
  const frameTokens = [...written.slice(0, before), ...written.slice(-1)].reduce((sum, line) => sum + tokensOf(line), 0)
  let tokens = frameTokens
  const kept = memories.findIndex((_, index) => {
    tokens += tokensOf(written[before + index] ?? "")
    return tokens > maxTokens
  })
  const count = kept === -1 ? memories.length : kept
  if (count === 0) return undefined
  return {
    content: dataOf(asData(memories.slice(0, count))),
    ids: hits.slice(0, count).map(({ entry, owner }) => (owner === self ? entry.id : `${owner} ${entry.id}`))
  }
}

const profileLine = (profile: EntityProfile, now: number): MemoryLine => {
  const { attributes, observations, relationship } = profile
  const trusts = [...attributes, ...observations].map(({ trust }) => trust)
  return {
    kind: "profile",
    at: relationship.last_at,
    trust: trusts.length === 0 ? 0 : Math.min(...trusts),
    text: profileText(profile, now)
  }
}

/** What is known of those it deals with; undefined when nothing is. */
export const knownOf = (profiles: ReadonlyArray<EntityProfile>, now: number): Remembered | undefined =>
  profiles.length === 0
    ? undefined
    : {
        content: dataOf(asData(profiles.map((profile) => profileLine(profile, now)))),
        ids: profiles.map(({ id }) => entryId("profile", id))
      }
