// Mutant: one way to break a row, in a copy of the tree.
// Owns what a mutant is, and whether it can be made. Leaves the list to the files beside it, making and judging to mutate.ts.
// M1  A mutant changes one place of the source: what is sought stands in the file exactly once. None stands twice in the lists.

import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface Mutant {
  /** The row that it breaks. */
  readonly row: string
  /** From the root of the tree. */
  readonly file: string
  readonly find: string
  /** What stands there instead. */
  readonly put: string
  /** Where a test is that has to die, when no title cites the row; a part of a path. */
  readonly tests?: ReadonlyArray<string>
}

/** Why a mutant can not be made; undefined when it can. */
export const flawOf = ({ file, find, put, row }: Mutant, root: string): string | undefined => {
  let source: string
  try {
    source = readFileSync(join(root, file), "utf8")
  } catch {
    return `${row}: there is no file ${file}`
  }
  const times = source.split(find).length - 1
  if (find === "" || times !== 1) return `${row}: what is sought stands ${times} times in ${file}: ${find.slice(0, 80)}`
  return find === put ? `${row}: nothing would be changed in ${file}` : undefined
}

export const mutated = ({ find, put }: Mutant, source: string): string => source.replace(find, () => put)
