// Grammar: the few English words whose form or place tells what a sentence does.
// Owns these lists and what follows from them. English only; no word of a topic is among them.

export const monthNames: ReadonlyArray<string> =
  "january february march april may june july august september october november december".split(" ")
/** As Date counts them: Sunday is 0. */
export const weekdayNames: ReadonlyArray<string> = "sunday monday tuesday wednesday thursday friday saturday".split(" ")

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Forms of the past that do not end in -ed. */
const irregularPast = setOf(`
  ate became began bought broke brought built came caught chose cut did drank drew drove fell felt flew forgot fought found
  gave got grew had heard held hid hit hurt kept knew laid learnt led left lent let lost made meant met paid put ran read
  rode rose said sang sat saw sent set shot shut sold spent spoke stood stuck swam swept swore taught thought threw told
  took tore understood was went were woke won wore wrote
`)

/** Participles that are no form of the past by themselves. */
const participles = setOf(
  "been begun broken chosen done driven eaten fallen flown forgotten given gone grown known ridden seen shown spoken sung swum taken thrown worn written"
)

export const isParticiple = (word: string): boolean => participles.has(word)

/** They take no -s. */
const modals = setOf(
  "can could may might must shall should will would can't couldn't won't wouldn't shouldn't cannot ain't"
)

const thirdForms: Readonly<Record<string, string>> = {
  am: "is",
  are: "is",
  were: "was",
  have: "has",
  do: "does",
  go: "goes",
  wanna: "wants to",
  gotta: "has to",
  gonna: "is going to",
  "aren't": "isn't",
  "weren't": "wasn't",
  "haven't": "hasn't",
  "don't": "doesn't"
}

/** Between a subject and its verb. */
const adverbs = setOf(
  "just also really still always never often usually actually even already recently finally totally now both all last first then truly"
)

export const isAdverb = (word: string): boolean => adverbs.has(word) || (word.length > 4 && word.endsWith("ly"))

/** Their past looks like their present. */
const unchanging = setOf("cut hit hurt let put read set shut")

/** The past of a verb that begins a sentence whose subject was left out: "lost my job", "moved to Rome". */
export const isBarePast = (word: string, next: string): boolean =>
  isPast(word) && !unchanging.has(word) && !(word.endsWith("ed") && /^(?:for|by|about|with|to|of|that)$/.test(next))

export const isPast = (word: string): boolean =>
  irregularPast.has(word) || (word.length > 4 && word.endsWith("ed") && !word.endsWith("eed"))

/** What a verb that followed "I" or "we" is after a name. */
export const thirdPerson = (verb: string): string => {
  const known = thirdForms[verb]
  if (known !== undefined) return known
  if (modals.has(verb) || isPast(verb) || /^(?:is|was|been|has|had|did)$|(?:n't|ing)$/.test(verb)) return verb
  if (/(?:s|x|z|ch|sh)$/.test(verb)) return `${verb}es`
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`
}

/** Words that make a sentence speak of whoever says it. */
export const firstPerson = /\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b/
export const secondPerson = /\b(?:you|your|yours|yourself|y'all|ya)\b/i
export const negation = /\b(?:not|no|never|nobody|nothing|none|neither|nor|without|cannot)\b|n't\b/i

/** At the start of a sentence: they say how something is taken, not what it is. */
export const interjection =
  /^(?:(?:wow|woah|whoa|yeah|yep|yes|yup|nope|oh|ah|aww?|oof|ooh|hey|hi|hello|btw|by the way|haha|anyway|please|and|but|plus|also)\b[\s,!:;-]*|(?:no|so|sure|sure thing|okay|ok|well|cool|great|nice|awesome|totally|absolutely|definitely|sorry|thanks|thank you|congrats|congratulations)\s*[,!:;-]\s*)+/i

/** Greetings, thanks, requests, and what somebody is called upon to do. */
export const pleasantry =
  /^(?:for|to|thanks?|sorry|congrats|congratulations|glad|good|great to|nice to|happy to|welcome|bye|see you|talk to you|long time|let's|let us|don't|keep|go|take|have|check|look|stay|believe|tell|hang)\b/i
