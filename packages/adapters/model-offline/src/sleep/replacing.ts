// Replacing: whether what was said later takes the place of what was said before.
// Owns the attributes that have one value at a time, and when two statements give the same one another value. English only; leaves which
// facts are compared to tasks.ts.
// R4  Same subject, same attribute, another value. One value that says more than the other is not another one: "Bergen" and "Bergen, Norway".
// R5  What may hold beside other things (likes, has, knows, visited) is never replaced, nor what says "also" or "sometimes".
// R6  Where something is takes another place only where the later statement says that this has changed: "now", "moved", "correction".
// R7  What has more than one statement in it is replaced by none: the others would be lost. Nor is what someone says of himself replaced by
//     what another one says of him.

import { isPast, modals, monthNames, setOf, weekdayNames } from "./grammar.ts"

interface Held {
  readonly subject: string
  readonly attribute: string
  readonly value: string
  /** It holds of a person, who knows it better than others. */
  readonly isOwn: boolean
  /** Other values are known to hold beside it, where nothing says that it has changed. */
  readonly needsChange?: boolean
}

interface Statement {
  readonly text: string
  /** Someone else says it of the subject. */
  readonly isReported: boolean
  readonly saysChange: boolean
}

const reported = /^[^\s:"][^:"]{0,100}? said: /u
const opening =
  /^(?:(?:actually|correction|update|to correct myself|sorry|in fact|no|now|from now on|as of today)\s*[,:!.-]?\s+|i was wrong\s*[:,]\s*)+/i
/** Without words that only say that something else was said before. */
export const withoutOpening = (statement: string): string => statement.replace(opening, "")

const change =
  /\b(?:now|actually|correction|no longer|any ?more|these days|instead|moved|changed|switched|from now on|as of|new)\b/i
const beside = /\b(?:also|too|as well|both|another|sometimes|often|part-time|weekends?|second|besides|or)\b/i

const statementIn = (fact: string): Statement => {
  const told = fact.replace(reported, "")
  return {
    text: withoutOpening(told)
      .replaceAll("’", "'")
      .replace(/[\s.!]+$/, ""),
    isReported: told !== fact,
    saysChange: change.test(told)
  }
}

const S = "(?<subject>(?:[\\p{L}\\p{N}][\\p{L}\\p{N}'&-]*)(?: [\\p{L}\\p{N}][\\p{L}\\p{N}'&-]*){0,6}?)"
/** A clock time or an address has signs inside. */
const V = "(?<value>(?:[^;:.!?]|(?<=\\S)[:.](?=\\S)){1,80})"
const now = "(?: (?:now|currently|actually|really))?"
const single = "birthday|password|passcode|pin|code|number|address|age|job|size"
const held = "berth|seat|locker|cabin|room|slot"

interface Rule {
  readonly pattern: RegExp
  readonly attribute: (groups: Readonly<Record<string, string>>) => string
  readonly isOwn?: boolean
  readonly needsChange?: boolean
  readonly fits?: (value: string) => boolean
}

const times = `${weekdayNames.join("|")}|${monthNames.join("|")}`
const timeIn = new RegExp(
  `\\b(?:${times})s?\\b|\\b(?:at|until|from|by) \\d|\\d{1,2}[:.]\\d\\d|\\b(?:noon|midnight)\\b`,
  "i"
)
const isTime = (value: string): boolean => timeIn.test(value) || /^\d{1,2}(?::\d\d)?(?: ?[ap]m)?$/i.test(value)
const rule = (
  pattern: string,
  attribute: string | Rule["attribute"],
  more: Omit<Rule, "pattern" | "attribute"> = {}
): Rule => ({
  pattern: new RegExp(`^${pattern}$`, "iu"),
  attribute: typeof attribute === "string" ? () => attribute : attribute,
  ...more
})

const own = { isOwn: true }

const rules: ReadonlyArray<Rule> = [
  rule(`${S}${now} lives${now} (?:in|at|on) ${V}`, "home", own),
  rule(
    `${S} (?:has )?moved (?:from [^;:.!?]{1,40} )?to (?<value>[^;:.!?,]{1,60}?)(?: (?:in|on|around|with|and) .*)?`,
    "home",
    {
      ...own,
      fits: (value) => /^\p{Lu}/u.test(value) && !isTime(value)
    }
  ),
  rule(`${S}${now} works${now} (?<as>at|for|as) ${V}`, ({ as }) => (as === "as" ? "profession" : "work"), own),
  rule(
    `${S}'s (?<what>favou?rite [\\p{L}-]+(?: [\\p{L}-]+)?) is${now} ${V}`,
    ({ what = "" }) => what.replace("favor", "favour"),
    own
  ),
  rule(`${S}'s (?<what>(?:[\\p{L}-]+ ){0,2}(?:${single})) is${now} (?:on )?${V}`, ({ what = "" }) => what, own),
  rule(`the (?<what>(?:[\\p{L}-]+ ){0,2}(?:${held})) (?:of|for) ${S} is${now} ${V}`, ({ what = "" }) => what),
  rule(`(?<subject>(?:the )?(?:[\\p{L}-]+ ){0,3}(?:${single})(?: (?:of|for) [^;:.!?]{1,40}?)?) is${now} ${V}`, "value"),
  rule(`${S}'s (?<what>${held}) is${now} ${V}`, ({ what = "" }) => what),
  rule(`${S}${now} (?:has|lies at|is at) (?<what>${held}) ${V}`, ({ what = "" }) => what, {
    fits: (value) => /^\S*\d|^[a-z]$|^\S+ now$/i.test(value)
  }),
  rule(`(?:on \\d{1,2} [\\p{L}]+ \\d{4} )?${S} (?:is|turned)${now} (?<value>\\d{1,3}) years old(?: .*)?`, "age", own),
  rule(
    `${S} (?:(?:has been |was |is |has )?(?:moved|postponed|rescheduled|changed) (?:to|until)|is${now}|takes place|begins|starts) (?:on |at )?${V}`,
    "time",
    {
      fits: isTime
    }
  ),
  rule(`${S} is${now} (?:on|in|at) ${V}`, "place", { needsChange: true, fits: (value) => !isTime(value) })
]

const noSubjects = setOf(
  "it that this there he she they we i you who which what said told says wants hopes thinks believes knows if when because and or but used not never no to is are was were has have had a an every each some any many most old former previous last next"
)

const subjectOf = (text: string): string | undefined => {
  const subject = text
    .toLowerCase()
    .replace(/^(?:the|our|my) (?:(?:new|current) )?/, "")
    .trim()
  const words = subject.split(/\s+/)
  if (subject === "" || words.some((word) => noSubjects.has(word) || modals.has(word) || isPast(word))) return undefined
  return subject
}

const fillers = setOf(
  "now currently these days instead again the a an our today really any more anymore at in on to of"
)

const wordsOf = (value: string): ReadonlySet<string> =>
  new Set((value.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}:.@'-]*/gu) ?? []).filter((word) => !fillers.has(word)))

const heldBy = ({ text }: Statement): Held | undefined => {
  for (const { attribute, fits, isOwn = false, needsChange = false, pattern } of rules) {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) continue
    const subject = subjectOf(groups["subject"] ?? "")
    const value = (groups["value"] ?? "").replace(/,? (?:not|and not|instead of|rather than) .*$/i, "").trim()
    if (subject === undefined || value === "" || fits?.(value) === false) continue
    return { subject, attribute: attribute(groups).toLowerCase(), value, isOwn, needsChange }
  }
  return undefined
}

/** Days, dates and clock times in it, each under its kind. */
const timesIn = (value: string): ReadonlyMap<string, string> => {
  const lower = value.toLowerCase()
  const found = new Map<string, string>()
  const day = weekdayNames.find((name) => lower.includes(name))
  const date = new RegExp(
    `\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${monthNames.join("|")})\\b|\\b(${monthNames.join("|")}) (\\d{1,2})\\b`
  ).exec(lower)
  const clock = /\b(?:at |from |until )?(\d{1,2})(?:[:.](\d\d))? ?([ap]m)?$|\bat (\d{1,2})(?:[:.](\d\d))?/.exec(lower)
  if (day !== undefined) found.set("day", day)
  if (date !== null) found.set("date", [date[1] ?? date[4], date[2] ?? date[3]].join(" "))
  if (clock !== null && Number(clock[1] ?? clock[4]) <= 24)
    found.set("clock", `${clock[1] ?? clock[4]}:${clock[2] ?? clock[5] ?? "00"}${clock[3] ?? ""}`)
  return found
}

const isOtherTime = (one: string, other: string): boolean => {
  const [first, second] = [timesIn(one), timesIn(other)]
  return [...first].some(([kind, value]) => second.has(kind) && second.get(kind) !== value)
}

const isCountry = (() => {
  const names = new Intl.DisplayNames(["en"], { type: "region" })
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("")
  let known: ReadonlySet<string> | undefined
  return (value: string): boolean => {
    known ??= new Set(letters.flatMap((a) => letters.map((b) => names.of(`${a}${b}`)?.toLowerCase() ?? "")))
    return known.has(value.toLowerCase().replace(/ now$/, ""))
  }
})()

const isOther = (held: Held, known: Held): boolean => {
  if (held.attribute === "time") return isOtherTime(held.value, known.value)
  if (held.attribute === "home" && isCountry(held.value) !== isCountry(known.value)) return false
  const [one, other] = [wordsOf(held.value), wordsOf(known.value)]
  return one.size > 0 && other.size > 0 && !one.isSubsetOf(other) && !other.isSubsetOf(one)
}

/** "Wi-Fi password" is the "Wi-Fi password of the office" where it is said to have changed. */
const isSame = (one: string, other: string, saysChange: boolean): boolean =>
  one === other || (saysChange && (other.startsWith(`${one} of `) || other.startsWith(`${one} for `)))

const ended = new RegExp(
  `^${S} (?:no longer (?<verb>[\\p{L}]+)|(?:doesn't|does not|don't) (?<bare>[\\p{L}]+)|(?<be>is)(?:n't| not))(?: (?<rest>[^;:.!?]+?))?(?: any ?more)?$`,
  "iu"
)

/** "Bob no longer works at the shipyard": what it says that is over. */
const isEnded = (text: string, known: string): boolean => {
  const groups = ended.exec(text)?.groups
  if (groups === undefined || !(/no longer/i.test(text) || /any ?more$/i.test(text))) return false
  const subject = subjectOf(groups["subject"] ?? "")
  const verb = (groups["verb"] ?? groups["bare"] ?? groups["be"] ?? "").toLowerCase().replace(/e?s$/, "")
  const rest = wordsOf(groups["rest"] ?? "")
  const lower = known.toLowerCase().replace(/^the /, "")
  if (subject === undefined || rest.size === 0 || !lower.startsWith(`${subject} `)) return false
  const [next = "", ...others] = lower.slice(subject.length + 1).split(" ")
  return (
    next.replace(/e?s$/, "") === verb &&
    rest.isSubsetOf(wordsOf(others.join(" "))) &&
    !/\bno longer\b|n't\b|\bnot\b/.test(lower)
  )
}

const clausesOf = (text: string): ReadonlyArray<string> => text.split(/;\s+|(?<=[\p{L}\p{N}])\. (?=\p{Lu})/u)

/** True of what says nothing besides: its place can be taken. */
const isAlone = (text: string): boolean => clausesOf(text).length === 1 && !/,| and | but | because /.test(text)

/** Whether a fact takes the place of one that is known. Both without what they were asked. */
export const replaces = (fact: string, known: string): boolean => {
  const [later, earlier] = [statementIn(fact), statementIn(known)]
  if (!isAlone(earlier.text) || beside.test(later.text)) return false
  const before = heldBy(earlier)
  return clausesOf(later.text).some((clause) => {
    if (later.isReported === earlier.isReported && isEnded(clause, earlier.text)) return true
    const held = heldBy({ ...later, text: withoutOpening(clause) })
    if (held === undefined || before === undefined) return false
    if (held.needsChange === true && !later.saysChange) return false
    if (held.isOwn && later.isReported && !earlier.isReported) return false
    return (
      held.attribute === before.attribute &&
      isSame(held.subject, before.subject, later.saysChange) &&
      isOther(held, before)
    )
  })
}
