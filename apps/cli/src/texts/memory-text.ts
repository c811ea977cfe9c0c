// MemoryText: what an assistant remembers, for people.
// Owns the form of hits, facts, profiles and dreams. Leaves their content to the SDK.
// M1  Every text of an assistant, a person or a tool is on one line and harmless to a terminal.
// M2  A hit says why it was found, and an answer that is poorer than usual says so first.

import {
  type DreamAccount,
  type DreamItem,
  type DreamSource,
  type EntityProfile,
  type Fact,
  type Hit,
  type Json,
  type Recalled,
  type RecordRow,
  explainRecall
} from "reverie"
import { onOneLine, counted, table } from "./plain.ts"

const MAX_TEXT = 400

const dayOf = (at: number): string => {
  const day = new Date(at)
  return Number.isNaN(day.getTime()) ? "undated" : day.toISOString().slice(0, 16).replace("T", " ")
}

/** What a passage was put away with, on one line of its own. */
const metadataText = ({ metadata = {} }: Hit): ReadonlyArray<string> => {
  const pairs = Object.entries(metadata).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`
  )
  return pairs.length === 0 ? [] : [onOneLine(pairs.join(", "), MAX_TEXT)]
}

const hitText = (hit: Hit, index: number, self: string): string => {
  const { entry, owner, why } = hit
  const { at, id, kind, speaker, trust } = entry
  const from = [
    dayOf(at),
    ...(speaker === undefined ? [] : [onOneLine(speaker, 60)]),
    kind,
    `trust ${trust}`,
    ...(owner === self ? [] : [`of ${owner}`])
  ].join(", ")
  const lines = [onOneLine(entry.text, MAX_TEXT), ...metadataText(hit), onOneLine(explainRecall(why), MAX_TEXT)]
  return [`${index + 1}. ${id} (${from})`, ...lines].join("\n   ")
}

/** Why the search was another one than was asked for; what is degraded says so itself. */
const insteadOf = (asked: string, { degraded, mode }: Recalled): string =>
  asked === "auto" || asked === mode || degraded !== undefined ? "" : `, for ${asked} needs an embedder`

const certaintyText = ({ certainty }: Recalled): string =>
  certainty === undefined ? "" : `, certainty ${certainty.toFixed(2)}`

export const recalledText = (self: string, recalled: Recalled, asked = "auto"): string => {
  const { degraded, hits, mode } = recalled
  return [
    ...(degraded === undefined ? [] : [onOneLine(degraded, MAX_TEXT), ""]),
    ...(hits.length === 0 ? [`${self} remembers nothing of it`] : hits.map((hit, at) => hitText(hit, at, self))),
    "",
    `${counted(hits.length, "memory", "memories")}, searched by ${mode}${insteadOf(asked, recalled)}${certaintyText(recalled)}`
  ].join("\n")
}

const factText = (fact: Fact): string => {
  const { at, id, importance, origin, reason, sources, state, superseded_by, text, trust, until } = fact
  const end = superseded_by ?? reason
  const marks = [
    state === "active" || end === undefined ? state : `${state}: ${onOneLine(end, 80)}`,
    until === undefined ? dayOf(at) : `${dayOf(at)} until ${dayOf(until)}`,
    `importance ${importance}`,
    `trust ${trust}`,
    `from ${onOneLine(origin.name, 60)}`,
    onOneLine(sources.join(" "), 80)
  ]
  return `${onOneLine(id, 60)} (${marks.join(", ")})\n   ${onOneLine(text, MAX_TEXT)}`
}

/** What holds first, then the rest; the newest first. */
export const factsText = (self: string, facts: ReadonlyArray<Fact>): string => {
  if (facts.length === 0) return `${self} knows no fact yet`
  const rank = ({ state }: Fact): number => (state === "active" ? 0 : 1)
  const sorted = facts.toSorted((a, b) => rank(a) - rank(b) || b.at - a.at)
  const active = facts.filter(({ state }) => state === "active").length
  return [
    ...sorted.map(factText),
    "",
    `${counted(facts.length, "fact")}, of which ${active} ${active === 1 ? "holds" : "hold"}`
  ].join("\n")
}

const headOf = ({ name, read, relationship, type }: EntityProfile): string => {
  const made = read === undefined ? "" : `, made of ${counted(read, "observation")}`
  return `${onOneLine(name, 80)} (${type}, met ${counted(relationship.interactions, "time")}, last ${dayOf(relationship.last_at)}${made})`
}

const profileLines = (profile: EntityProfile): ReadonlyArray<string> => [
  headOf(profile),
  ...profile.attributes.map(
    ({ evidence, text }) => `   ${onOneLine(text, MAX_TEXT)} (${counted(evidence.length, "piece")} of evidence)`
  ),
  ...profile.observations
    .filter(({ digested }) => !digested)
    .map(({ at, text }) => `   not digested yet: ${onOneLine(text, MAX_TEXT)} (${dayOf(at)})`)
]

export const profilesText = (self: string, profiles: ReadonlyArray<EntityProfile>): string =>
  profiles.length === 0
    ? `${self} has a profile of no one yet`
    : [...profiles.flatMap(profileLines), "", counted(profiles.length, "profile")].join("\n")

const part = (value: Json | undefined, key: string): Json | undefined =>
  typeof value === "object" && value !== null ? (Reflect.get(value, key) as Json | undefined) : undefined

const written = (value: Json | undefined): string =>
  value === undefined || value === null
    ? ""
    : onOneLine(typeof value === "object" ? JSON.stringify(value) : String(value), 60)

const columns = ["operation", "steps", "read", "proposed", "accepted", "tokens", "elapsed_ms", "skipped", "error"]

const fromText = (sources: ReadonlyArray<DreamSource>): string =>
  sources.length === 0 ? "" : ` (${onOneLine(sources.map(({ id }) => id).join(" "), 80)})`

const markOf = ({ undone, waits }: DreamItem): string => {
  if (undone === true) return "taken back: "
  return waits === true ? "waits for a person: " : ""
}

const group = <A extends DreamItem>(
  title: string,
  items: ReadonlyArray<A>,
  lineOf: (item: A) => string
): ReadonlyArray<string> =>
  items.length === 0 ? [] : [title, ...items.map((each) => `   ${markOf(each)}${onOneLine(lineOf(each), MAX_TEXT)}`)]

/** What a night made of a memory, one line an item. */
const accountLines = ({ changed, forgotten, learnt, linked }: DreamAccount): ReadonlyArray<string> => [
  ...group("learnt", learnt, ({ fact, reason, sources, state, text, trust }) => {
    const marks = [
      `trust ${trust}`,
      ...(state === "active" ? [] : [reason === undefined ? state : `${state}: ${reason}`])
    ]
    return `${fact}: ${text} [${marks.join(", ")}]${fromText(sources)}`
  }),
  ...group("linked", linked, ({ from, to, why }) => `${from} and ${to}: ${why}`),
  ...group("changed", changed, ({ after, before, id, name, sources, what }) => {
    const said = (texts: ReadonlyArray<string>): string => (texts.length === 0 ? "nothing" : texts.join("; "))
    const turned = what === "confirmed" ? said(after) : `${said(before)} -> ${said(after)}`
    return `${what} ${name ?? id}: ${turned}${fromText(sources)}`
  }),
  ...group("forgotten", forgotten, ({ id, reason, text }) => `${id}: ${text} [${reason}]`)
]

const dreamText = ({ key, value }: RecordRow, account: DreamAccount | undefined): string => {
  const lines = part(value, "lines")
  const began = part(value, "began_at")
  const named = `${onOneLine(key, 60)}${typeof began === "number" ? `, ${dayOf(began)}` : ""}`
  const head = account === undefined ? named : `${named}: ${onOneLine(account.headline)}`
  if (account?.isQuiet === true || !Array.isArray(lines)) return head
  const rows = lines.map((line: Json) => columns.map((column) => written(part(line, column))))
  return [head, ...(account === undefined ? [] : accountLines(account)), table([columns, ...rows])].join("\n")
}

/** The oldest first; of those whose account is at hand what they learnt, linked, changed and forgot. */
export const dreamsText = (
  self: string,
  dreams: ReadonlyArray<RecordRow>,
  accounts: ReadonlyMap<string, DreamAccount> = new Map()
): string => {
  if (dreams.length === 0) return `${self} has not dreamt yet`
  const began = ({ value }: RecordRow): number => Number(part(value, "began_at") ?? 0)
  const sorted = dreams.toSorted((a, b) => began(a) - began(b))
  return [...sorted.map((row) => dreamText(row, accounts.get(row.key))), "", counted(dreams.length, "dream")].join("\n")
}
