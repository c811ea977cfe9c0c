// Chatter: what the offline model says when it has nothing to say.
// Owns these sentences and recognising them again, so that nobody learns from them.

export const SELF =
  "I am the offline model of Reverie: a small set of rules, not a language model. " +
  "I can call the tools I am offered and quote what stands in my context."

export const AT_A_LOSS =
  "I do not know: nothing in my context answers that, and no tool I am offered fits. I am not a language model."

export const NOTED = "Noted."
export const DONE = "That is done."
export const NOTHING_LEFT = "Nothing is left to save."

const phrases: ReadonlySet<string> = new Set([SELF, AT_A_LOSS, NOTED, DONE, NOTHING_LEFT])
/** An answer made of quotes repeats what stands elsewhere. */
const quotes = /^(?:.{1,128} (?:said|reported)|My instructions say): "/

export const isChatter = (text: string): boolean => phrases.has(text.trim()) || quotes.test(text)
