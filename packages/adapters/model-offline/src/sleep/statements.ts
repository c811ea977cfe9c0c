// Statements: what a line of a conversation states.
// Owns which sentences are statements, how telling they are, and saying each so that it can stand alone.
// S1  Questions, proposals, greetings, thanks, praise and written calls state nothing; neither does what the stances of
//     stances.ts tell from a statement, nor what is taken back as a joke by the sentence behind it.
// S2  What stands alone names who it is about: pronouns become names, a dropped subject is the speaker, an answer says what
//     it was asked about, relative dates become dates.
// S3  At most MAX_STATEMENTS of a line, the most telling ones, in their order. That a picture was shown is none.
// S4  No pronoun without its noun: a sentence whose pronouns stand for something said before is reported with the sentence that
//     says it, and not at all where that is not in the line.
// S5  A question is no statement: what was asked becomes a clause of its answer, or is left out.
// S6  Two things that someone says of himself in one sentence, each of which may change, are two statements.

import { sentencesOf } from "../calls.ts"
import {
  determiners,
  firstPerson,
  grammarWords,
  interjection,
  isAdverb,
  isBarePast,
  isParticiple,
  isPast,
  modals,
  negation,
  pleasantry,
  pointers,
  pronouns,
  secondPerson,
  thirdPerson,
  withDates
} from "./grammar.ts"
import { answersIt } from "./answers.ts"
import { wholeName } from "./names.ts"
import { hasVerb, isFragment, isNoStatement, isTakenBack, lacksSubject, partsOf } from "./stances.ts"

// ThirdPerson: what someone said about himself, said about him.
// P1  What stands in quotation marks is kept as it is.
// P2  Only pronouns of the first and second person are replaced: whom "she" or "it" means is not guessed at.

const shortForms: Readonly<Record<string, string>> = { m: "is", ve: "has", ll: "will", d: "would" }

const subject = /(?<![\w'-])[Ii](?:'(m|ve|ll|d))?(?![\w'-])((?:\s+[a-z]+(?:'t)?){0,3})/g

/** A verb after its subject, adverbs passed over. */
const conjugated = (words: string): string => {
  const parts = words.split(/(\s+)/)
  const verb = parts.findIndex((part) => /\S/.test(part) && !isAdverb(part) && part !== "no" && part !== "longer")
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

/** "Marta and I are", "Marta and I live", and no clause behind another one. */
const isOfSeveral = (before: string, words: string): boolean =>
  /\band\s+$/i.test(before) && (/^\s+(?:are|were|have|aren't|weren't|haven't)\b/.test(words) || !hasVerb(before))

/** The sentence as a third one would say it. */
const inThirdPerson = (sentence: string, { listener, speaker }: Told): string =>
  outsideQuotes(sentence.replaceAll("’", "'"), (part) => {
    const ofSpeaker = part.replace(subject, (_, short: string | undefined, words: string, at: number) => {
      if (short !== undefined) return `${speaker} ${shortForms[short]}${words}`
      return `${speaker}${isOfSeveral(part.slice(0, at), words) ? words : conjugated(words)}`
    })
    const told = replacePronouns(ofSpeaker, speaker, first)
    return listener === undefined ? told : replacePronouns(told, listener, second)
  })

// Antecedent: the noun that a pronoun of the third person stands for.
// A1  It stands before the pronoun, in the same text. A word is taken for a noun unless it is known for something else: a
//     word of grammar, a verb behind its subject, a form of the past.

const isNoun = (word: string, before: string): boolean =>
  /^\p{L}/u.test(word) &&
  !pronouns.has(word) &&
  (determiners.has(before) ||
    (![grammarWords, pointers, modals].some((words) => words.has(word)) &&
      !isPast(word) &&
      !isParticiple(word) &&
      !isAdverb(word) &&
      !/^(?:i|we|you|they|he|she|it)(?:'\p{L}+)?$/u.test(before)))

/** A pointer is a pronoun when a verb or nothing follows it. */
const stands = (word: string, next: string): boolean =>
  pronouns.has(word) ||
  word === "that's" ||
  (pointers.has(word) &&
    (next === "" ||
      modals.has(next) ||
      /^(?:is|was|are|were|has|have|had|being|'ll|will|made|makes|means|helps|gives|feels|looks|sounds|brings|really|just|all)$/.test(
        next
      )))

/** True of a text in which each pronoun of the third person has a word before it that it may stand for. */
const hasItsNouns = (text: string): boolean => {
  const words =
    text
      .replaceAll("\u2019", "'")
      .toLowerCase()
      .match(/'?[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*|[.,;:!?]/gu) ?? []
  let isFound = false
  for (const [place, word] of words.entries()) {
    // "That" after a verb or a noun begins a clause: it points at nothing.
    const isClause = word === "that" && place > 0 && /^[\p{L}]/u.test(words[place - 1] ?? "")
    if (!isFound && !isClause && stands(word, words[place + 1] ?? "")) return false
    isFound ||= isNoun(word, words[place - 1] ?? "")
  }
  return true
}

const MAX_STATEMENTS = 4
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

/** Calls that are written out for this model are orders, and state nothing. */
const writtenCalls = /^\s*\/[A-Za-z][\w.-]*(?:\s.*)?$/gm
/** So are the lines of a list that ask for something, also on one line. */
const listedRequests =
  /(?<=^|\s)[-*•]\s+(?:Add|Assign|Book|Cancel|Close|Create|Delete|Edit|File|Find|Get|List|Look|Open|Pass|Please|Remind|Remove|Review|Say|Search|Send|Set|Share|Show|Store|Swap|Update|Write)\b(?:"[^"\n]*"|[^"\n])*?(?=\s+[-*•]\s|\s+then\s+[-*•]\s|\n|$)/g
const callInside = /\/[a-z]\w*_\w+ \{[^{}]*\}/g

const withoutCaptions = (text: string): string =>
  [captionPattern, writtenCalls, listedRequests, callInside]
    .reduce((left, each) => left.replace(each, " "), text)
    .trim()

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
    .flatMap((sentence) => partsOf(coreOf(sentence, listener)))
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

/** "I'm vegetarian": two words that say all. */
const isTrait = /^(?:I'm|I’m|We're|We’re) \p{Ll}{4,}[.!]*$/u

/** How much a sentence tells: 0 for nothing at all. */
const tellingOf = (core: string, at: number | undefined): number => {
  const words = wordsIn(core).length
  if (words < (isTrait.test(core) ? 2 : 3) || isQuestion(core) || pleasantry.test(core) || lacksSubject.test(core))
    return 0
  const isOwn = firstPerson.test(core) || dropsSubject(core)
  if (!isOwn && (secondPerson.test(core) || (points.test(core) && words < 8) || isFragment(core))) return 0
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

/** A name stays as its bearer is called. */
const capitalised = (text: string, names: ReadonlyArray<string | undefined>): string =>
  names.some((name = "") => name !== "" && text.startsWith(name) && !/^[\p{L}\p{N}]/u.test(text.slice(name.length)))
    ? text
    : text.charAt(0).toUpperCase() + text.slice(1)

/** What a sentence states, so that it needs nothing beside it. */
const standing = (core: string, utterance: Utterance): string => {
  const { at, speaker } = utterance
  const dated = at === undefined ? core : withDates(core, at)
  const told = speaker === "" ? dated : inThirdPerson(withSubject(dated, speaker), utterance)
  const named = speaker === "" || wholeName(speaker).test(told) ? told : `${speaker} said: ${told}`
  return capitalised(named, [speaker, utterance.listener, utterance.asker]).replace(/[\s!.,;:-]+$/, "")
}

const auxiliary = "is|are|was|were|has|have|had|does|do|did|can|could|will|would|should|might|must"
const interrogative = "what|which|who|whom|whose|where|when|why|how"

/** "How long has Nora been married" as a clause: "how long Nora has been married"; undefined where that is not known. */
const asClause = (question: string, names: ReadonlyArray<string>): string | undefined => {
  const someone = names.map((name) => name.replace(/[^\p{L}\p{N} ]/gu, ".")).join("|")
  const inverted = new RegExp(
    `^(?:((?:${interrogative})(?:['’]s)?\\b[^,;:]*?) )?(${auxiliary}) (${someone})(?!['’\\p{L}]) ?(\\S*)(.*)$`,
    "iu"
  ).exec(question)
  if (inverted !== null) {
    const [, asked = "whether", helper = "", name = "", verb = "", rest = ""] = inverted
    const told = /^does$/i.test(helper) ? thirdPerson(verb) : `${helper.toLowerCase()} ${verb}`
    return `${asked.charAt(0).toLowerCase()}${asked.slice(1)} ${name} ${told}${rest}`.trim()
  }
  const begun = `${question.charAt(0).toLowerCase()}${question.slice(1)}`
  if (new RegExp(`^(?:${interrogative})\\b`, "i").test(question)) return begun
  const topic = begun.replace(/^(?:got|have|had|ever had|need) (?=any|some)/i, "")
  return /^(?:any|anything|anyone|some|something)\b/i.test(topic) ? `about ${topic}` : undefined
}

/** It asks how someone is, which is forgotten in a month. */
const smallTalk =
  /^how(?:'s|’s| is| are| have| has| did)? (?:you|it|things|life|everything|everyone|your (?:day|week))(?: (?:been|doing|going|feeling|lately|today|these days|since))*[\s?!.]*$/i

/** What the reply answers, as a clause; undefined when nothing in particular was asked, or it can not be told so. */
const askedOf = ({ asker, question, speaker, text }: Utterance, reply: string): string | undefined => {
  if (question === undefined || asker === undefined) return undefined
  const asked = coresOf(question, speaker).findLast(isQuestion)
  if (
    asked === undefined ||
    !answersIt(asked, reply, text) ||
    smallTalk.test(asked) ||
    wordsIn(asked).length < MIN_QUESTION_WORDS ||
    !hasItsNouns(asked)
  )
    return undefined
  const told = inThirdPerson(asked, { speaker: asker, listener: speaker }).replace(/[\s?!.]+$/, "")
  return /["“?:]/.test(told) ? undefined : asClause(told, [speaker, asker])
}

export interface Statements {
  readonly statements: ReadonlyArray<string>
  /** 1 to 10. */
  readonly importance: number
}

/** It may be short: by what was asked it says something all the same. */
const isReply = (core: string): boolean =>
  !isQuestion(core) && !pleasantry.test(core) && !points.test(core) && !secondPerson.test(core) && hasItsNouns(core)

/** As much of a statement as there is room for, whole words. */
const cut = (statement: string): string =>
  statement.length <= MAX_STATEMENT_CHARS
    ? statement
    : `${statement
        .slice(0, MAX_STATEMENT_CHARS - 1)
        .replace(/\s+\S*$/, "")
        .toWellFormed()}…`

/** The statements with what they answer: the first of them, made of the core `stated`, or what else was said. */
const answering = (
  utterance: Utterance,
  cores: ReadonlyArray<string>,
  statements: ReadonlyArray<string>,
  stated: string | undefined
): ReadonlyArray<string> => {
  const reply = cores.find((core) => isReply(core) && !isNoStatement(core))
  // A wish or a guess may be the answer: then what else was said is none.
  const isOpen = statements.length === 0 && cores.some(isNoStatement)
  const asked = reply === undefined || isOpen ? undefined : askedOf(utterance, stated ?? reply)
  if (asked === undefined || reply === undefined) return statements
  const [first = standing(reply, utterance), ...others] = statements
  const said = first.startsWith(`${utterance.speaker} said: `) ? first.slice(utterance.speaker.length + 7) : first
  const answer = `${utterance.speaker} told ${utterance.asker} ${asked}: ${said}`
  // The answer counts for more than what was asked.
  if (answer.length <= MAX_STATEMENT_CHARS) return [answer, ...others]
  return statements
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

interface Core {
  readonly core: string
  readonly place: number
  readonly telling: number
}

/** The core with those before it that its pronouns need; undefined where they are not there. */
const wholeOf = (cores: ReadonlyArray<string>, place: number): string | undefined => {
  let whole = cores[place] ?? ""
  for (let before = place - 1; !hasItsNouns(whole); before--) {
    const core = cores[before]
    if (
      core === undefined ||
      isQuestion(core) ||
      isNoStatement(core) ||
      pleasantry.test(core) ||
      wordsIn(core).length < 3
    )
      return undefined
    whole = `${/[.!?…]$/.test(core) ? core : `${core}.`} ${whole}`
  }
  return whole
}

/** What is stated in something that was said. */
export const statementsOf = (utterance: Utterance): Statements => {
  const said = coresOf(utterance.text, utterance.listener ?? utterance.asker)
  const cores = said.filter((_, place) => !isTakenBack(said[place + 1] ?? ""))
  const told = cores.flatMap((core, place): ReadonlyArray<Core> => {
    if (isNoStatement(core)) return []
    const whole = wholeOf(cores, place)
    return whole === undefined ? [] : [{ core: whole, place, telling: tellingOf(whole, utterance.at) }]
  })
  const found = told.filter(({ telling }) => telling > 0).toSorted((a, b) => b.telling - a.telling || a.place - b.place)
  const stated = found
    // What is a part of another one is reported with it.
    .filter(({ core }) => !found.some((other) => other.core !== core && other.core.includes(core)))
    .slice(0, MAX_STATEMENTS)
    .toSorted((a, b) => a.place - b.place)
  const statements = stated.map(({ core }) => standing(core, utterance))
  const all = answering(utterance, cores, statements, stated[0]?.core).filter(
    (each) => each.length <= MAX_STATEMENT_CHARS || hasItsNouns(cut(each))
  )
  return {
    statements: all.map(cut),
    importance: found[0] === undefined ? Math.min(2, 1 + all.length) : Math.min(10, 2 + found[0].telling)
  }
}
