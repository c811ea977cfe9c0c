// Looking: what would go of the lives of a tenant, before anything goes.
// Owns reading them, and following what was sent from one to another. Leaves what is left of a life to who asks.
// L1  A life is looked at again when more was sent to it than was known: what is found last of it counts.
// L2  No one is looked at of another tenant.

import { type Bundle, type BundlePlace, bundleOfParts, Bundles, goneBetween, lostSegments } from "@reverie/ledger"
import type { AssistantId, Entry, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { addressPage, tenantPage } from "../fleet/entry-source.ts"
import type { HandingOn } from "./handing-on.ts"
import { goingIn } from "./said.ts"
import type { ForgetSample } from "./topics.ts"

const PAGE = 500

/** An older segment of an assistant that could not be read, so that it is not known what it held. */
export interface UnreadSegment {
  /** Whose it is. */
  readonly assistant: string
  /** Its key in its place, or its number in the store. */
  readonly segment: string
  /** The number of its first entry. */
  readonly from: number
  /** The number of its last entry. */
  readonly to: number
  /**
   * `missing`: it was not there, and nothing in it was forgotten. `damaged`: it stays, for all of it was said before what is forgotten.
   * `removed`: it was damaged, and went, for it may have held what is forgotten.
   */
  readonly state: "missing" | "damaged" | "removed"
  /** A whole one that is put back is read again: forget once more then. False where all of the assistant was forgotten. */
  readonly comesBack: boolean
}

/** `alsoUnread`: those whose state can not be read are among them. */
export const placesIn = Effect.fnUntraced(function* (
  tenant: TenantId,
  assistant: AssistantId | undefined,
  alsoUnread = false
) {
  if (assistant !== undefined) return [{ tenant, assistant }] as ReadonlyArray<BundlePlace>
  const places: Array<BundlePlace> = [{ tenant }]
  let after: AssistantId | undefined
  while (true) {
    const page = alsoUnread
      ? yield* addressPage(tenant, after, PAGE)
      : (yield* tenantPage(tenant, after, PAGE)).map(({ address }) => address)
    places.push(...page)
    after = page.at(-1)?.assistant
    if (page.length < PAGE) return places
  }
})

const standing = (place: BundlePlace) =>
  Bundles.use((bundles) => {
    const { assistant, tenant } = place
    const parts =
      assistant === undefined ? bundles.packTenant(tenant) : bundles.pack({ tenant, assistant }, { marksLost: true })
    return Effect.map(Stream.runCollect(parts), bundleOfParts)
  })

/** Whose it is; empty for what a tenant has besides. */
export const assistantOf = ({ head }: Bundle): string => (head.kind === "assistant" ? head.address.assistant : "")

const unreadOf = (there: Bundle, made: Bundle): ReadonlyArray<UnreadSegment> => {
  const { head } = there
  if (head.kind === "tenant") return []
  return lostSegments(there, made).map((each) => ({ assistant: head.address.assistant, ...each }))
}

/** A life of which something goes. */
export interface Found {
  readonly place: BundlePlace
  readonly gone: Readonly<Record<string, number>>
  /** To whom it sent what goes. */
  readonly to: ReadonlyArray<string>
}

/** To whom entries that are to be others have sent something. */
const recipientsOf = (there: Bundle, made: Bundle): ReadonlyArray<string> => {
  const left = new Map(made.parts.flatMap((part) => (part.kind === "entry" ? [[part.entry.no, part.entry]] : [])))
  return there.parts.flatMap((part) => {
    if (part.kind !== "entry") return []
    const { no, sends = [] } = part.entry as unknown as Entry
    if (sends.length === 0 || JSON.stringify(part.entry) === JSON.stringify(left.get(no))) return []
    return sends.map(({ to }) => to.assistant)
  })
}

/** What is shown of a life, of which that would be left. */
type FindIn = (there: Bundle, made: Bundle) => ReadonlyArray<ForgetSample>

/** What is looked for. */
export interface Search {
  readonly tenant: TenantId
  readonly change: (there: Bundle) => Bundle
  readonly findIn?: FindIn
  /** What of it was sent to others; `change` learns it. */
  readonly handed: HandingOn
}

/** What a dry run shows of a life: also what was sent there, in whatever words. */
const shownOf = (there: Bundle, made: Bundle, { findIn, handed }: Search): ReadonlyArray<ForgetSample> => {
  if (findIn === undefined) return []
  const found = findIn(there, made)
  const known = new Set(found.map(({ kind, where }) => `${kind} ${where}`))
  const sent = handed.has(assistantOf(there)) ? goingIn(there, made) : []
  return [...found, ...sent.filter(({ kind, where }) => !known.has(`${kind} ${where}`))]
}

const lookedAt = Effect.fnUntraced(function* (place: BundlePlace, search: Search) {
  const there = yield* standing(place)
  const made = search.change(there)
  const gone = goneBetween(there, made)
  const isSame = JSON.stringify(made.head) === JSON.stringify(there.head) && Object.keys(gone).length === 0
  const found: Found | undefined = isSame ? undefined : { place, gone, to: recipientsOf(there, made) }
  return { found, unread: unreadOf(there, made), samples: shownOf(there, made, search) }
})

/** What would go of some lives, and of those whom what goes was sent to. */
export const looking = Effect.fnUntraced(function* (places: ReadonlyArray<BundlePlace>, search: Search) {
  const looked = new Map<string, Effect.Success<ReturnType<typeof lookedAt>>>()
  let next = places
  do {
    for (const place of next) looked.set(JSON.stringify(place.assistant ?? null), yield* lookedAt(place, search))
    const waiting = search.handed.waiting()
    const all = waiting.size === 0 ? [] : yield* placesIn(search.tenant, undefined)
    next = all.filter(({ assistant }) => assistant !== undefined && waiting.has(assistant))
  } while (next.length > 0)
  const each = [...looked.values()]
  return {
    found: each.flatMap(({ found }) => found ?? []),
    unread: each.flatMap(({ unread }) => unread),
    samples: each.flatMap(({ samples }) => samples)
  }
})
