// Capability: which members fit a question by what they are for.
// Owns comparing words. Leaves who of several fitting ones is asked to the selector.

import { type Candidate, leastLoaded } from "./team.ts"

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (
      text
        .normalize("NFC")
        .toLowerCase()
        .match(/[\p{L}\p{N}]{3,}/gu) ?? []
    ).map((word) => word.replace(/(?:es|s)$/, ""))
  )

/** How many words of a question belong to what a member is for. */
const fitOf = (question: string, { capabilities = [], domain = "" }: Candidate): number =>
  wordsOf(question).intersection(wordsOf([domain, ...capabilities].join(" "))).size

/** The one that fits best, the least loaded of equals; the least loaded of all where none fits. */
export const fittest = (question: string, candidates: ReadonlyArray<Candidate>): Candidate | undefined => {
  const most = Math.max(0, ...candidates.map((each) => fitOf(question, each)))
  return leastLoaded(candidates.filter((each) => fitOf(question, each) === most))
}
