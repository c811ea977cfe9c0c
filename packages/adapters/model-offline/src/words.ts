// Words: what a text is about, as far as rules can tell.
// Owns stems, sentences and shortening. Leaves what they are compared for to `calls.ts` and `offline-model.ts`.

// Words of grammar, which say nothing of what a text is about.
const dull = new Set(
  (
    "a an and any are as at be been but by can could did do does for from had has have he her hi him his how i if in is " +
    "it its just let me my no not of on or our out please she so some that the their them then there they this to up " +
    "us was we were what when where which who whom whose why will with would yes you your"
  ).split(" ")
)
const endings = /(?:ies|ing|ed|es|s|y|e)$/

/** A word without its commonest English ending: enough to find `berths` in `berth`, nothing more. */
export const stemOf = (word: string): string => {
  const lower = word.toLowerCase()
  const stem = lower.replace(endings, (ending) => (ending === "ies" || ending === "y" ? "i" : ""))
  return stem.length < 3 ? lower : stem
}

/** The stems of a text, of a name in any notation too, without words of grammar. */
export const stemsOf = (text: string): ReadonlySet<string> => {
  const words = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? []
  return new Set(words.filter((word) => !dull.has(word.toLowerCase())).map(stemOf))
}

/** A title before a name ends no sentence. */
const end = /(?<=[.!?。！？])(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.)\s+|\n+/u

export const sentencesOf = (text: string): ReadonlyArray<string> =>
  text.split(end).filter((sentence) => sentence.trim() !== "")

/** The text in one line of at most 300 characters, or a little more where one ends in halves. */
export const inShort = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}…`
}
