// Naming: which block a model means.
// Owns finding one by its label or id. Leaves what is done with it to the tools.
// N1  Its own block goes before one that was given; of several that were given under one label only an id names one.

import type { BlockView } from "@reverie/memory"

/** The block, or a sentence that tells how to name one. */
export const namedBlock = (blocks: ReadonlyArray<BlockView>, name: string): BlockView | string => {
  const byId = blocks.find(({ id }) => id === name)
  if (byId !== undefined) return byId
  const labelled = blocks.filter(({ label }) => label === name)
  const own = labelled.find(({ sharedFrom }) => sharedFrom === undefined)
  const [only, another] = labelled
  if (own !== undefined) return own
  if (only !== undefined && another === undefined) return only
  if (only !== undefined) {
    const ids = labelled.map(({ id, sharedFrom }) => `${id} (of ${sharedFrom ?? "you"})`).join(", ")
    return `Several blocks are called ${JSON.stringify(name)}; say which by its id: ${ids}.`
  }
  const labels = blocks.map(({ label }) => label).join(", ")
  return `There is no block ${JSON.stringify(name)}. ${labels === "" ? "There are no blocks." : `There are: ${labels}.`}`
}
