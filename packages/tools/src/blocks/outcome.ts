// Outcome: what a tool of blocks answers.
// Owns telling a refusal from a failure. Leaves the wording of refusals to the store of blocks.
// O1  What is refused changes nothing and is the answer, with `success: false`; a store that fails is a failed call.

import { BlockRefused, BlockUnknown, type BlockView, ConsentNeeded } from "@reverie/memory"
import { namedBlock } from "./naming.ts"
import type { BlockAccess } from "./block-access.ts"

export interface Refused {
  readonly success: false
  readonly error: string
}

const refused = (error: string): Refused => ({ success: false, error })

const sentenceOf = (thrown: unknown): string | undefined => {
  if (thrown instanceof ConsentNeeded) return `${thrown.message}; call it again, and it will be asked for`
  return thrown instanceof BlockRefused || thrown instanceof BlockUnknown ? thrown.message : undefined
}

/** Does something with the block that a model named. */
export const withBlock = async <A extends object>(
  blocks: BlockAccess,
  name: string | undefined,
  work: (block: BlockView) => Promise<A> | string
): Promise<({ readonly success: true } & A) | Refused> => {
  if (name === undefined) return refused("Say which block.")
  const block = namedBlock(await blocks.list(), name)
  if (typeof block === "string") return refused(block)
  const begun = work(block)
  if (typeof begun === "string") return refused(begun)
  try {
    return { success: true, ...(await begun) }
  } catch (thrown) {
    const sentence = sentenceOf(thrown)
    if (sentence === undefined) throw thrown
    return refused(sentence)
  }
}
