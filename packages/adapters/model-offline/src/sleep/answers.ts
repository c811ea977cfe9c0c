// Answers: whether what someone said next answers what another one asked.
// Owns judging that by the words of both. English only. Leaves who asked whom, and in which conversation, to consolidation.ts.
// P1  In doubt it answers nothing: the statement is learnt without the question.
// P2  It fits what was asked (a time for when, a place for where, a number for how many, a name for who, yes or no), and it is about the same:
//     it has no verb of its own, shares a word with the question, or is what "I" do where "you" were asked.

import { sentencesOf, stemOf, stemsOf } from "../calls.ts"
import { firstPerson, grammarWords, monthNames, weekdayNames } from "./grammar.ts"
import { hasVerb } from "./stances.ts"

type Asks = "yes or no" | "time" | "place" | "number" | "person" | "anything"

const kinds: ReadonlyArray<readonly [RegExp, Asks]> = [
  [/^(?:when|(?:at |by |on |in |since )?wh(?:at|ich) (?:time|day|date|year|month|hour)|how long ago)\b/i, "time"],
  [/^where\b/i, "place"],
  [/^how (?:many|much|long|old|often|far|tall|big|large|high|deep|heavy)\b/i, "number"],
  [/^who(?:m|se)?\b/i, "person"],
  [/^(?:what|which|why|how)\b|^(?:got |have |had |ever had |need )?(?:any|some)/i, "anything"]
]

const asksFor = (question: string): Asks => kinds.find(([pattern]) => pattern.test(question))?.[1] ?? "yes or no"

const number =
  "\\d|\\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|once|twice|none|few|many|several|both|half|every|never|always|daily|weekly)\\b"
const time =
  "\\d|\\b(?:today|tomorrow|yesterday|tonight|now|soon|later|ago|last|next|morning|noon|afternoon|evening|night|midnight|week|month|year|summer|winter|spring|autumn|" +
  `${[...monthNames, ...weekdayNames].join("|")})(?:s|ly)?\\b`

const fitting: Readonly<Record<Asks, RegExp>> = {
  "yes or no": /(?:)/,
  time: new RegExp(time, "i"),
  place:
    /\b(?:in|at|on|near|by|from|to|under|above|below|behind|beside|between|next to|around|outside|inside|here|there|home|abroad|everywhere|nowhere)\b/i,
  number: new RegExp(number, "i"),
  person:
    /\b(?:my|our|his|her|their) \p{L}+|\b(?:I|me|we|us|myself|nobody|no one|everyone|everybody|someone|somebody)\b|\p{Lu}\p{L}+/u,
  anything: /(?:)/
}

const yesOrNo =
  /^(?:(?:oh|well|hm+|ah)[\s,.!]+)*(?:yes|yeah|yep|yup|no|nope|nah|sure|of course|definitely|absolutely|certainly|not|never|sometimes|often|always|usually|i (?:do|don['’]t|did|didn['’]t|am|['’]m not|have|haven['’]t|can|can['’]t|will|won['’]t)[,.!])(?![\p{L}])/iu
/** It stands for what was asked: "Petra did it". */
const standsFor = /\b(?:did|does|do) (?:it|that|so)\b|\b(?:did|does|do|is|was|has|had|will|can)[\s.!]*$/i

/** Without the words that stand in any question and any answer. */
const topicOf = (text: string): ReadonlySet<string> => {
  const words = text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? []
  return stemsOf(words.filter((word) => !grammarWords.has(word)).join(" "))
}

/** What "you" are asked to have or to do: its verb. */
const verbAsked = (question: string): string | undefined =>
  /\byou (?:\p{L}+ly |still |ever |also |already |always |often )?(\p{L}{3,})/iu.exec(question)?.[1]

const hasWord = (text: string, word: string): boolean =>
  (text.match(/\p{L}+/gu) ?? []).some((each) => stemOf(each) === stemOf(word))

const isOf = (question: string, answer: string): boolean => {
  const kind = asksFor(question)
  if (!hasVerb(answer.split(/,| (?:that|who|which|where|with) /)[0] ?? "")) return true
  const isShared = !topicOf(question).isDisjointFrom(topicOf(answer))
  if (isShared) return true
  const isOwn = firstPerson.test(answer)
  const verb = verbAsked(question)
  if (isOwn && verb !== undefined && hasWord(answer, verb)) return true
  if (kind === "person") return standsFor.test(answer)
  return (
    kind === "anything" && isOwn && (/\byou\b/i.test(question) || /^(?:got|have|had|need|any|some)/i.test(question))
  )
}

/** `answer` is the sentence that may answer, `said` all that it stands in. */
export const answersIt = (question: string, answer: string, said: string): boolean => {
  const kind = asksFor(question)
  if (kind === "yes or no" && yesOrNo.test(sentencesOf(said)[0]?.trim() ?? "")) return true
  return fitting[kind].test(answer) && isOf(question, answer)
}
