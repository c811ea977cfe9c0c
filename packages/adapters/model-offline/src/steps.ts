// Steps: the answer to a request for the steps of a goal.
// Owns recognising such a request and dividing the goal. Leaves when to answer to `offline-model.ts`.
// L1  The steps are made of the goal's own words: prepare it, do it, check it. Nothing is invented, for nothing is known.

/** A list is wanted, and nothing but a list. */
export const asksForList = (text: string): boolean => /\banswer with a JSON array\b/i.test(text)

/** The goal whose steps are asked for as a JSON array; undefined when the text asks for something else. */
const goalIn = (text: string): string | undefined =>
  /\bsteps?\b/i.test(text) && /\bJSON array\b/i.test(text) ? /^Goal: *(\S.*)$/im.exec(text)?.[1]?.trim() : undefined

/** A goal's words without the stop at their end, to be gone on with. */
const phrase = (goal: string): string => goal.replace(/[\s.!?…]+$/u, "")

export const stepsFor = (text: string): string | undefined => {
  const goal = goalIn(text)
  if (goal === undefined) return undefined
  return JSON.stringify([`Prepare: ${phrase(goal)}`, `Do: ${phrase(goal)}`, `Check: ${phrase(goal)}`])
}
