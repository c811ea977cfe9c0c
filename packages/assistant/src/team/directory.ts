// Directory: who can be written to in a fleet, and under which names.
// Owns finding the assistants that a target means. Leaves its making to the fleet's definition, delivery to the relay.
// D1  A target is an id before it is a name; `group:` and `role:` come after both, so no id is ever hidden by a form.
// D2  A name that several have reaches nobody: the refusal tells the candidates. An unknown target tells who there is.
// D3  Nobody is reached by their own role: whoever writes to a role they hold writes to the others who hold it.

/** supervisor: leads. specialist: has a domain. observer: listens and never answers. member: everybody else. */
export const teamRoles = ["supervisor", "specialist", "observer", "member"] as const
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

/** Every target there is for somebody: the others' ids, groups, and roles that others hold. */
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
