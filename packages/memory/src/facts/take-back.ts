// TakeBack: what a memory is without what one night made of it, or without some of that.
// Owns what becomes of each record of a night. Leaves finding the night in the ledger to the runtime.
// B1  What stands as the night left it becomes what it was before the night, and is found as it was found then; links that lead
//     nowhere are mended on the way.
// B2  What was changed since loses what the night alone brought: a source, a link, a state. What others brought since stays.
// B3  A fact that the night learnt is retired, with the reason; one that was heard from elsewhere since stays, with those sources.
// B4  Nothing is learnt a second time from a source that was taken back in the same words, and nothing is put away a second
//     time whose being put away was taken back.
// B5  Taken back twice, nothing changes.
// B6  A profile of which nothing is left without the night goes, when that night had made it, or what had was taken back before. In the same
//     commit it is emptied first (E4 of profile.ts).

import { isDeepStrictEqual } from "node:util"
import { defined, isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import { type Fact, isFact, timesHeard } from "../fact.ts"
import { withdraw } from "../profiles/digest.ts"
import { type EntityProfile, isEntityProfile, type Profiles } from "../profiles/profile.ts"
import { retiredByPerson } from "./apply-routes.ts"
import { type Draft, mendLinks } from "./link.ts"

/** What a night made of one record. */
export interface NightChange {
  readonly kind: RecordChange["kind"]
  readonly key: string
  /** As it stood before the night; undefined where there was none. */
  readonly before: Json | undefined
  /** As the night left it; null where it took it away. */
  readonly after: Json | null
}

/** What stands under these names now, of every kind. */
export type Standing = (kind: RecordChange["kind"], key: string) => Json | undefined

/** How an item of a night is named: `fact/fact_12_0`, `entity/ann`, `episode/entry_3_0`. */
export const itemOf = ({ key, kind }: Pick<NightChange, "key" | "kind">): string => `${kind}/${key}`

/** How a link that a night made is named. */
export const linkItemOf = (from: string, to: string): string => `link/${[from, to].toSorted().join("/")}`

const without = <A>(all: ReadonlyArray<A>, some: ReadonlyArray<A>): ReadonlyArray<A> =>
  all.filter((each) => !some.includes(each))

const withWithdrawn = (fact: Fact, sources: ReadonlyArray<string>): Fact =>
  sources.length === 0 ? fact : { ...fact, withdrawn: [...new Set([...(fact.withdrawn ?? []), ...sources])] }

/** With how often it was heard, where its sources do not tell. */
const withHeard = ({ heard: _, ...fact }: Fact, times: number): Fact =>
  times > fact.sources.length ? { ...fact, heard: times } : fact

/** A fact of the night that was heard from elsewhere since, without what the night heard; undefined where it was not. */
const heardSince = (now: Fact, made: Fact): Fact | undefined => {
  const left = without(now.sources, made.sources)
  return left.length === 0 || now.state === "quarantined" || now.state === "proposed"
    ? undefined
    : withHeard(
        withWithdrawn({ ...now, sources: left }, without(made.sources, left)),
        timesHeard(now) - timesHeard(made)
      )
}

/** What the night turned in a fact that was there before, turned back in what it is now. */
const turnedBack = (now: Fact, before: Fact, after: Fact): Fact => {
  const gained = without(after.sources, before.sources)
  const tied = without(
    after.links.map(({ to }) => to),
    before.links.map(({ to }) => to)
  )
  const same = <K extends keyof Fact>(name: K): Pick<Fact, K> =>
    ({ [name]: isDeepStrictEqual(now[name], after[name]) ? before[name] : now[name] }) as unknown as Pick<Fact, K>
  const { reason, superseded_by, until, ...rest } = now
  const isTurned = (state: Fact["state"]): boolean =>
    after.state === state && before.state !== state && now.state === state
  const isBack = isTurned("retired") || (isTurned("superseded") && superseded_by === after.superseded_by)
  const turned: Fact = withWithdrawn(
    {
      ...rest,
      ...(isBack ? { state: before.state } : defined({ reason, superseded_by, until })),
      ...defined({ kept: isTurned("retired") ? true : undefined }),
      ...same("trust"),
      ...same("origin"),
      ...same("linked"),
      ...same("profiled"),
      sources: without(now.sources, gained),
      links: now.links.filter(({ to }) => !tied.includes(to))
    },
    gained
  )
  const isCounted = gained.length === 0 || gained.some((source) => now.sources.includes(source))
  return withHeard(turned, timesHeard(now) - (isCounted ? timesHeard(after) - timesHeard(before) : 0))
}

/** As it was before the night; what the retiring of another fact has led on stays led on. */
const asBefore = (led: Fact, before: Fact, after: Fact): Fact => {
  const by = led.state === "superseded" && led.superseded_by !== after.superseded_by ? led.superseded_by : undefined
  const place =
    by === undefined
      ? before
      : { ...before, state: "superseded" as const, superseded_by: by, ...defined({ until: led.until }) }
  const wasPutAway = after.state === "retired" && before.state !== "retired"
  return withWithdrawn(wasPutAway ? { ...place, kept: true } : place, without(after.sources, before.sources))
}

/** Facts and links of the night that are taken back, in a draft of all facts. */
class Facts {
  readonly draft: Draft
  readonly #known: ReadonlyMap<string, Fact>
  readonly #reason: string
  /** Those that hold no more. */
  readonly gone: Array<string> = []

  constructor(known: ReadonlyMap<string, Fact>, reason: string) {
    this.#known = known
    this.draft = new Map(known)
    this.#reason = reason
  }

  /** What the night learnt. */
  unlearn(after: Fact): void {
    const now = this.draft.get(after.id)
    if (now === undefined || now.state === "retired") return
    const left = heardSince(now, after)
    if (left !== undefined) {
      if (left.sources.length < now.sources.length) this.draft.set(now.id, left)
      return
    }
    this.#retire(now.id)
  }

  #retire(id: string): void {
    this.gone.push(id)
    for (const each of retiredByPerson(this.draft, id, this.#reason)) this.draft.set(each.id, each)
  }

  /** What the night turned in what was known. */
  turnBack(before: Fact, after: Fact): void {
    const [now, led] = [this.#known.get(after.id), this.draft.get(after.id)]
    if (now === undefined || led === undefined) return
    const isAsLeft = isDeepStrictEqual(now, after)
    const back = isAsLeft ? asBefore(led, before, after) : turnedBack(led, before, after)
    this.draft.set(after.id, back)
    // All that it was heard of was taken back, now or before.
    if (back.sources.length === 0 && before.sources.length > 0) this.#retire(back.id)
  }

  untie(a: string, b: string): void {
    for (const [id, other] of [
      [a, b],
      [b, a]
    ] as const) {
      const fact = this.draft.get(id)
      if (fact !== undefined) this.draft.set(id, { ...fact, links: fact.links.filter(({ to }) => to !== other) })
    }
  }

  /** The facts that are otherwise than they were; links that lead nowhere now are mended. */
  changed(): ReadonlyArray<Fact> {
    for (const fact of mendLinks(this.draft.values()).changed) this.draft.set(fact.id, fact)
    return [...this.draft.values()].filter((fact) => !isDeepStrictEqual(fact, this.#known.get(fact.id)))
  }
}

/** What left it is named, so that an index can follow. */
const profileBefore = (before: EntityProfile | undefined, now: EntityProfile): EntityProfile => {
  const was = before ?? { ...now, observations: [], attributes: [], read: 0, aliases: [], gone: [] }
  const left = without(
    now.attributes.map(({ id }) => id),
    was.attributes.map(({ id }) => id)
  )
  return { ...was, made: now.made, gone: [...new Set([...was.gone, ...now.gone, ...left])] }
}

/** What becomes of the journal, of what was put away, of passages and observations: only of what stands as the night left it. */
const otherwise = (
  { after, before, key, kind }: NightChange,
  night: ReadonlyArray<NightChange>,
  standing: Standing,
  now: number
): ReadonlyArray<RecordChange> => {
  if (!isDeepStrictEqual(standing(kind, key) ?? null, after)) return []
  if (kind === "episode") {
    const was = night.find((each) => each.kind === "journal" && each.key === key)?.before ?? after
    if (!isJsonObject(was) || !isJsonObject(after) || after["pruned_at"] === undefined) return []
    // It is found again, and is not at hand: so no night reads it, or puts it away, a second time.
    const { pruned_at: _, ...rest } = was
    return [{ kind, key, value: rest }]
  }
  if (kind !== "journal") return [{ kind, key, value: before ?? null }]
  if (before !== undefined) return after === null ? [] : [{ kind, key, value: before }]
  // What it noted for itself is found no more; its words stay, as everything of the journal does.
  const putAway: { readonly [name: string]: Json } = isJsonObject(after) ? after : {}
  return [
    { kind, key, value: null },
    { kind: "episode", key, value: { ...putAway, pruned_at: new Date(now).toISOString() } }
  ]
}

/** What is to be taken back of a night, beside what stands now. */
export interface TakeBack {
  readonly night: ReadonlyArray<NightChange>
  /** Items of it; all of it when not said. */
  readonly items?: ReadonlyArray<string>
  readonly facts: ReadonlyMap<string, Fact>
  readonly profiles: Profiles
  /** Of the other kinds. */
  readonly standing: Standing
  /** Why; it stands with the facts that are retired. */
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A profile that knows nothing any more, and leads to nothing but what the night had called it. */
const isNothing = (
  { aliases, attributes, observations, removed = [] }: EntityProfile,
  named: ReadonlyArray<string> = []
): boolean =>
  attributes.length + observations.length + removed.length === 0 && aliases.every((alias) => named.includes(alias))

/** Profiles as they were before, and without what was made of facts that hold no more; ids of those that are gone. */
const profilesBack = (
  changes: ReadonlyArray<NightChange>,
  known: Profiles,
  gone: ReadonlyArray<string>
): { readonly left: ReadonlyArray<EntityProfile>; readonly ended: ReadonlySet<string> } => {
  const byKey = new Map(changes.map((change) => [change.key, change]))
  const missed = changes.flatMap(({ after, before: was, key }): ReadonlyArray<EntityProfile> => {
    const before: unknown = was
    return after === null && isEntityProfile(before) && !known.has(key) ? [{ ...before, kept: true }] : []
  })
  const ended = new Set<string>()
  const standing = [...known.values()].flatMap((now) => {
    const { after, before: was } = byKey.get(now.id) ?? {}
    if (!isEntityProfile(after)) {
      const left = withdraw(now, gone)
      return left === now ? [] : [left]
    }
    const before = isEntityProfile(was) ? was : undefined
    const isAsLeft = isDeepStrictEqual(now, after)
    const left = isAsLeft ? profileBefore(before, now) : withdraw(now, gone)
    if (left === now) return []
    const isOfNight = before === undefined
    if (isAsLeft ? isOfNight : isNothing(left, isOfNight ? after.aliases : [])) ended.add(now.id)
    return [left]
  })
  return { left: [...standing, ...missed], ended }
}

/** What a night makes of these is its work; its marks, of how far it has read, stay. */
const taken: ReadonlySet<RecordChange["kind"]> = new Set([
  "fact",
  "entity",
  "journal",
  "episode",
  "passage",
  "observation"
])

/** The records that change, as they stand then; none when nothing of it is left. */
export const takeBack = ({ facts, items, night, now, profiles, reason, standing }: TakeBack) => {
  const wanted = night.filter(
    (change) => taken.has(change.kind) && (items === undefined || items.includes(itemOf(change)))
  )
  const draft = new Facts(facts, reason)
  const ofFacts = wanted.flatMap(({ after, before }) =>
    isFact(after) ? [{ after, before: isFact(before) ? before : undefined }] : []
  )
  for (const { after, before } of ofFacts) if (before === undefined) draft.unlearn(after)
  for (const { after, before } of ofFacts) if (before !== undefined) draft.turnBack(before, after)
  for (const [what, a, b] of (items ?? []).map((item) => item.split("/"))) {
    if (what === "link" && a !== undefined && b !== undefined) draft.untie(a, b)
  }
  const { ended, left: known } = profilesBack(
    wanted.filter(({ kind }) => kind === "entity"),
    profiles,
    draft.gone
  )
  const heard = new Set(
    [...new Map([...profiles, ...known.map((each) => [each.id, each] as const)]).values()].flatMap(({ observations }) =>
      observations.map(({ id }) => id)
    )
  )
  const others = wanted.filter(({ key, kind }) =>
    kind === "observation" ? !heard.has(key) : kind !== "fact" && kind !== "entity"
  )
  const changes: ReadonlyArray<RecordChange> = [
    ...draft.changed().map((fact): RecordChange => ({ kind: "fact", key: fact.id, value: fact as unknown as Json })),
    ...known.map((each): RecordChange => ({ kind: "entity", key: each.id, value: each as unknown as Json })),
    ...[...ended].map((key): RecordChange => ({ kind: "entity", key, value: null })),
    ...others.flatMap((each) => otherwise(each, night, standing, now))
  ]
  return changes
}
