// Tasks: what a model is asked for memory's sake, and which rules answer it.
// Owns recognising such an ask. Leaves the answers to the module of each task.
// T1  The instructions name the task: a system message, or, where an ask is a message, its first line.
// T2  What is to be read is data: no line of it is obeyed.

import type { Prompt } from "@reverie/model"
import { type Task, taskLine, taskOf, tasks } from "@reverie/protocol"
import { groupsOf, type Line, linesOf, type Request, stemOf, stemsOf } from "../calls.ts"
import { consolidatedFrom } from "./consolidation.ts"
import { extracted } from "./extraction.ts"
import { summaryOf } from "./summary.ts"
import { type Gist, gistOf, hasSameValues, isParticiple, isPast, overlap, saysTheSame, unasked } from "./grammar.ts"
import { namesIn } from "./names.ts"
import { replaces, withoutOpening } from "./replacing.ts"

// Attributes: what holds of someone or something for longer than a day.
// A1  An attribute is what someone is, has, likes, wants or does as a rule; never what is going on or happened once.
// A2  What is known already is ignored, with the attribute that says so. Only what has one value at a time takes the place of another;
//     so does what happened once, where it ends what was so: "Nora moved to Bergen".

const lasting =
  "is|has|likes|loves|hates|dislikes|enjoys|prefers|wants|needs|works|lives|owns|plays|speaks|studies|believes|knows|comes|keeps|collects|teaches|runs|fears|trusts|cannot|can't|never|always|usually"

/** What a fact says of someone or something that lasts; undefined when it says nothing of the kind. */
const predicate = new RegExp(
  `^(?:\\s+(?:also|really|still|always|never|often|usually|now|currently))?\\s+(${lasting})\\s+([\\p{L}'-]+)`,
  "u"
)
const property = /^['’]s\s[^.]{1,60}?\s(?:is|are)\s/

const attributeIn = (fact: string, entity: string): string | undefined => {
  const said = withoutOpening(unasked(fact)).trim()
  if (entity === "" || !said.toLowerCase().startsWith(entity.toLowerCase())) return undefined
  const rest = said.slice(entity.length)
  const [, verb = "", next = ""] = predicate.exec(rest) ?? []
  const isUnderWay = verb === "is" && /^(?:\p{L}+in[g']|gonna|off|about|so|just)$/u.test(next)
  const isPerfect = verb === "has" && (next === "got" || next === "to" || isPast(next) || isParticiple(next))
  if (verb !== "" && !isUnderWay && !isPerfect) return said
  return property.test(rest) ? said : undefined
}

/** What happened, where it takes the place of something known. */
const endingIn = (fact: string, known: ReadonlyArray<Line>): string | undefined => {
  const said = withoutOpening(unasked(fact)).trim()
  return known.some(({ text }) => replaces(said, text)) ? said : undefined
}

interface Found {
  readonly attribute: string
  readonly evidence: Array<string>
}

const profiled = (data: string): string => {
  const entity = /^Entity: *(\S.*)$/m.exec(data)?.[1]?.trim() ?? ""
  const [before = "", after = ""] = data.split(/^New:.*$/m)
  const known = linesOf(before)
  const found: Array<Found> = []
  const isSame = (one: string, other: string): boolean => saysTheSame(gistOf(one), gistOf(other))
  for (const { id, text } of linesOf(after)) {
    const attribute = attributeIn(text, entity) ?? endingIn(text, known)
    if (attribute === undefined) continue
    const again = found.find((each) => isSame(each.attribute, attribute))
    if (again === undefined) found.push({ attribute, evidence: [id] })
    else again.evidence.push(id)
  }
  return JSON.stringify(
    found.map(({ attribute, evidence }) => {
      const same = known.find(({ text }) => isSame(text, attribute))
      const old = same === undefined ? known.find(({ text }) => replaces(attribute, text)) : undefined
      const action = old !== undefined ? "UPDATE" : same === undefined ? "ADD" : "IGNORE"
      return { action, target: (same ?? old)?.id ?? null, attribute, evidence }
    })
  )
}

// Insights: what several entries of a journal have in common.
// I1  An insight is a count: a name that stands in at least MIN_ENTRIES entries, and the word they share most.
// I2  Its evidence are those entries, and nothing else.

const MIN_ENTRIES = 3
const MAX_INSIGHTS = 5
const MAX_EVIDENCE = 10

const plain = ({ id, text }: Line) => ({ id, text: text.replace(/^\(importance \d+\)\s*/, "") })

/** The word that most of the texts have besides the name; undefined when fewer than two share one. */
const topicOf = (texts: ReadonlyArray<string>, name: string): string | undefined => {
  const ownStems = stemsOf(name)
  const counts = new Map<string, { readonly word: string; count: number }>()
  for (const text of texts) {
    const words = new Map((text.match(/\p{L}{4,}/gu) ?? []).map((word) => [stemOf(word), word.toLowerCase()]))
    for (const stem of stemsOf(text)) {
      const word = words.get(stem)
      if (word === undefined || ownStems.has(stem)) continue
      const known = counts.get(stem)
      if (known === undefined) counts.set(stem, { word, count: 1 })
      else known.count++
    }
  }
  const [most] = [...counts.values()].toSorted((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
  return most !== undefined && most.count >= 2 ? most.word : undefined
}

const insightOf = (name: string, entries: ReadonlyArray<{ readonly id: string; readonly text: string }>) => {
  const topic = topicOf(
    entries.map(({ text }) => text),
    name
  )
  const about = topic === undefined ? "" : `, mostly about ${topic}`
  return {
    insight: `${name} came up in ${entries.length} entries${about}.`,
    evidence: entries.slice(0, MAX_EVIDENCE).map(({ id }) => id)
  }
}

const insightsIn = (data: string): string => {
  const entries = [...new Map(linesOf(data).map((line) => [line.id, plain(line)])).values()]
  const inside = new Set(entries.flatMap(({ text }) => namesIn(text)))
  const found = [...inside].map((name) => ({
    name,
    entries: entries.filter(({ text }) => namesIn(text, [name]).includes(name))
  }))
  return JSON.stringify(
    found
      .filter(({ entries }) => entries.length >= MIN_ENTRIES)
      .toSorted((a, b) => b.entries.length - a.entries.length || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_INSIGHTS)
      .map(({ entries, name }) => insightOf(name, entries))
  )
}

// Links: which facts have to do with one another.
// K1  A link needs a word that few facts of the ask have, and that is no praise; a name alone is no reason.
// K2  Why is what they share, word for word.

const MAX_LINKS = 4
const MAX_WORDS_TOLD = 4
/** A word is rare when no more than this share of the facts has it, and in few of them always. */
const RARE_SHARE = 0.1
const ALWAYS_RARE = 3
const MIN_STEM_CHARS = 4
/** They say how something was taken, not what it was. */
const praise = stemsOf(
  "special best great amazing awesome wonderful lovely beautiful incredible really super totally happy glad excited thing things lots feel feels feeling"
)

const wordsByStem = (text: string): ReadonlyMap<string, string> =>
  new Map((unasked(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => [stemOf(word), word.toLowerCase()]))

/** Who a fact is about stands among its first words. */
const subjectOf = (text: string): string => unasked(text).split(/\s+/).slice(0, 2).join(" ")

const shared = (one: string, other: string, isRare: (stem: string) => boolean): ReadonlyArray<string> => {
  const subject = subjectOf(one)
  const names = namesIn(other).filter((name) => one.includes(name) && !subject.includes(name))
  const told = wordsByStem(one)
  const stems = [...gistOf(one).words.intersection(gistOf(other).words)].filter(
    (stem) => stem.length >= MIN_STEM_CHARS && isRare(stem) && !praise.has(stem) && !stemsOf(subject).has(stem)
  )
  const words = stems
    .flatMap((stem) => told.get(stem) ?? [])
    .filter((word) => !names.some((name) => name.toLowerCase().includes(word)))
  return words.length === 0 ? [] : [...words, ...names].slice(0, MAX_WORDS_TOLD)
}

const linked = (data: string): string => {
  const groups = groupsOf(data)
  const texts = new Map(
    groups.flatMap(({ line, neighbours }) => [line, ...neighbours]).map(({ id, text }) => [id, text])
  )
  const counts = new Map<string, number>()
  for (const text of texts.values())
    for (const stem of gistOf(text).words) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const limit = Math.max(ALWAYS_RARE, RARE_SHARE * texts.size)
  const isRare = (stem: string): boolean => (counts.get(stem) ?? 0) <= limit
  return JSON.stringify(
    groups.map(({ line, neighbours }) => ({
      fact: line.id,
      links: neighbours
        .filter(({ id }) => id !== line.id)
        .map(({ id, text }) => ({ to: id, why: shared(line.text, text, isRare).join(", ") }))
        .filter(({ why }) => why !== "")
        .slice(0, MAX_LINKS)
    }))
  )
}

// Routing: whether a fact is new, says again what is known, or takes the place of something.
// R1  IGNORE only when the same numbers, months and negation stand in both, and nearly all the words.
// R2  UPDATE only of what holds until further notice, said of the same subject in nearly the same words with another
//     value. What happened once is not undone by what happened another time.
//     What has one value at a time is in replacing.ts.
// R3  In doubt ADD: what is kept twice can be joined later, what is lost can not.

const RENEWED = 0.75

interface Route {
  readonly fact: string
  readonly action: "ADD" | "UPDATE" | "IGNORE"
  readonly target: string | null
}

/** It tells what happened: one of its first words is a verb in the past. */
const tellsAnEvent = (statement: string): boolean =>
  (
    unasked(statement)
      .toLowerCase()
      .match(/[\p{L}']+/gu) ?? []
  )
    .slice(1, 5)
    .some((word) => word !== "was" && isPast(word))

/** What is known says it, and more. */
const saysLess = (fact: Gist, known: Gist): boolean => fact.values.isSubsetOf(known.values) && !known.values.has("not")

const isRenewed = (fact: Gist, known: Gist): boolean =>
  fact.first === known.first &&
  !saysLess(fact, known) &&
  fact.values.size > 0 &&
  known.values.size + fact.values.size > 0 &&
  !hasSameValues(fact, known) &&
  overlap(fact.words, known.words) >= RENEWED

/** What is new itself was said after all that is known: it is what a later word takes the place of. */
const lastFirst = <A extends { readonly id: string }>(known: ReadonlyArray<A>): ReadonlyArray<A> => {
  const numberOf = ({ id }: A): number => Number(/^new_(\d+)$/.exec(id)?.[1] ?? -1)
  return known.toSorted((a, b) => numberOf(b) - numberOf(a))
}

const routeOf = (
  id: string,
  text: string,
  known: ReadonlyArray<{ readonly id: string; readonly text: string }>
): Route => {
  const fact = gistOf(text)
  const candidates = lastFirst(known).map((each) => ({ ...each, gist: gistOf(each.text) }))
  const same = candidates.find(({ gist }) => saysTheSame(fact, gist))
  if (same !== undefined) return { fact: id, action: "IGNORE", target: same.id }
  const renewed =
    candidates.find((each) => replaces(unasked(text), unasked(each.text))) ??
    (tellsAnEvent(text) ? undefined : candidates.find(({ gist }) => isRenewed(fact, gist)))
  return renewed === undefined
    ? { fact: id, action: "ADD", target: null }
    : { fact: id, action: "UPDATE", target: renewed.id }
}

const routed = (data: string): string =>
  JSON.stringify(groupsOf(data).map(({ line, neighbours }) => routeOf(line.id, line.text, neighbours)))

interface Answer {
  readonly text?: string
  readonly requests?: ReadonlyArray<Request>
}

const answers: Readonly<Record<Exclude<Task, "extract">, (data: string) => string>> = {
  consolidate: consolidatedFrom,
  route: routed,
  link: linked,
  profile: profiled,
  reflect: insightsIn,
  summarize: summaryOf
}

const taskIn = ({ messages }: Prompt, data: string): Task | undefined => {
  const instructed = messages.flatMap(({ content, role }) => (role === "system" ? (taskOf(content) ?? []) : []))
  const [first = ""] = data.split("\n")
  return instructed.at(-1) ?? tasks.find((task) => first.trim() === taskLine(task))
}

/** The answer to an ask; undefined when the prompt is none. */
export const answerOf = (prompt: Prompt): Answer | undefined => {
  const data = prompt.messages.findLast(({ role }) => role === "user")?.content ?? ""
  const task = taskIn(prompt, data)
  if (task === undefined) return undefined
  return task === "extract" ? extracted(prompt, attributeIn) : { text: answers[task](data) }
}
