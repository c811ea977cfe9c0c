// Outcome: what a tool of blocks answers.
// Owns telling a refusal from a failure. Leaves the wording of refusals to the store of blocks.
// O1  What is refused changes nothing and is the answer, with `success: false`; a store that fails is a failed call.

import {
  type BlockChange,
  type BlockOperation,
  type BlockReading,
  BlockRefused,
  type BlockSetting,
  BlockUnknown,
  type BlockVersion,
  type BlockView,
  ConsentNeeded
} from "@reverie/memory"

// Naming: which block a model means.
// N1  Its own block goes before one that was given; of several that were given under one label only an id names one.

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

// BlockAccess: what a run is lent of the memory blocks.
// I1  Everything is done as the assistant whose run it is: no one else's rights, and no more consent than was given.

/** `key` is the run's: a change is made once under it. */
export interface BlockAccess {
  readonly list: () => Promise<ReadonlyArray<BlockView>>
  readonly read: (id: string, version?: number) => Promise<BlockReading>
  readonly versions: (id: string, limit: number) => Promise<ReadonlyArray<BlockVersion>>
  readonly change: (key: string, id: string, operation: BlockOperation) => Promise<BlockChange>
  readonly undo: (key: string, id: string) => Promise<BlockChange>
  readonly redo: (key: string, id: string) => Promise<BlockChange>
  readonly configure: (key: string, id: string, setting: BlockSetting) => Promise<BlockChange>
}

const nowhere = () => Promise.reject(new Error("there is no store of blocks here"))

/** Where no blocks are kept. */
export const noBlocks: BlockAccess = {
  list: () => Promise.resolve([]),
  read: nowhere,
  versions: nowhere,
  change: nowhere,
  undo: nowhere,
  redo: nowhere,
  configure: nowhere
}
