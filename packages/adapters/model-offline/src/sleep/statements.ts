// Statements: what a line of a conversation states.
// Owns which sentences are statements, how telling they are, and saying each so that it can stand alone.
// S1  Questions, proposals, greetings, thanks, praise and written calls state nothing.
// S2  What stands alone names who it is about: pronouns become names, a dropped subject is the speaker, an answer keeps
//     the question it belongs to, relative dates become dates.
// S3  At most MAX_STATEMENTS of a line, the most telling ones, in their order; a picture takes the place of one.

import { sentencesOf } from "../calls.ts"
import {
  firstPerson,
  gistOf,
  interjection,
  isAdverb,
  isBarePast,
  isParticiple,
  isPast,
  linesOf,
  negation,
  pleasantry,
  saysTheSame,
  secondPerson,
  thirdPerson,
  unasked,
  withDates
} from "./grammar.ts"

// ThirdPerson: what someone said about himself, said about him.
// P1  What stands in quotation marks is kept as it is.
// P2  Only pronouns of the first and second person are replaced: whom "she" or "it" means is not guessed at.

const shortForms: Readonly<Record<string, string>> = { m: "is", ve: "has", ll: "will", d: "would" }

const subject = /(?<![\w'-])[Ii](?:'(m|ve|ll|d))?(?![\w'-])((?:\s+[a-z]+(?:'t)?){0,3})/g

/** A verb after its subject, adverbs passed over. */
const conjugated = (words: string): string => {
  const parts = words.split(/(\s+)/)
  const verb = parts.findIndex((part) => /\S/.test(part) && !isAdverb(part))
  return parts.map((part, index) => (index === verb ? thirdPerson(part) : part)).join("")
}

const replacePronouns = (text: string, name: string, pronouns: ReadonlyArray<readonly [RegExp, string]>): string =>
  pronouns.reduce((changed, [pattern, form]) => changed.replace(pattern, () => form.replace("%", name)), text)

// Who else "we" are is not known.
const first: ReadonlyArray<readonly [RegExp, string]> = [
  [/(?<![\w'-])we'(?:re)(?![\w'-])/gi, "% and others are"],
  [/(?<![\w'-])we've(?![\w'-])/gi, "% and others have"],
  [/(?<![\w'-])we'll(?![\w'-])/gi, "% and others will"],
  [/(?<![\w'-])we'd(?![\w'-])/gi, "% and others would"],
  [/(?<![\w'-])(?:[Uu]s|[Ww]e)(?![\w'-])/g, "% and others"],
  [/(?<![\w'-])(?:my|our)(?![\w'-])/gi, "%'s"],
  [/(?<![\w'-])(?:mine|ours)(?![\w'-])/gi, "%'s"],
  [/(?<![\w'-])(?:myself|ourselves)(?![\w'-])/gi, "themselves"],
  [/(?<![\w'-])me(?![\w'-])/gi, "%"]
]

const second: ReadonlyArray<readonly [RegExp, string]> = [
  [/(?<![\w'-])are you(?![\w'-])/gi, "is %"],
  [/(?<![\w'-])were you(?![\w'-])/gi, "was %"],
  [/(?<![\w'-])have you(?![\w'-])/gi, "has %"],
  [/(?<![\w'-])do you(?![\w'-])/gi, "does %"],
  [/(?<![\w'-])you'(?:re)(?![\w'-])|(?<![\w'-])you are(?![\w'-])/gi, "% is"],
  [/(?<![\w'-])you'(?:ve)(?![\w'-])|(?<![\w'-])you have(?![\w'-])/gi, "% has"],
  [/(?<![\w'-])you'(?:ll)(?![\w'-])/gi, "% will"],
  [/(?<![\w'-])you'(?:d)(?![\w'-])/gi, "% would"],
  [/(?<![\w'-])(?:your|yours)(?![\w'-])/gi, "%'s"],
  [/(?<![\w'-])(?:you|ya|y'all)(?![\w'-])/gi, "%"]
]

interface Told {
  readonly speaker: string
  /** Whom the speaker talks to, when that is one. */
  readonly listener?: string
}

const outsideQuotes = (text: string, change: (part: string) => string): string =>
  text
    .split(/("[^"]*"|“[^”]*”)/)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("")

/** The sentence as a third one would say it. */
const inThirdPerson = (sentence: string, { listener, speaker }: Told): string =>
  outsideQuotes(sentence.replaceAll("’", "'"), (part) => {
    const ofSpeaker = part.replace(subject, (_, short: string | undefined, words: string) =>
      short === undefined ? `${speaker}${conjugated(words)}` : `${speaker} ${shortForms[short]}${words}`
    )
    const told = replacePronouns(ofSpeaker, speaker, first)
    return listener === undefined ? told : replacePronouns(told, listener, second)
  })

const MAX_STATEMENTS = 3
/** What is longer is no fact any more: memory refuses it. */
const MAX_STATEMENT_CHARS = 300
/** A question of fewer words asks for nothing in particular. */
const MIN_QUESTION_WORDS = 3

/** Something that was said; a speaker without a name tells of the world in the third person already. */
export interface Utterance extends Told {
  /** In milliseconds since the epoch, when it is known. */
  readonly at?: number
  readonly text: string
  /** What was said right before by someone else, which may end with a question. */
  readonly question?: string
  readonly asker?: string
}

const captionPattern = /\[image:\s*([^\]]*)\]/g

const captionsOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(captionPattern), ([, caption = ""]) => caption.trim()).filter((caption) => caption !== "")

/** Calls that are written out for this model are orders, and state nothing. */
const writtenCalls = /^\s*\/[A-Za-z][\w.-]*(?:\s.*)?$/gm
const callInside = /\/[a-z]\w*_\w+ \{[^{}]*\}/g

const withoutCaptions = (text: string): string =>
  text.replace(captionPattern, " ").replace(writtenCalls, " ").replace(callInside, " ").trim()

/** A name as it may be called out, short forms too: by its first letters. */
const calledOut = (name: string): string => `${name.slice(0, 3).replace(/[^\p{L}\p{N}]/gu, ".")}[\\p{L}\\p{N}]*`

/** A sentence without exclamations before it and without the name of the one it is said to. */
const coreOf = (sentence: string, listener: string | undefined): string => {
  const name = listener === undefined || listener.length < 3 ? undefined : calledOut(listener)
  let core = sentence.trim()
  for (let before = ""; before !== core;) {
    before = core
    core = core.replace(interjection, "")
    if (name !== undefined) core = core.replace(new RegExp(`^${name}\\s*[,!.:-]\\s*`, "iu"), "")
  }
  return name === undefined ? core : core.replace(new RegExp(`,\\s*${name}(?=\\s*[.!?]*$)`, "iu"), "")
}

const coresOf = (text: string, listener: string | undefined): ReadonlyArray<string> =>
  sentencesOf(withoutCaptions(text))
    .map((sentence) => coreOf(sentence, listener))
    .filter((core) => core !== "")

const isQuestion = (sentence: string): boolean => /\?["')\]\s]*$/.test(sentence)
const points = /^(?:it|that|this|these|those|they|there)\b/i

const wordsIn = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []

const title = /["“][^"”]{3,}["”]/
const nameInside = /(?<=[\p{Ll},;] )\p{Lu}[\p{L}'-]+/u

/** "Lost my job yesterday": it is the speaker who did. */
const dropsSubject = (core: string): boolean => {
  const [first = "", next = ""] = wordsIn(core).map((word) => word.toLowerCase())
  return isBarePast(first, next) || first === "been" || first === "gonna"
}

/** How much a sentence tells: 0 for nothing at all. */
const tellingOf = (core: string, at: number | undefined): number => {
  const words = wordsIn(core).length
  if (words < 3 || isQuestion(core) || pleasantry.test(core)) return 0
  const isOwn = firstPerson.test(core) || dropsSubject(core)
  if (!isOwn && (secondPerson.test(core) || (points.test(core) && words < 8))) return 0
  const isDated = /\d/.test(core) || (at !== undefined && withDates(core, at) !== core)
  return (
    (isOwn ? 3 : 1) +
    (isDated ? 2 : 0) +
    (nameInside.test(core) || title.test(core) ? 1 : 0) +
    (negation.test(core) ? 1 : 0) +
    Math.min(2, Math.floor(words / 8))
  )
}

const linkOf = (first: string): string => {
  if (first === "been") return "has "
  return first === "gonna" ? "is " : ""
}

const withSubject = (core: string, speaker: string): string => {
  if (speaker === "" || !dropsSubject(core)) return core
  const first = wordsIn(core)[0]?.toLowerCase() ?? ""
  return `${speaker} ${linkOf(first)}${core.charAt(0).toLowerCase()}${core.slice(1)}`
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What a sentence states, so that it needs nothing beside it. */
const standing = (core: string, utterance: Utterance): string => {
  const { at, speaker } = utterance
  const dated = at === undefined ? core : withDates(core, at)
  const told = speaker === "" ? dated : inThirdPerson(withSubject(dated, speaker), utterance)
  const named = told.includes(speaker) ? told : `${speaker} said: ${told}`
  return capitalised(named).replace(/[\s!.,;:-]+$/, "")
}

/** What was asked of the speaker, told of both; undefined when nothing in particular was. */
const askedOf = ({ asker, question, speaker }: Utterance): string | undefined => {
  if (question === undefined || asker === undefined) return undefined
  const asked = coresOf(question, speaker).findLast(isQuestion)
  if (asked === undefined || wordsIn(asked).length < MIN_QUESTION_WORDS) return undefined
  return capitalised(inThirdPerson(asked, { speaker: asker, listener: speaker }))
}

export interface Statements {
  readonly statements: ReadonlyArray<string>
  /** 1 to 10. */
  readonly importance: number
}

/** It may be short: by its question it says something all the same. */
const isReply = (core: string): boolean =>
  !isQuestion(core) && !pleasantry.test(core) && !points.test(core) && !secondPerson.test(core)

/** As much of a statement as there is room for, whole words. */
const cut = (statement: string): string =>
  statement.length <= MAX_STATEMENT_CHARS
    ? statement
    : `${statement
        .slice(0, MAX_STATEMENT_CHARS - 1)
        .replace(/\s+\S*$/, "")
        .toWellFormed()}…`

/** The statements with the question they answer: the first of them, or what else was said. */
const answering = (
  utterance: Utterance,
  cores: ReadonlyArray<string>,
  statements: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const asked = askedOf(utterance)
  const reply = cores.find(isReply)
  if (asked === undefined || reply === undefined) return statements
  const [first = `${utterance.speaker} said: ${reply.replace(/[\s!.]+$/, "")}`, ...others] = statements
  const answer = `Asked "${asked}": ${first}`
  // The answer counts for more than what was asked.
  return [answer.length <= MAX_STATEMENT_CHARS ? answer : first, ...others]
}

/** The sentences of a text that state something, word for word, each with how telling it is. */
export const tellingSentences = (
  text: string,
  at: number | undefined,
  listener?: string
): ReadonlyArray<{ readonly sentence: string; readonly telling: number }> =>
  sentencesOf(text).flatMap((sentence) => {
    const telling = tellingOf(coreOf(withoutCaptions(sentence), listener), at)
    return telling > 0 ? [{ sentence: sentence.trim(), telling }] : []
  })

/** What is stated in something that was said. */
export const statementsOf = (utterance: Utterance): Statements => {
  const cores = coresOf(utterance.text, utterance.listener ?? utterance.asker)
  const told = cores.map((core, place) => ({ core, place, telling: tellingOf(core, utterance.at) }))
  const found = told.filter(({ telling }) => telling > 0).toSorted((a, b) => b.telling - a.telling || a.place - b.place)
  const captions = captionsOf(utterance.text).slice(0, 1)
  const statements = found
    .slice(0, MAX_STATEMENTS - captions.length)
    .toSorted((a, b) => a.place - b.place)
    .map(({ core }) => standing(core, utterance))
  const shared = captions.map((caption) => `${utterance.speaker || "Somebody"} shared ${caption}`)
  const all = [...answering(utterance, cores, statements), ...shared]
  return {
    statements: all.map(cut),
    importance: found[0] === undefined ? Math.min(2, 1 + all.length) : Math.min(10, 2 + found[0].telling)
  }
}

// Attributes: what holds of someone or something for longer than a day.
// A1  An attribute is what someone is, has, likes, wants or does as a rule; never what is going on or happened once.
// A2  What is known already is ignored, with the attribute that says so; nothing is ever taken back.

const lasting =
  "is|has|likes|loves|hates|dislikes|enjoys|prefers|wants|needs|works|lives|owns|plays|speaks|studies|believes|knows|comes|keeps|collects|teaches|runs|fears|trusts|cannot|can't|never|always|usually"

/** What a fact says of someone or something that lasts; undefined when it says nothing of the kind. */
const predicate = new RegExp(
  `^(?:\\s+(?:also|really|still|always|never|often|usually))?\\s+(${lasting})\\s+([\\p{L}'-]+)`,
  "u"
)
const property = /^['’]s\s[^.]{1,60}?\s(?:is|are)\s/

export const attributeIn = (fact: string, entity: string): string | undefined => {
  const said = unasked(fact).trim()
  if (entity === "" || !said.startsWith(entity)) return undefined
  const rest = said.slice(entity.length)
  const [, verb = "", next = ""] = predicate.exec(rest) ?? []
  const isUnderWay = verb === "is" && /^(?:\p{L}+in[g']|gonna|off|about|so|just)$/u.test(next)
  const isPerfect = verb === "has" && (next === "got" || next === "to" || isPast(next) || isParticiple(next))
  if (verb !== "" && !isUnderWay && !isPerfect) return said
  return property.test(rest) ? said : undefined
}

interface Found {
  readonly attribute: string
  readonly evidence: Array<string>
}

export const profiled = (data: string): string => {
  const entity = /^Entity: *(\S.*)$/m.exec(data)?.[1]?.trim() ?? ""
  const [before = "", after = ""] = data.split(/^New:.*$/m)
  const known = linesOf(before)
  const found: Array<Found> = []
  const isSame = (one: string, other: string): boolean => saysTheSame(gistOf(one), gistOf(other))
  for (const { id, text } of linesOf(after)) {
    const attribute = attributeIn(text, entity)
    if (attribute === undefined) continue
    const again = found.find((each) => isSame(each.attribute, attribute))
    if (again === undefined) found.push({ attribute, evidence: [id] })
    else again.evidence.push(id)
  }
  return JSON.stringify(
    found.map(({ attribute, evidence }) => {
      const target = known.find(({ text }) => isSame(text, attribute))?.id ?? null
      return { action: target === null ? "ADD" : "IGNORE", target, attribute, evidence }
    })
  )
}
