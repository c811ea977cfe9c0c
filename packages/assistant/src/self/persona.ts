// Persona: keeps what the assistant remembers about the world free of itself (F77, F78, A26).
// Owns the judgement on one text and the words of the rejection. Leaves what is done with it to whoever stores the text.
// I1  Judged are whole words, in any case, outside quotation marks: what somebody else said of themselves is a fact.
// I2  A numeral is no pronoun: "Henry I", "World War I", "I/O", "(i)".
// I3  In doubt it rejects: a rejected fact is put differently, an accepted confession stays for good.

import type { Refusal } from "./kept.ts"

export interface PersonaRejection extends Refusal {
  readonly suggestion: string
}

const rejection: PersonaRejection = {
  success: false,
  error: "Content appears to reference assistant actions or identity",
  suggestion:
    "Session memory should contain facts about the WORLD, PLAYERS, or EVENTS - not what you did. Rephrase in third-person."
}

const START = "(?<![\\p{L}\\p{N}_])"
const END = "(?![\\p{L}\\p{N}_])"
const words = (source: string): RegExp => new RegExp(`${START}(?:${source})${END}`, "iu")
const setOf = (list: string): ReadonlySet<string> => new Set(list.split(" "))

/** "us" and "mine" are left out: a country and a pit are written the same. */
const firstPerson = words("my|myself|me|we|our|ours|ourselves")

/** Other people are assistants too: the assistant manager is not meant. */
const offices = "manager|director|professor|coach|chef|cook|engineer|editor|librarian|keeper|teacher|pilot|captain"
const secondNature = words(
  `(?:the|this)\\s+(?:ai\\s+)?assistant(?!\\s+(?:${offices}|harbou?r\\s?master)${END})|as\\s+an?\\s+(?:ai|assistant|language\\s+model)`
)

const pronounI = new RegExp(`${START}I${END}`, "giu")

const determiners = setOf("the a an this that these those each every any some no his her its their your")
/** What is numbered with Roman numerals. After a determiner it is a place to be, not a number: "at the gate I met". */
const numbered = setOf(
  "chapter part act scene volume book war phase type level stage class section grade mark tier article appendix table " +
    "figure unit zone pier berth dock gate quay block wing series category schedule step index variable option paragraph"
)
const regnal = setOf(
  "henry charles james george elizabeth mary edward richard william louis francis philip frederick catherine peter " +
    "nicholas alexander pius leo napoleon john paul justinian constantine theodosius basil otto selim murad"
)
const titles = setOf("king queen emperor empress tsar tsarina pope sultan prince princess duke duchess khan patriarch")
/** Words that come before a speaking I, never before a numeral. */
const connectives = setOf(
  "and or but nor than as if so then because that which what when where while how why who since until although though " +
    "am was were is are do did does should would can could have had has will may might must said says say"
)

/** True when the I between these two texts numbers something, or is part of a longer sign. */
const isNumeral = (before: string, after: string): boolean => {
  if (/^[-/][\p{L}\p{N}]/u.test(after) || /[\p{L}\p{N}][-/]$/u.test(before)) return true
  if (/^\.\p{L}(?!\p{L})/u.test(after) || /(?<!\p{L})\p{L}\.$/u.test(before)) return true
  if (before.endsWith("(") && after.startsWith(")")) return true
  if (/(?:^|\n)\s*$/.test(before) && /^[.)]\s/.test(after)) return true
  const around = /(?:[\p{L}\p{N}]+\s+){1,3}$/u.exec(before)?.[0].trim().toLowerCase().split(/\s+/) ?? []
  const [first = "", second = "", third = ""] = around.toReversed()
  if (first === "" || connectives.has(first)) return false
  if (regnal.has(first)) return true
  if (numbered.has(first)) return !determiners.has(second)
  if (titles.has(second)) return !determiners.has(third)
  return /^\s+of\s/i.test(after)
}

/** As far back as a numeral can be recognised, in UTF-16 units. */
const LOOK_BACK_CHARS = 80

const speaksOfI = (text: string): boolean => {
  for (const { index } of text.matchAll(pronounI)) {
    if (!isNumeral(text.slice(Math.max(0, index - LOOK_BACK_CHARS), index), text.slice(index + 1))) return true
  }
  return false
}

const quotes =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<![\p{L}\p{N}_])['‘](?=\S)(?:[^'’\n]|['’](?=[\p{L}\p{N}]))*['’](?![\p{L}\p{N}_])/gu

/**
 * As it is judged: one form of each letter, nothing quoted. What is invisible may stand between words or inside one, so
 * both readings are judged.
 */
const readings = (content: string): ReadonlyArray<string> =>
  ["", " "].map((gap) =>
    content
      .normalize("NFKC")
      .replace(/\p{Cf}/gu, gap)
      .replace(quotes, '""')
  )

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** A name that is a plain word means the thing when a determiner stands before it: "the desk" is no assistant. */
const isNamed = (text: string, name: string): boolean => {
  const plain = /^[\p{L}\p{N}]+$/u.test(name)
  const notTheThing = plain ? `(?<!${START}(?:${[...determiners].join("|")})\\s+)` : ""
  return (
    name !== "" &&
    new RegExp(`${notTheThing}(?<![\\p{L}\\p{N}_-])${escaped(name)}(?![\\p{L}\\p{N}_-])`, "iu").test(text)
  )
}

const speaksOfSelf = (text: string, names: ReadonlyArray<string>): boolean =>
  firstPerson.test(text) ||
  secondNature.test(text) ||
  speaksOfI(text) ||
  names.some((name) => isNamed(text, name.trim()))

/** Why the text may not be remembered, or undefined. `names` are what the assistant itself is called. */
export const personaRejection = (content: string, names: ReadonlyArray<string> = []): PersonaRejection | undefined =>
  readings(content).some((text) => speaksOfSelf(text, names)) ? rejection : undefined
