// Directory: who can be written to in a fleet, and under which names.
// Owns finding the assistants that a target means. Leaves its making to the fleet's definition, delivery to the relay.
// D1  A target is an id before it is a name; `group:` and `role:` come after both, so no id is ever hidden by a form.
// D2  A name that several members have is refused with the candidates. An unknown target is refused with the known names.
// D3  A message to a role never reaches its sender: it goes to the others that hold the role.

import { isJsonObject, type Json } from "@reverie/protocol"

/** supervisor: leads. specialist: has a domain. observer: listens and never answers. member: all others. */
export const teamRoles = ["supervisor", "specialist", "observer", "member"] as const
/** What a member does in its team. */
export type TeamRole = (typeof teamRoles)[number]

/** A place in a team. */
export interface Seat {
  readonly group: string
  readonly role: TeamRole
}

export interface Listed {
  readonly id: string
  /** What it is called besides its id. */
  readonly names: ReadonlyArray<string>
  readonly seats: ReadonlyArray<Seat>
  readonly isTeam: boolean
}

export type Directory = ReadonlyArray<Listed>

export interface Unreached {
  readonly refused: "unknown" | "ambiguous"
  readonly reason: string
  /** What could have been meant: ids where the name is shared, targets of every form where it is unknown. */
  readonly candidates: ReadonlyArray<string>
}

export type Reached = { readonly ids: ReadonlyArray<string> } | Unreached

/** How many targets a refusal names. */
const MAX_CANDIDATES = 40

const plain = (name: string): string => name.trim().normalize("NFC").toLowerCase()

const byName = (directory: Directory, name: string): ReadonlyArray<Listed> =>
  directory.filter(({ id, names }) => [id, ...names].some((each) => plain(each) === plain(name)))

const ambiguous = (target: string, found: ReadonlyArray<Listed>): Unreached => {
  const candidates = found.map(({ id }) => id)
  const reason = `"${target}" is the name of ${candidates.length}: write to one of them by its id`
  return { refused: "ambiguous", reason, candidates }
}

/** Every target that an assistant can write to: the others' ids, groups, and roles that others hold. */
export const targetsFor = (directory: Directory, from?: string): ReadonlyArray<string> => {
  const others = directory.filter(({ id }) => id !== from)
  const groups = others.flatMap(({ id, isTeam }) => (isTeam ? [`group:${id}`] : []))
  const roles = new Set(others.flatMap(({ seats }) => seats.map(({ role }) => `role:${role}`)))
  return [...others.flatMap(({ id, isTeam }) => (isTeam ? [] : [id])), ...groups, ...[...roles].toSorted()]
}

const unknown = (directory: Directory, target: string, from: string | undefined): Unreached => {
  const candidates = targetsFor(directory, from).slice(0, MAX_CANDIDATES)
  const reason = `nobody is reached as "${target}"`
  return { refused: "unknown", reason, candidates }
}

const inGroup = (directory: Directory, name: string): ReadonlyArray<Listed> =>
  directory.some(({ id, isTeam }) => isTeam && id === name)
    ? directory.filter(({ id, isTeam }) => isTeam && id === name)
    : byName(directory, name).filter(({ isTeam }) => isTeam)

const holders = (directory: Directory, target: string, from: string | undefined): ReadonlyArray<string> => {
  const [role = "", ...group] = target.split("/").toReversed()
  const team = group.length === 0 ? undefined : group.toReversed().join("/")
  return directory.flatMap(({ id, seats }) =>
    id !== from && seats.some((seat) => seat.role === role && (team === undefined || seat.group === team)) ? [id] : []
  )
}

const one = (found: ReadonlyArray<Listed>, target: string): Reached | undefined => {
  if (found.length === 0) return undefined
  return found.length === 1 ? { ids: found.map(({ id }) => id) } : ambiguous(target, found)
}

/**
 * Whom a target means: an id, a name, `group:<team>`, `role:<role>` of the whole fleet or `role:<team>/<role>`.
 *
 * @example
 * reach(directory, "role:council/observer", "desk") // => { ids: ["archivist"] }
 */
export const reach = (directory: Directory, target: string, from?: string): Reached => {
  if (directory.some(({ id }) => id === target)) return { ids: [target] }
  const named = one(byName(directory, target), target)
  if (named !== undefined) return named
  if (target.startsWith("group:")) {
    return one(inGroup(directory, target.slice(6)), target) ?? unknown(directory, target, from)
  }
  const ids = target.startsWith("role:") ? holders(directory, target.slice(5), from) : []
  return ids.length === 0 ? unknown(directory, target, from) : { ids }
}

// PairRate: how often two assistants may write to each other.
// P1  Each of two may write half of what the pair may exchange within the window, so the pair never exceeds it, however
//     their messages cross. The times are the sender's own record: they change with its commits and survive a restart.
// P2  People, timers and answers are not counted: an answer exists only once for each message that was.
// P3  A refusal says when the next message may go.

/** How often two assistants may write to each other. */
export interface PairRate {
  /** Messages that two assistants may exchange within the window, both ways together; answers not counted. */
  readonly perPair: number
  /** How long a message counts, in milliseconds. */
  readonly windowMs: number
}

const DEFAULT_PAIR_RATE: PairRate = { perPair: 60, windowMs: 600_000 }

/** A rate of its own where it is given; nonsense is brought into the range. */
export const pairRateOf = (chosen: Partial<PairRate> = {}): PairRate => {
  const { perPair, windowMs } = { ...DEFAULT_PAIR_RATE, ...chosen }
  const whole = (count: number, least: number) => (Number.isFinite(count) ? Math.max(least, Math.floor(count)) : least)
  return { perPair: whole(perPair, 2), windowMs: whole(windowMs, 1) }
}

/** When the messages of the window were written, the oldest first. */
export const timesOf = (record: Json | undefined): ReadonlyArray<number> => {
  const times = isJsonObject(record ?? null) ? (record as { readonly times?: Json }).times : undefined
  return Array.isArray(times) ? times.filter((time) => typeof time === "number") : []
}

const share = ({ perPair }: PairRate): number => Math.floor(perPair / 2)

/** Those of the times that still count. */
const counted = (rate: PairRate, times: ReadonlyArray<number>, now: number): ReadonlyArray<number> =>
  times.filter((time) => time > now - rate.windowMs && time <= now).slice(-share(rate))

/** When one more message may go: now, or later. */
export const mayWriteAt = (rate: PairRate, times: ReadonlyArray<number>, now: number): number => {
  const recent = counted(rate, times, now)
  const oldest = recent[0]
  return recent.length < share(rate) || oldest === undefined ? now : oldest + rate.windowMs
}

/** The record after one more message. */
export const written = (rate: PairRate, times: ReadonlyArray<number>, now: number): ReadonlyArray<number> => [
  ...counted(rate, times, now),
  now
]

/** Why a message does not go, and when it may. */
export const rateRefusal = (rate: PairRate, to: string, retryAt: number): string =>
  `you and ${to} may exchange ${rate.perPair} messages within ${rate.windowMs / 1_000} s, and your half of them is ` +
  `used up; you may write to ${to} again at ${new Date(retryAt).toISOString()}`
