// DreamAccount: what one night's dream made of a memory: learnt, linked, changed, forgotten, each with its sources.
// Owns telling a night as a person reads it, and its headline. Leaves the counts of each operation to the report, finding the night in
// the ledger to the runtime.
// D1  Each item is named as it is taken back (`item`), and says so when it was.
// D2  A night that changed nothing of what is known says so, whatever it wrote for itself (cursors, marks, reports).
// D3  What a person has declined to put away waits no more, nor does anything of a night that was taken back.

import type { OutboxRow } from "@reverie/ledger"
import {
  type EntityProfile,
  type Fact,
  isEntityProfile,
  isFact,
  itemOf,
  keyOfId,
  linkItemOf,
  placeOfId
} from "@reverie/memory"
import { defined, type Entry, isJsonObject, type RecordRow } from "@reverie/protocol"
import type { DreamReport, Night } from "@reverie/runtime"
import { clipped } from "../timeline/tick-view.ts"

/** A message or an entry of the journal that something came from. */
export interface DreamSource {
  /** As facts name it: `m/12/0` is a message, `j/entry_3_0` an entry of the journal. */
  readonly id: string
  /** The tick that it stands in. */
  readonly tick?: number
  /** What was said, of a message: the beginning of it. */
  readonly text?: string
}

/** One thing that a night has made of a memory. */
export interface DreamItem {
  /** As `fleet.memory.undoDream` names it: `fact/fact_12_0`, `link/fact_1_0/fact_2_0`, `entity/ann`, `episode/entry_3_0`. */
  readonly item: string
  /** True when it was taken back, alone or with its night. */
  readonly undone?: boolean
  /** True while it waits for a person's word: nothing has come of it yet. */
  readonly waits?: boolean
}

/** A fact that a night has learnt. */
export interface DreamLearnt extends DreamItem {
  /** The id of the fact. */
  readonly fact: string
  /** What it says. */
  readonly text: string
  /** How it stands now. */
  readonly state: Fact["state"]
  /** How far it is believed, 0 to 1. */
  readonly trust: number
  /** Why it is held back or retired, where it is. */
  readonly reason?: string
  /** Where it came from. */
  readonly sources: ReadonlyArray<DreamSource>
}

/** Two facts that a night has tied to each other. */
export interface DreamLinked extends DreamItem {
  /** The id of one of them. */
  readonly from: string
  /** The id of the other one. */
  readonly to: string
  /** What the first says. */
  readonly fromText: string
  /** What the other says. */
  readonly toText: string
  /** What ties them together. */
  readonly why: string
}

/** What stood in a memory already, and stands there otherwise since a night. */
export interface DreamChanged extends DreamItem {
  /** superseded: a newer fact took its place. confirmed: it was said again. profile: what is known of someone. */
  readonly what: "superseded" | "confirmed" | "profile"
  /** Of the fact, or of the profile. */
  readonly id: string
  /** Of whom a profile is. */
  readonly name?: string
  /** What it said before: a fact one text, a profile its attributes. */
  readonly before: ReadonlyArray<string>
  /** What is said in its place; of a profile its attributes since then. */
  readonly after: ReadonlyArray<string>
  /** Where it came from. */
  readonly sources: ReadonlyArray<DreamSource>
}

/** What a night has put away: a fact that holds no longer, or an entry of the journal. */
export interface DreamForgotten extends DreamItem {
  /** A fact is retired, an entry of the journal is put away. */
  readonly what: "fact" | "journal"
  /** Of the fact or of the entry. */
  readonly id: string
  /** What it said; of an entry the beginning. */
  readonly text: string
  /** Why it was put away. */
  readonly reason: string
  /** Where it came from. */
  readonly sources: ReadonlyArray<DreamSource>
}

/** What one dream has made of a memory. */
export interface DreamAccount {
  /** As its report is called. */
  readonly id: string
  /** In one line: what it came to, how long its steps took, what they cost, and what could not be done. */
  readonly headline: string
  /** When all of it was taken back, in milliseconds since the epoch. */
  readonly undoneAt?: number
  /** Nothing of what is known came of it. */
  readonly isQuiet: boolean
  /** Milliseconds since the epoch. */
  readonly beganAt: number
  /** Milliseconds since the epoch: the commit of its last step. */
  readonly endedAt: number
  /** All its steps together, without the pauses between them. */
  readonly tookMillis: number
  /** Of all its model calls. */
  readonly tokens: number
  /** In millionths; null where a call of it has no price. */
  readonly costMicros: number | null
  /** Facts that were not known before. */
  readonly learnt: ReadonlyArray<DreamLearnt>
  /** Pairs of facts that were not tied before. */
  readonly linked: ReadonlyArray<DreamLinked>
  /** What was known already, and is known otherwise. */
  readonly changed: ReadonlyArray<DreamChanged>
  /** What it has put away. */
  readonly forgotten: ReadonlyArray<DreamForgotten>
}

const MAX_SOURCE_CHARS = 200
const WOULD_GO = "of little importance, and old"
const PRUNED_BECAUSE = "of little importance, and it has become memory"

/** The entry of this number; undefined where there is none. */
type ReadEntry = (no: number) => Promise<Entry | undefined>

/** Sources as a person can go to them. */
class Sources {
  readonly #read: ReadEntry
  readonly #entries = new Map<number, Promise<Entry | undefined>>()

  constructor(read: ReadEntry) {
    this.#read = read
  }

  async of(ids: ReadonlyArray<string>): Promise<ReadonlyArray<DreamSource>> {
    return Promise.all(ids.map((id) => this.#source(id)))
  }

  async #source(id: string): Promise<DreamSource> {
    const place = placeOfId(id)
    if (place === undefined) {
      const [, tick] = /^entry_(\d+)_/.exec(keyOfId(id) ?? "") ?? []
      return tick === undefined ? { id } : { id, tick: Number(tick) }
    }
    const entry = await this.#entry(place.no)
    if (entry === undefined) return { id }
    const text = entry.messages[place.index]?.content
    return {
      id,
      tick: entry.tick,
      ...defined({ text: text === undefined ? undefined : clipped(text, MAX_SOURCE_CHARS) })
    }
  }

  #entry(no: number): Promise<Entry | undefined> {
    const known = this.#entries.get(no) ?? this.#read(no)
    this.#entries.set(no, known)
    return known
  }
}

/** The facts of a night, each with what it was before. */
const factsIn = ({ changes }: Night) =>
  changes.flatMap(({ after, before }) =>
    isFact(after) ? [{ fact: after, was: isFact(before) ? before : undefined }] : []
  )

/** By id, as they stand now. */
type Facts = ReadonlyMap<string, Fact>

type Turned = ReturnType<typeof factsIn>

const learntIn = (facts: Turned, known: Facts, sources: Sources): Promise<ReadonlyArray<DreamLearnt>> =>
  Promise.all(
    facts
      .filter(({ was }) => was === undefined)
      .map(async ({ fact }): Promise<DreamLearnt> => {
        const { reason, state, trust } = known.get(fact.id) ?? fact
        const { id, sources: from, text } = fact
        const item = itemOf({ kind: "fact", key: id })
        const marks = defined({ reason, waits: state === "proposed" ? true : undefined })
        return { item, fact: id, text, state, trust, ...marks, sources: await sources.of(from) }
      })
  )

const linkedIn = (facts: Turned, known: Facts): ReadonlyArray<DreamLinked> => {
  const pairs = new Map<string, DreamLinked>()
  for (const { fact, was } of facts) {
    for (const { to, why } of fact.links) {
      if (was?.links.some((link) => link.to === to)) continue
      const item = linkItemOf(fact.id, to)
      if (!pairs.has(item))
        pairs.set(item, { item, from: fact.id, to, fromText: fact.text, toText: known.get(to)?.text ?? "", why })
    }
  }
  return [...pairs.values()]
}

const changedFacts = (facts: Turned, sources: Sources): Promise<ReadonlyArray<DreamChanged>> => {
  const byId = new Map(facts.map(({ fact }) => [fact.id, fact]))
  return Promise.all(
    facts.flatMap(({ fact, was }) => {
      if (was === undefined) return []
      const by = was.state === "superseded" ? undefined : byId.get(fact.superseded_by ?? "")
      const joined = fact.sources.filter((id) => !was.sources.includes(id))
      if (by === undefined && joined.length === 0) return []
      const what = by === undefined ? ("confirmed" as const) : ("superseded" as const)
      const from = by === undefined ? joined : by.sources
      return [
        sources.of(from).then((of): DreamChanged => ({
          item: itemOf({ kind: "fact", key: fact.id }),
          what,
          id: fact.id,
          before: [was.text],
          after: [(by ?? fact).text],
          sources: of
        }))
      ]
    })
  )
}

const textsOf = (profile: EntityProfile | undefined): ReadonlyArray<string> =>
  profile?.attributes.map(({ text }) => text) ?? []

/** Profiles that say something else than before; what a profile has only heard says nothing yet. */
const changedProfiles = ({ changes }: Night, sources: Sources): Promise<ReadonlyArray<DreamChanged>> =>
  Promise.all(
    changes.flatMap((change) => {
      const { after: value, before } = change
      if (!isEntityProfile(value)) return []
      const was = isEntityProfile(before) ? before : undefined
      const [old, now] = [textsOf(was), textsOf(value)]
      if (old.join("\n") === now.join("\n")) return []
      const known = new Set(was?.attributes.flatMap(({ evidence }) => evidence))
      const evidence = value.attributes.flatMap((each) => each.evidence).filter((id) => !known.has(id))
      const ids = [...new Set(evidence)].map((id) => (id.startsWith("fact_") ? `f/${id}` : id))
      const turned = { item: itemOf(change), what: "profile" as const, id: value.id, name: value.name }
      return [sources.of(ids).then((of): DreamChanged => ({ ...turned, before: old, after: now, sources: of }))]
    })
  )

const forgottenIn = async (
  { changes }: Night,
  facts: Turned,
  sources: Sources
): Promise<ReadonlyArray<DreamForgotten>> => {
  const fallen = facts.filter(
    ({ fact, was }) => was !== undefined && was.state !== "retired" && fact.state === "retired"
  )
  const retired = fallen.map(async ({ fact: { id, reason = "", sources: from, text } }): Promise<DreamForgotten> => {
    const item = itemOf({ kind: "fact", key: id })
    return { item, what: "fact", id, text, reason, sources: await sources.of(from) }
  })
  const pruned = changes.flatMap((change): ReadonlyArray<DreamForgotten> => {
    const { after, key, kind } = change
    if (kind !== "episode" || !isJsonObject(after) || after["pruned_at"] === undefined) return []
    const { content } = after
    const text = typeof content === "string" ? clipped(content, MAX_SOURCE_CHARS) : ""
    return [{ item: itemOf(change), what: "journal", id: key, text, reason: PRUNED_BECAUSE, sources: [] }]
  })
  return [...(await Promise.all(retired)), ...pruned]
}

/** What it would put away, and a person has not said so yet. */
const waitingIn = async (
  items: ReadonlyArray<string> = [],
  known: Facts,
  journal: ReadonlyArray<RecordRow>,
  sources: Sources
) => {
  const all = items.map(async (item): Promise<ReadonlyArray<DreamForgotten>> => {
    const [kind, id = ""] = item.split("/")
    const fact = known.get(id)
    if (kind === "fact" && fact?.state === "active" && fact.kept !== true) {
      const { sources: from, text } = fact
      return [{ item, what: "fact", id, text, reason: WOULD_GO, sources: await sources.of(from), waits: true }]
    }
    const entry = kind === "episode" ? journal.find(({ key }) => key === id)?.value : undefined
    if (entry === undefined || !isJsonObject(entry) || entry["kept"] === true) return []
    const { content } = entry
    if (typeof content !== "string") return []
    const text = clipped(content, MAX_SOURCE_CHARS)
    return [{ item, what: "journal", id, text, reason: WOULD_GO, sources: [], waits: true }]
  })
  return (await Promise.all(all)).flat()
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

const tookText = (millis: number): string =>
  millis < 1_000 ? `${Math.round(millis)} ms` : `${(millis / 1_000).toFixed(millis < 10_000 ? 1 : 0)} s`

const costText = (micros: number | null): string => {
  if (micros === null) return "unpriced"
  return micros > 0 && micros < 10_000 ? "< $0.01" : `$${(micros / 1_000_000).toFixed(2)}`
}

type Told = Omit<DreamAccount, "headline" | "isQuiet">

const headlineOf = ({ changed, costMicros, forgotten, learnt, linked, tokens, tookMillis }: Told): string => {
  const waiting = [...learnt, ...forgotten].filter(({ waits }) => waits === true).length
  const held = learnt.filter(({ state }) => state === "quarantined").length
  const known = learnt.filter(({ state }) => state !== "quarantined")
  const done = (items: ReadonlyArray<DreamItem>): number => items.filter(({ waits }) => waits !== true).length
  const of = (what: DreamChanged["what"]) => changed.filter((each) => each.what === what).length
  const parts = [
    [done(known), `learnt ${counted(done(known), "fact")}`],
    [held, `held back ${counted(held, "fact")}`],
    [linked.length, `linked ${linked.length}`],
    [of("superseded"), `replaced ${counted(of("superseded"), "fact")}`],
    [of("confirmed"), `confirmed ${counted(of("confirmed"), "fact")}`],
    [of("profile"), `changed ${counted(of("profile"), "profile")}`],
    [done(forgotten), `forgot ${done(forgotten)}`],
    [waiting, `${waiting} waiting for a person`]
  ] as const
  const said = parts.flatMap(([count, text]) => (count > 0 ? [text] : []))
  const spent = tokens === 0 ? [] : [costText(costMicros)]
  return [...(said.length === 0 ? ["nothing changed"] : said), tookText(tookMillis), ...spent].join(", ")
}

/** What the steps took. */
const spentIn = (rows: ReadonlyArray<OutboxRow>) => {
  const steps = rows.flatMap(({ entry }) => entry.step ?? [])
  const uses = steps.flatMap(({ spent }) => spent ?? [])
  const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((all, each) => all + each, 0)
  return {
    tookMillis: sum(steps.map(({ elapsedMs }) => elapsedMs)),
    tokens: sum(steps.map(({ usage }) => (usage === undefined ? 0 : usage.inputTokens + usage.outputTokens))),
    costMicros: uses.some(({ unpricedCalls }) => unpricedCalls > 0) ? null : sum(uses.map((use) => use.costMicros))
  }
}

/** What an account is made of. */
export interface DreamReadings {
  readonly night: Night
  /** As they stand now. */
  readonly facts: ReadonlyArray<Fact>
  /** Its report, where it is still at hand. */
  readonly report: DreamReport | undefined
  /** Entries of the journal that are at hand. */
  readonly journal: ReadonlyArray<RecordRow>
  readonly read: ReadEntry
}

/** The account of a night, beside what stands now. */
export const dreamAccount = async ({
  facts: known,
  journal,
  night,
  read,
  report
}: DreamReadings): Promise<DreamAccount> => {
  const { id, rows } = night
  const [facts, sources] = [factsIn(night), new Sources(read)]
  const byId: Facts = new Map(known.map((fact) => [fact.id, fact]))
  const undone = new Set(report?.undone_items)
  const isUndone = ({ item }: DreamItem) => report?.undone_at !== undefined || undone.has(item)
  const marked = <A extends DreamItem>(items: ReadonlyArray<A>): ReadonlyArray<A> =>
    items.map((each) => (isUndone(each) ? { ...each, undone: true } : each))
  const [first, last] = [rows[0]?.entry, rows.at(-1)?.entry]
  const account: Told = {
    id,
    beganAt: (first?.at ?? 0) - (first?.step?.elapsedMs ?? 0),
    endedAt: last?.at ?? 0,
    ...spentIn(rows),
    ...defined({ undoneAt: report?.undone_at }),
    learnt: marked(await learntIn(facts, byId, sources)),
    linked: marked(linkedIn(facts, byId)),
    changed: marked([...(await changedFacts(facts, sources)), ...(await changedProfiles(night, sources))]),
    forgotten: marked([
      ...(await forgottenIn(night, facts, sources)),
      ...(await waitingIn(report?.undone_at === undefined ? report?.would_forget : [], byId, journal, sources))
    ])
  }
  const { changed, forgotten, learnt, linked } = account
  const isQuiet = [changed, forgotten, learnt, linked].every(({ length }) => length === 0)
  const troubles = (report?.lines ?? []).flatMap(({ error, operation }) =>
    error === undefined ? [] : [`; ${operation}: ${clipped(error, MAX_SOURCE_CHARS)}`]
  )
  const headline = `${account.undoneAt === undefined ? "" : "taken back: "}${headlineOf(account)}${troubles.join("")}`
  return { ...account, headline, isQuiet }
}
