// Stances: what a sentence does when it does not state what its words say.
// Owns telling statements from all else that is said. English only; no word of a topic is among its words.
// N1  A wish, a guess, a condition, hearsay, a joke, an order, an indirect question and a courtesy state nothing, though
//     they have the words of a statement.
// N2  A sentence that begins with a verb without a subject is an order, whatever verb it is. So is one that says please.
// N3  A few words without a verb state nothing, where they are English, nor does what says of no one what it says. An answer may be so.

import {
  grammarWords,
  isAdverb,
  isParticiple,
  isPast,
  modals,
  monthNames,
  pronouns,
  setOf,
  weekdayNames
} from "./grammar.ts"

/** The speaker, and a short form of the verb behind. */
const own = "(?:i|we)(?:'(?:m|re|ve|d|ll))?(?: (?:am|are|was|were|have|had|would|do|been))?"
const between =
  "(?: (?:just|also|really|so|very|only|still|always|often|totally|truly|super|long|do|all|quite|sort of|kind of))*"
const anyone = "(?:I|i|[Yy]ou|[Ww]e|[Hh]e|[Ss]he|[Ii]t|[Tt]hey|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]he) \\S+(?: \\S+)?)"
/** What an assistant is called upon to do, where no pleasantry says it. */
const demands =
  "remind|send|book|call|set|write|translate|find|show|give|add|remove|delete|open|close|play|buy|order|schedule|cancel|search|" +
  "make|bring|put|turn|start|stop|wake|answer|reply|explain|help|list|note|remember|forget|ask|use|read|print|save|move|change|" +
  "update|create|draft|email|mail|text|message|ring|tidy|clean|wait|try|do|let|come|get|leave|pick|pay|forward|summari[sz]e|" +
  "assign|prepare|decompose|arrange|organi[sz]e|invite|notify|inform|assemble|compare|rename|install|upload|download|publish|" +
  "approve|reject|confirm|calculate|describe|delegate|fetch|reserve|archive"

const states = (pattern: string): RegExp => new RegExp(`^(?:${pattern})(?![\\p{L}\\p{N}])`, "iu")

const stances: ReadonlyArray<RegExp> = [
  // Wishes.
  states(`(?:${own}${between} )?(?:wish|wishing|hope|hoping)`),
  states(`${own}${between} (?:hoped|dream|dreamt|dreamed|dreaming|longing|long for)`),
  states(`(?:i|we)(?:'d| would)${between} (?:love|like|hate|enjoy|adore|kill|give)`),
  states("if only|hopefully|fingers crossed|(?:it|that|this)(?:'d| would)|may (?:you|he|she|they|it|we)"),
  // Guesses and conditions.
  states("if|suppose|supposing|imagine|assuming|unless|what if|whether|maybe|perhaps|possibly|who knows"),
  states(`${own}${between} (?:guess|suppose|suspect|bet|doubt|assume|imagine)`),
  /^[^.;]*\bwho knows\b/i,
  // "May" with a capital is a month, and who could not do something tells what happened.
  new RegExp(`^${anyone} (?:might|may|could)(?! (?:not|hardly|barely|finally))\\b`),
  /^[^.;]*(?:\bwould\b|'d\b)[^.;]* if\b/i,
  // Hearsay.
  states(`${own}${between} heard (?:that|from|it|rumou?rs?|the|they|she|he|there|someone|somebody|people)`),
  states(`${own}${between} (?:read|saw|heard|picked up) (?:somewhere|online|in [^,.]{1,30} that)`),
  states("apparently|allegedly|supposedly|reportedly|rumou?rs?|gossip|word (?:is|has it)|legend has it|it is said"),
  states(
    "(?:they|people|folks|some|some people|everyone|everybody|someone|somebody)(?: \\w+)? (?:says?|said|claims?|told|reckons?)"
  ),
  /\b(?:is|are|was|were|has|have) (?:apparently|allegedly|supposedly|reportedly|rumou?red|said to)\b/i,
  // Jokes: no one can do that, or the one who says it laughs.
  /\b(?:a|ten|two) (?:million|billion|thousand|hundred) times\b|\bso [^,.]{2,40} (?:that )?(?:i|we|he|she|they) could\b/i,
  /(?:\b(?:lol|haha\w*|hehe\w*|jk|rofl|(?:just |only )?(?:kidding|joking))|[\u{1F602}\u{1F923}])[\s!.)]*$/iu,
  // Orders, and offers.
  new RegExp(
    `^(?:(?:always|never|do|do not|kindly|just) )?(?:${demands}) (?!(?:#\\d|(?:is|are|was|were|has|have|will|can)\\b))`,
    "i"
  ),
  states(
    "from now on|you (?:should|must|could|can|may|need to|have to|ought to)|we (?:should|could|ought to)|why (?:don't|not)|how about|shall"
  ),
  states(`${own}${between} (?:need|want|wanted|like|ask|asking|expect|beg) (?:you|for you)`),
  states(
    "(?:i|we)(?:'ll| will| can| could) (?:be (?:there|here|back|right)|(?:let|see|call|show|tell|send|help|keep|give|lend) you)"
  ),
  // Indirect questions.
  states(`${own}${between} (?:wonder|wondered|wondering|curious)`),
  states(
    "(?:i|we) (?:don't|do not|didn't) (?:know|remember|understand|get) (?:if|whether|what|where|who|how|why|when|which)"
  )
]

/** Courtesies, and what passes within the hour. */
const courtesies: ReadonlyArray<RegExp> = [
  states(
    `${own}${between} (?:agree|appreciate|apologi[sz]e|thank|miss(?:ed)? you|see (?:you|what)|know what|hear you|feel you|get it)`
  ),
  states(
    `${own}${between} (?:happy|glad|sorry|proud|thrilled|pleased|grateful|thankful|delighted|honou?red|touched|excited) (?:for you|of you|to (?:see|hear|know)|that you|you|with you|your)`
  ),
  /^(?:i|we)(?:'m|'re| am| are)(?: (?:so|really|very|just|all|doing|feeling|quite|pretty|too|not))* (?:fine|good|great|well|ok|okay|alright|here|back|ready|done|sure|certain|sorry|glad|happy|late|tired|busy|hungry|excited|thrilled|amazed|touched|exhausted|stressed|worried|nervous|confused|in|out|serious|listening|impressed|jealous|curious|speechless|afraid)(?: (?:too|now|again|today))?(?:[,!.].*)?$/i,
  states(
    "(?:(?:i|we) )?(?:can't|cannot|can hardly) (?:wait|believe|complain|thank)|here's to|(?:i|we)(?:'ve)? (?:have to|got to|gotta|must|need to|better|should) (?:go|run|leave|be going|be off)"
  ),
  states("(?:that's )?not what (?:i|we)"),
  states("(?:i|we) (?:had|have)(?: absolutely)? no (?:idea|clue|words|doubt|comment)"),
  states("you (?:always|never|really|truly|make|made|look|sound|seem|deserve|rock)|same here|me (?:too|neither)"),
  /^(?:what|such|so|too) (?:an?|lovely|great|good|nice|much|many|cute|funny|true|sweet)\b(?: [\p{L}'’]+){0,4}[.!]*$/iu,
  /^(?:the|your|those|these|that|this)(?: [\p{L}'’-]+){1,3} (?:is|are|looks?|sounds?) (?:so|such|really|very|too|super) [\p{L}'’ -]+[.!]*$/iu
]

/** Behind a courtesy the same sentence may tell something: "I get it, I had a mentor too". */
const ownClause = / [-–—] |, (?:and |but |so )?(?=(?:I|[Ww]e|[Mm]y|[Oo]ur)\b)/

/** The sentence does something else than to state what its words say. */
export const isNoStatement = (sentence: string): boolean => {
  const plain = sentence.replaceAll("\u2019", "'").trim()
  const [first = "", ...others] = plain.split(ownClause)
  return (
    isOrder(plain) ||
    stances.some((stance) => stance.test(plain)) ||
    (courtesies.some((courtesy) => courtesy.test(first)) && others.every((clause) => isNoStatement(clause)))
  )
}

/** What was said last was no more than a joke. */
export const isTakenBack = (sentence: string): boolean =>
  /^(?:(?:ha)+[,!. ]+)?(?:(?:no|nah|okay|ok)[,.! ]+)?(?:(?:i'm|i am|i was|we're|that was|it was) )?(?:just |only |totally )?(?:kidding|joking|teasing|a joke|jk|messing with you|pulling your leg)\b/i.test(
    sentence.replaceAll("\u2019", "'").trim()
  )

// Order: a sentence that begins with its verb.
// V1  Behind the verb stands what it is done to. A noun may stand so, before a time or where the sentence has its verb further on.
// V2  Some verbs leave out the one who speaks: "love this town", "hurt my knee".

const beforeOrder = "(?:(?:then|now|so|first|next|finally|afterwards|just|kindly|ok|okay|well)[ ,]+)*"
const objects =
  "the|my|your|our|his|her|its|their|me|him|them|us|it|this|these|those|all|both|each|every|another|any|some|up|down|out|off"
/** Other languages have "a", too. */
const article = "an?(?= .*\\b(?:the|of|to|for|with|my|your|our|from|and|into|about|at)\\b)"
const times = "(?:other )?(?:day|night|morning|evening|time|week|weekend|month|year|summer|winter)s?"
const orderPattern = new RegExp(
  `^${beforeOrder}([a-z]+) (?:["“]|(?:${objects}|${article})(?![\\p{L}'’-])(?! ${times}\\b))`,
  "iu"
)
const courteous = new RegExp(`^${beforeOrder}please\\b|(?<!\\b(?:say|says|said|saying))[ ,]please["')\\s.,:;!]*$`, "i")
const ofSpeaker = setOf(
  "love like hate enjoy miss need want hope wish think feel prefer know believe live own guess adore cut hit hurt read work works"
)
/** They stand before an article, and are no verbs; with the words of grammar. */
const noOrders = setOf(`
  across along among amid beside beyond behind below beneath despite except inside outside onto within without throughout toward upon via per
  unlike above half twice almost whatever whenever wherever whoever otherwise instead meanwhile rather
  ${weekdayNames.join(" ")} ${monthNames.join(" ")}
`)
const laterClause = /[,;:—]| (?:that|who|which|what|where|when|if|so|because|until|while|and|or) /
const auxiliaries = setOf(
  "am is are was were has have had do does did isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't"
)

const isAuxiliary = (word: string): boolean => auxiliaries.has(word) || modals.has(word)

const isOrder = (plain: string): boolean => {
  if (courteous.test(plain)) return true
  const verb = orderPattern.exec(plain)?.[1]?.toLowerCase() ?? ""
  if (verb === "" || [grammarWords, noOrders, pronouns, ofSpeaker, countWords].some((words) => words.has(verb)))
    return false
  if (isAuxiliary(verb) || isPast(verb) || isParticiple(verb) || isAdverb(verb) || /(?:ing|[^s]s)$/.test(verb))
    return false
  const [clause = ""] = plain
    .toLowerCase()
    .replace(/["“][^"”]*["”]/g, "")
    .split(laterClause)
  // A noun may have a name in quotation marks, and its verb behind.
  const isNamed = /^\S+ ["“]/.test(plain)
  return !clause.split(/\s+/).some((word) => isAuxiliary(word) || (isNamed && isPast(word)))
}

// Fragment: what has no verb.
// G1  A word that may be a verb is taken for one: only what surely has none is a fragment.
// G3  What runs along the keys, or has no vowel, is no word of any language: a sentence of such words teaches nothing.
// G2  What is not English is none: by its words of grammar it would seem so.

const MAX_FRAGMENT_WORDS = 6
const ENGLISH_PART = 0.4
const countWords = setOf(
  "one two three four five six seven eight nine ten eleven twelve first second third next last nothing time"
)
/** They end as verbs do. */
const noVerbs = setOf("its this his yes always perhaps sometimes others ones lots ours yours theirs as besides")
/** A plural follows them, and no verb. */
const beforePlurals = setOf(
  "the a an my your our his her their these those some all many few both several two three four five six seven eight nine ten eleven twelve"
)
const plainVerbs = setOf(
  "love like hate need want know think say come live work make take get give help keep play look feel mean seem cost sell grow eat sleep run open close start stop belong depend stand lie sit hold rise fall pay owe use sing teach speak ride drive"
)

const isVerbAt = (words: ReadonlyArray<string>, at: number): boolean => {
  const [before = "", word = ""] = [words[at - 1], words[at]]
  if (/^(?:it|he|she|that|there|here|what|who|where|how|i|we|you|they)['’]\p{L}+$/u.test(word) || /['’]s$/.test(word))
    return true
  if (isAuxiliary(word)) return true
  if (before === "to") return false
  if (isPast(word) || isParticiple(word) || plainVerbs.has(word)) return true
  return at > 0 && /[^su'’]s$/.test(word) && !noVerbs.has(word) && !beforePlurals.has(before)
}

/** Who or what does so was said before, or not at all. */
export const lacksSubject =
  /^(?:reminds|makes|means|helps|feels|looks|sounds|seems|brings|gives|shows|proves|takes|keeps)\b/i

const wordsOf = (sentence: string): ReadonlyArray<string> => sentence.toLowerCase().match(/\p{L}[\p{L}'’-]*/gu) ?? []

/** Something in it may be a verb. */
export const hasVerb = (sentence: string): boolean => wordsOf(sentence).some((_, at, words) => isVerbAt(words, at))

const keyRows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]

const isMashed = (word: string): boolean =>
  /^[a-z]{3,}$/.test(word) &&
  (!/[aeiouy]/.test(word) || /(.)\1\1/.test(word) || (word.length > 3 && keyRows.some((row) => row.includes(word))))

/** Most of its words are none, and none is known. */
const isMash = (sentence: string): boolean => {
  const words = sentence.match(/[\p{L}\p{N}'’-]+/gu) ?? []
  const isKnown = (word: string): boolean => word !== word.toLowerCase() || /\d/.test(word) || grammarWords.has(word)
  return !words.some(isKnown) && words.filter(isMashed).length > words.length / 2
}

/** A few words of English without a verb, or no words at all. */
export const isFragment = (sentence: string): boolean => {
  if (isMash(sentence)) return true
  const words = wordsOf(sentence)
  // "High water 11:35" tells something.
  if (/\d/.test(sentence) || words.length > MAX_FRAGMENT_WORDS || hasVerb(sentence)) return false
  const english = words.filter((word) => grammarWords.has(word) || countWords.has(word)).length
  return english >= ENGLISH_PART * words.length
}

/** What has one value at a time, said of oneself: where one lives and works, what one is called, how old one is. */
const holding =
  /^(?:I (?:now |currently )?(?:live|work) (?:in|at|for|as)\b|I(?: have|['’]ve)? (?:just )?moved to\b|I(?:'m|’m| am) (?:called|\d)|My (?:[\p{L}-]+ ){1,3}is\b)/iu

/** "My name is Ann and I live in Bergen" are two statements: each can be replaced without the other. */
export const partsOf = (core: string): ReadonlyArray<string> => {
  const parts = core.split(/,? and (?=(?:I|my)\b)/i)
  return parts.length > 1 && parts.every((part) => holding.test(part)) ? parts : [core]
}
