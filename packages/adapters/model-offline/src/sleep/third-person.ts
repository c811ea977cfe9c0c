// ThirdPerson: what somebody said about himself, said about him.
// Owns the change of pronouns and verbs. Leaves dates to `dates.ts`, and what is worth it to `statements.ts`.
// P1  What stands in quotation marks is kept as it is.
// P2  Only pronouns of the first and second person are replaced: whom "she" or "it" means is not guessed at.

import { isAdverb, thirdPerson } from "./grammar.ts"

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

export interface Told {
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
export const inThirdPerson = (sentence: string, { listener, speaker }: Told): string =>
  outsideQuotes(sentence.replaceAll("’", "'"), (part) => {
    const ofSpeaker = part.replace(subject, (_, short: string | undefined, words: string) =>
      short === undefined ? `${speaker}${conjugated(words)}` : `${speaker} ${shortForms[short]}${words}`
    )
    const told = replacePronouns(ofSpeaker, speaker, first)
    return listener === undefined ? told : replacePronouns(told, listener, second)
  })
