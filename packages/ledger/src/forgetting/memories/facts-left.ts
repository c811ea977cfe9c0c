// FactsLeft: facts whose place was taken by one that is forgotten.
// Owns what becomes of them, at each moment of a life. Leaves which facts go to what forgets.
// T1  What a forgotten fact took the place of holds again, or is led on to what took the place of that one, as when a person retires it.
// T2  So it is from the moment on at which its place was taken: the changes of a life tell what stands in its end.
// T3  What holds again is heard by profiles again: one in which nothing rests on what it had heard of it has not heard of it.

import { defined, isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import type { BundlePart, PartOf } from "../../bundle-part.ts"
import { listOf } from "../hushing.ts"

type Fields = { readonly [key: string]: Json }

const changesOf = (part: BundlePart): ReadonlyArray<RecordChange> => {
  const records: unknown = part.kind === "entry" ? Reflect.get(part.entry, "records") : undefined
  return Array.isArray(records) ? (records as ReadonlyArray<RecordChange>) : []
}

const isKept = ({ kind }: RecordChange): boolean => kind === "fact" || kind === "entity"

const keptIn = (part: BundlePart): ReadonlyArray<RecordChange> => changesOf(part).filter(isKept)

const nameOf = ({ key, kind }: RecordChange): string => `${kind} ${key}`

const placeOf = (value: Json | undefined): string | undefined => {
  const by = isJsonObject(value) && value["state"] === "superseded" ? value["superseded_by"] : undefined
  return typeof by === "string" ? by : undefined
}

/** Facts and profiles that stand at one moment, by kind and key. */
type Kept = Map<string, RecordChange>

const put = (kept: Kept, changes: ReadonlyArray<RecordChange>): void => {
  for (const change of changes) {
    if (change.value === null) kept.delete(nameOf(change))
    else kept.set(nameOf(change), change)
  }
}

/** One moment, with what is forgotten and without it. */
class Moment {
  readonly #was: Kept = new Map()
  readonly #left: Kept = new Map()
  readonly #told = new Map<string, Json | null>()

  /** Answers whether a fact of these is forgotten. */
  pass(before: ReadonlyArray<RecordChange>, after: ReadonlyArray<RecordChange>): boolean {
    const isGone = (change: RecordChange): boolean =>
      change.kind === "fact" && this.#was.has(nameOf(change)) !== this.#left.has(nameOf(change))
    const wasGone = before.some(isGone)
    put(this.#was, before)
    put(this.#left, after)
    return wasGone || before.some(isGone)
  }

  #before(id: string): Json | undefined {
    return this.#was.get(`fact ${id}`)?.value ?? undefined
  }

  #isLeft(id: string): boolean {
    return this.#left.has(`fact ${id}`)
  }

  /** A fact as it stands without what is forgotten; the same one where that changes nothing. */
  #led(value: Fields): Json {
    const taken = placeOf(value)
    if (taken === undefined || this.#isLeft(taken) || this.#before(taken) === undefined) return value
    const seen = new Set<string>()
    let [by, until]: [string | undefined, Json | undefined] = [taken, undefined]
    while (by !== undefined && !this.#isLeft(by) && !seen.has(by)) {
      seen.add(by)
      const gone: Json | undefined = this.#before(by)
      until = isJsonObject(gone) ? gone["until"] : undefined
      by = placeOf(gone)
    }
    const { superseded_by: _, until: __, ...rest } = value
    return by === undefined || seen.has(by)
      ? { ...rest, state: "active", linked: false, profiled: false }
      : { ...rest, superseded_by: by, ...defined({ until }) }
  }

  /** A change as it is without what is forgotten. */
  tell(change: RecordChange): RecordChange {
    const { kind, value } = change
    if (!isJsonObject(value) || !isKept(change)) return change
    const left = kind === "fact" ? this.#led(value) : this.#unheard(value)
    this.#told.set(nameOf(change), left)
    return left === value ? change : { ...change, value: left }
  }

  /** What stands otherwise now than was told. */
  untold(): ReadonlyArray<RecordChange> {
    return [...this.#left.values()].flatMap((change) => {
      const told = this.#told.get(nameOf(change))
      const now = this.tell(change)
      return now.value === told || JSON.stringify(now.value) === JSON.stringify(told) ? [] : [now]
    })
  }

  /** Whether a fact holds that did not. */
  #holdsAgain(id: Json | undefined): boolean {
    const key = typeof id === "string" && id.startsWith("f/") ? id.slice(2) : ""
    const value = this.#left.get(`fact ${key}`)?.value
    if (!isJsonObject(value)) return false
    const left = this.#led(value)
    return left !== value && placeOf(left) === undefined
  }

  /** A profile that has not heard of what holds again, where nothing is left that it made of it. */
  #unheard(profile: Fields): Json {
    const made = [...listOf(profile["attributes"]), ...listOf(profile["removed"])].filter(isJsonObject) as Array<Fields>
    const pasts = made.flatMap((each) => listOf(each["superseded"])).filter(isJsonObject) as Array<Fields>
    const evidence = new Set([...made, ...pasts].flatMap((each) => listOf(each["evidence"])))
    const isHeard = (each: Json): boolean =>
      !isJsonObject(each) || evidence.has(each["id"] ?? null) || !this.#holdsAgain(each["source"])
    const observations = listOf(profile["observations"])
    return observations.every(isHeard) ? profile : { ...profile, observations: observations.filter(isHeard) }
  }
}

const entryLeft = (moment: Moment, before: BundlePart | undefined, part: PartOf<"entry">): BundlePart => {
  const isGoing = moment.pass(keptIn(before ?? part), keptIn(part))
  const all = changesOf(part)
  const own = all.map((change) => moment.tell(change))
  const records = [...own, ...(isGoing ? moment.untold() : [])]
  const isSame = records.length === all.length && records.every((change, at) => change === all[at])
  return isSame ? part : ({ kind: "entry", entry: { ...part.entry, records } } as unknown as BundlePart)
}

const changeOf = ({ key, of, value }: PartOf<"record">): RecordChange => ({ kind: of, key, value }) as RecordChange

const recordsIn = (parts: ReadonlyArray<BundlePart>): ReadonlyArray<RecordChange> =>
  parts.flatMap((part) => (part.kind === "record" ? [changeOf(part)] : [])).filter(isKept)

/** Parts in which no fact has given its place to one that is forgotten. `before`: the same parts with what is forgotten. */
export const withFactsLeft = (
  before: ReadonlyArray<BundlePart>,
  parts: ReadonlyArray<BundlePart>
): ReadonlyArray<BundlePart> => {
  const told = [...before.flatMap(keptIn), ...recordsIn(before)]
  if (told.every(({ value }) => placeOf(value ?? undefined) === undefined)) return parts
  const entries = new Map(before.flatMap((part) => (part.kind === "entry" ? [[part.entry.no, part] as const] : [])))
  const [moment, end] = [new Moment(), new Moment()]
  end.pass(recordsIn(before), recordsIn(parts))
  return parts.map((part) => {
    if (part.kind === "entry") return entryLeft(moment, entries.get(part.entry.no), part)
    if (part.kind !== "record") return part
    const { value } = end.tell(changeOf(part))
    return value === part.value || value === null ? part : { ...part, value }
  })
}
