// Dynamic: asks the members that a message names, or the one that a selector picks.
// Owns the four selectors. Leaves reading the names to dynamic.ts, collecting answers to team.ts.
// D1  `@all` asks every available member; a name asks that member; without either the selector is asked.
// D2  random is drawn from the id of the envelope: the same message always goes to the same member.
// D3  supervisor: the supervisor names members; `.` or nothing means itself, unless its domain is `routing`.

import * as RegExps from "effect/RegExp"
import { drawn } from "./voting.ts"
import {
  asking,
  asPlan,
  type Candidate,
  failing,
  type Gathered,
  gathered,
  isAvailable,
  isComplete,
  isGood,
  leastLoaded,
  type Move,
  NOBODY,
  type Pattern,
  type Question,
  saidBy,
  type Table,
  type TeamMember,
  together
} from "./team.ts"

// Addressing: whom a message to a team is for, when it says so.
// A1  A name counts at the beginning of a message only, `@all` and `@name` as whole words: `bo@all` and `bob` match no member.
// A2  Only the named members are asked; the selector is not consulted.

export type Addressed = { readonly type: "all" } | { readonly type: "named"; readonly ids: ReadonlyArray<string> }

const everybody = /(?<![\p{L}\p{N}_@.])@all(?![\p{L}\p{N}_@.:#+-]*[\p{L}\p{N}_])/iu

const namesOf = ({ id, names = [] }: TeamMember): ReadonlyArray<string> =>
  [id, ...names].map((name) => name.trim().normalize("NFC")).filter((name) => name !== "")

interface Called {
  readonly id: string
  readonly name: string
}

/** Every name, the longest first: `Ada Lovelace` is not `Ada`. */
const longestFirst = (members: ReadonlyArray<TeamMember>): ReadonlyArray<Called> =>
  members
    .flatMap((member) => namesOf(member).map((name) => ({ id: member.id, name })))
    .toSorted((one, other) => other.name.length - one.name.length)

/** The member that the text begins with in one of the forms, and the rest of the text. */
const first = (text: string, names: ReadonlyArray<Called>, forms: ReadonlyArray<string>) => {
  for (const { id, name } of names) {
    for (const form of forms) {
      const found = new RegExp(
        form.replace("NAME", () => RegExps.escape(name)),
        "iu"
      ).exec(text)
      if (found !== null) return { id, rest: text.slice(found[0].length) }
    }
  }
  return undefined
}

const AT = [String.raw`^[\s,;]*(?:and\s+)?@NAME(?![\p{L}\p{N}_]|[-.:#+@][\p{L}\p{N}_])`]
const SPOKEN = [String.raw`^\s*NAME\s*[:,]`, String.raw`^\s*hey,?\s+NAME(?![\p{L}\p{N}_]|[-.#+@][\p{L}\p{N}_])`]

/** Whom the text is for; undefined when it does not say. */
const addressed = (text: string, members: ReadonlyArray<TeamMember>): Addressed | undefined => {
  if (everybody.test(text)) return { type: "all" }
  const names = longestFirst(members)
  const spoken = first(text.normalize("NFC"), names, SPOKEN)
  if (spoken !== undefined) return { type: "named", ids: [spoken.id] }
  const ids: Array<string> = []
  let rest = text.normalize("NFC")
  while (true) {
    const found = first(rest, names, AT)
    if (found === undefined) break
    if (!ids.includes(found.id)) ids.push(found.id)
    rest = found.rest
  }
  return ids.length === 0 ? undefined : { type: "named", ids }
}

// Capability: which members fit a question by what they are for.

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (
      text
        .normalize("NFC")
        .toLowerCase()
        .match(/[\p{L}\p{N}]{3,}/gu) ?? []
    ).map((word) => word.replace(/(?:es|s)$/, ""))
  )

/** How many words of a question belong to what a member is for. */
const fitOf = (question: string, { capabilities = [], domain = "" }: Candidate): number =>
  wordsOf(question).intersection(wordsOf([domain, ...capabilities].join(" "))).size

/** The one that fits best, the least loaded of equals; the least loaded of all where none fits. */
const fittest = (question: string, candidates: ReadonlyArray<Candidate>): Candidate | undefined => {
  const most = Math.max(0, ...candidates.map((each) => fitOf(question, each)))
  return leastLoaded(candidates.filter((each) => fitOf(question, each) === most))
}

export const selectors = ["random", "capability", "load", "supervisor"] as const
export type Selector = (typeof selectors)[number]

interface Plan extends Gathered {
  /** The supervisor is asked whom to ask. */
  readonly isChoosing?: true
}

const ROUTING = "routing"

const gatherFrom = (members: ReadonlyArray<Candidate>, text: string): Move =>
  members.length === 0 ? failing(NOBODY) : { plan: asPlan({ said: [] }), ...asking(members, text) }

const named = (ids: ReadonlyArray<string>, text: string, { candidates }: Table): Move => {
  const found = candidates.filter(({ id }) => ids.includes(id))
  const away = found.filter((each) => !isAvailable(each))
  const [first] = away
  if (first !== undefined && away.length === found.length) return failing(`${first.id} is ${first.availability}.`)
  return gatherFrom(found.filter(isAvailable), text)
}

export const describeMember = ({ capabilities = [], domain, id, role }: Candidate): string => {
  const skills = capabilities.length === 0 ? "" : `: ${capabilities.join(", ")}`
  return `- ${id} (${role}${domain === undefined ? "" : `, ${domain}`})${skills}`
}

const choice = (question: string, others: ReadonlyArray<Candidate>, mayHandle: boolean): string =>
  [
    "Who of your team should answer this message? Answer with their names and nothing else.",
    ...(mayHandle ? ["Answer with a single full stop to answer it yourself."] : []),
    "",
    ...others.map(describeMember),
    "",
    "The message:",
    question
  ].join("\n")

const isSupervisor = ({ role }: Candidate): boolean => role === "supervisor"

const select = (selector: Selector, question: Question, table: Table): Move => {
  const available = table.candidates.filter(isAvailable)
  switch (selector) {
    case "random":
      return gatherFrom([drawn(table.seed, available) ?? []].flat(), question.text)
    case "capability":
      return gatherFrom([fittest(question.text, available) ?? []].flat(), question.text)
    case "load":
      return gatherFrom([leastLoaded(available) ?? []].flat(), question.text)
    case "supervisor": {
      const supervisor = available.find(isSupervisor)
      if (supervisor === undefined) return gatherFrom([leastLoaded(available) ?? []].flat(), question.text)
      const others = available.filter((each) => each !== supervisor)
      const text = choice(question.text, others, supervisor.domain !== ROUTING)
      return { plan: asPlan({ said: [], isChoosing: true }), asks: [{ member: supervisor.id, text }] }
    }
  }
}

/** The members that a text names, in any form. */
const namesIn = (text: string, members: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const plain = text.normalize("NFC")
  return members.filter(({ id, names = [] }) =>
    [id, ...names].some((name) =>
      new RegExp(
        String.raw`(?<![\p{L}\p{N}_])${RegExps.escape(name.normalize("NFC"))}(?![\p{L}\p{N}_]|[-.:#+@][\p{L}\p{N}_])`,
        "iu"
      ).test(plain)
    )
  )
}

const chosen = (question: Question, text: string, by: string, { candidates }: Table): Move => {
  const available = candidates.filter(isAvailable)
  const supervisor = available.find(({ id }) => id === by)
  const others = available.filter(({ id }) => id !== by)
  const found = namesIn(text, others)
  if (found.length > 0) return gatherFrom(found, question.text)
  const itself = supervisor === undefined || supervisor.domain === ROUTING ? leastLoaded(others) : supervisor
  return gatherFrom(itself === undefined ? [] : [itself], question.text)
}

export const dynamic = ({ selector = "capability" }: { readonly selector?: Selector } = {}): Pattern => ({
  name: "dynamic",
  begin: (question, table) => {
    const whom = addressed(question.text, table.candidates)
    if (whom?.type === "all") return gatherFrom(table.candidates.filter(isAvailable), question.text)
    return whom === undefined ? select(selector, question, table) : named(whom.ids, question.text, table)
  },
  answered: (question, answer, table) => {
    const plan = question.plan as unknown as Plan
    if (plan.isChoosing === true) {
      return isGood(answer) ? chosen(question, answer.text, answer.member, table) : failing(saidBy(answer))
    }
    const so = gathered(plan, answer)
    return isComplete(question) ? { answer: together(so), isOver: true } : { plan: asPlan(so) }
  }
})
