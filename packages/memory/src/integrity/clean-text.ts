// CleanText: a text without what no one can see.
// Owns which invisible characters carry meaning and which only hide something. Leaves words to instruction.ts.
// What stays: a joiner inside an emoji, after the virama of an Indic script or between two letters of a script that
// joins them, the selector that makes an emoji of a sign, the three flags that are spelt with tags, Mongolian selectors.
// What goes by the same measure: ideographic variants and the styles of a sign, which look alike to anyone who reads.
// C1  The result holds no control, bidirectional or default-ignorable character but those; line feed and tab stay.
// C2  Idempotent, well-formed, in NFC.
// C3  A visible character is never lost; every way to end a line becomes a line feed.

/** What may be invisible or break a line; a text without any of it is done when it is normalised. */
const suspicious = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff]/u

/** Noncharacters of the other planes are left out: no font and no tokeniser makes anything of them. */
const invisible = /^[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff]$/u

/** England, Scotland and Wales: a black flag spelt with tags. Any other spelling could say anything. */
const taggedFlags = ["gbeng", "gbsct", "gbwls"].map((region) =>
  [...region, "\u{7f}"].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join("")
)
const BLACK_FLAG = "\u{1f3f4}"

const ZWNJ = "\u200c"
const ZWJ = "\u200d"
const TEXT_STYLE = "\ufe0e"
const EMOJI_STYLE = "\ufe0f"
const KEYCAP = "\u20e3"

const mark = /^\p{M}$/u
const pictograph = /^\p{Extended_Pictographic}$/u
const skinTone = /^[\u{1f3fb}-\u{1f3ff}]$/u
const keycapBase = /^[0-9#*]$/
/** U+0DDA and U+0DDD are composed of a vowel sign and the virama. */
const virama =
  /^[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0dda\u0ddd\u1039\u103a\u17d2]$/
const joining = ["Arabic", "Syriac", "Nko", "Mandaic", "Mongolian"]
const indic = "Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Myanmar Khmer".split(
  " "
)
const joined = new RegExp(`^(?=\\p{L})[${[...joining, ...indic].map((name) => `\\p{Script=${name}}`).join("")}]$`, "u")
const mongolian = /^(?=\p{L})\p{Script=Mongolian}$/u
const mongolianSelector = /^[\u180b-\u180f]$/

/** What has been kept so far, as far as the next character depends on it. */
interface Context {
  /** The last character that is no mark. */
  base: string
  /** Marks may stand in any order behind their base: that one of them was a virama is all that counts. */
  hasVirama: boolean
  /** The last character. */
  last: string
}

const joins = ({ base, hasVirama, last }: Context, char: string, next: string): boolean => {
  if (hasVirama && joined.test(base)) return true
  if (joined.test(base) && joined.test(next)) return true
  const styled = last === EMOJI_STYLE || last === TEXT_STYLE ? base : last
  return char === ZWJ && (pictograph.test(styled) || skinTone.test(styled)) && pictograph.test(next)
}

const stays = (context: Context, char: string, next: string): boolean => {
  if (char === ZWJ || char === ZWNJ) return joins(context, char, next)
  if (char === TEXT_STYLE) return pictograph.test(context.last)
  if (char === EMOJI_STYLE) {
    return pictograph.test(context.last) || (keycapBase.test(context.last) && next === KEYCAP)
  }
  return mongolianSelector.test(char) && mongolian.test(context.last)
}

const HIDDEN = 1
const MARK = 2
const VIRAMA = 4
const KNOWN = 8

/** By code point, filled as characters are met: a pattern costs many times as much. */
const kinds = new Uint8Array(0x11_00_00)

const kindOf = (code: number, char: string): number => {
  const known = kinds[code] ?? 0
  if (known !== 0) return known
  const isHidden = char !== "\n" && char !== "\t" && invisible.test(char)
  const kind = KNOWN | (isHidden ? HIDDEN : 0) | (mark.test(char) ? MARK : 0) | (virama.test(char) ? VIRAMA : 0)
  kinds[code] = kind
  return kind
}

const charAt = (text: string, at: number): string => {
  const code = text.codePointAt(at)
  return code === undefined ? "" : String.fromCodePoint(code)
}

const withoutInvisible = (text: string): string => {
  const context: Context = { base: "", hasVirama: false, last: "" }
  let clean = ""
  /** Up to here the text was kept or left out. */
  let from = 0
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) ?? 0
    const char = String.fromCodePoint(code)
    const next = at + char.length
    const kind = kindOf(code, char)
    if ((kind & HIDDEN) !== 0 && !stays(context, char, charAt(text, next))) {
      clean += text.slice(from, at)
      from = next
      at = next
      continue
    }
    // A style is a mark by its class; nothing is composed with it.
    const isMark = (kind & MARK) !== 0
    if (!isMark) context.base = char
    context.hasVirama = (isMark && context.hasVirama) || (kind & VIRAMA) !== 0
    context.last = char
    at = char === BLACK_FLAG ? next + (taggedFlags.find((tags) => text.startsWith(tags, next)) ?? "").length : next
  }
  return clean + text.slice(from)
}

const normalised = (text: string): string => text.toWellFormed().normalize("NFC")

const lined = (normal: string): string => normal.replace(/\r\n?|[\u0085\u2028\u2029\v\f]/g, "\n")

/** The text as it is read: nothing in it is hidden. */
export const cleanText = (text: string): string => {
  const normal = normalised(text)
  if (!suspicious.test(normal)) return normal
  return withoutInvisible(lined(normal)).normalize("NFC")
}

/** True when a text holds a character that cleaning would take out because no one sees it. */
export const holdsInvisible = (text: string): boolean => {
  const normal = normalised(text)
  if (!suspicious.test(normal)) return false
  const whole = lined(normal)
  return withoutInvisible(whole) !== whole
}

/** The text as it is read, on one line. */
export const cleanLine = (text: string): string => cleanText(text).replace(/\s+/gu, " ").trim()

// Statement: what a text must be to be kept as a fact, whichever model proposes it.
// S1  It states something: it asks nothing, and that a picture was shown is no news.
// S2  It can be understood alone: no pronoun of the first or second person, and before one of the third a word that it may
//     stand for. "It is known that" points at nothing.
// S3  What stands in quotation marks is another one's words and is not judged.

const quoted = /"[^"]*"|\u201c[^\u201d]*\u201d/g

const shownPicture =
  /^(?:\S+ ){1,4}(?:shared|sent|posted|showed)(?: \S+)? (?:an?|the|some|this|that|these|those|another|two|three|his|her|their|its|\S+['\u2019]s) (?:\S+ )?(?:photo(?:graph|graphy)?|picture|pic|image|screenshot|selfie)s?\b/i

const pronoun =
  /^(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|himself|herself|itself|themselves|'em)(?:'(?:s|re|ve|ll|d))?$/
/** A verb behind it makes a pronoun of it. */
const pointer = /^(?:this|that|these|those)$/
const verb = /^(?:is|was|are|were|has|have|had|will|would|can|could|made|makes|means|helps?|really|also)$/
const ownPerson = /^(?:i|me|my|mine|myself|we|us|our|ours|ourselves|you|your|yours|yourself)(?:'(?:s|m|re|ve|ll|d))?$/
const grammar =
  /^(?:an?|the|and|but|or|so|if|as|then|because|since|while|when|to|of|in|on|at|by|for|from|with|after|before|during|about|last|next|not|also|still|now|just|really|actually|apparently|sometimes|often|always|never|recently|lately|today|yesterday|tomorrow|both|all|\d+|is|was|are|were|has|had|said|says|january|february|march|april|may|june|july|august|september|october|november|december|\w+day)$/
/** "It is hard to find", "it takes two days to reach Rome", "it is known that": nothing is pointed at. */
const expletive =
  /\b[Ii]t(?:'s| (?:is|was|will be|has been|would be|can be|may be|takes|took|costs?|seems|turned out))\b.*\b(?:to [a-z]|that |whether |until |since |from |raining|snowing|o'clock|degrees|time\b)/

/** Why a text is no statement that could stand alone; undefined when it is one. */
export const flawOfStatement = (
  text: string
): "a question" | "a picture" | "a pronoun without its noun" | undefined => {
  const plain = text.replaceAll("\u2019", "'").replace(quoted, " x ")
  if (plain.includes("?") || /^asked x:/i.test(plain.replace(/\s+/g, " ").replace(" :", ":"))) return "a question"
  if (shownPicture.test(plain)) return "a picture"
  const words = plain.match(/'?[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? []
  let hasNoun = expletive.test(plain)
  for (const [place, written] of words.entries()) {
    const word = written.toLowerCase()
    // A king, a war, a country.
    const isName = /^(?:I|US)$/.test(written) && /^\p{Lu}/u.test(words[place - 1] ?? "")
    if (ownPerson.test(word) && written !== "US" && !isName) return "a pronoun without its noun"
    const isPointing = pointer.test(word) && verb.test((words[place + 1] ?? "").toLowerCase()) && place === 0
    if (!hasNoun && (pronoun.test(word) || isPointing)) return "a pronoun without its noun"
    hasNoun ||= !grammar.test(word) && !pointer.test(word)
  }
  return undefined
}
