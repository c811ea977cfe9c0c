// Erasing: an assistant leaves the index, with all that is its own.
// Owns the order of it, a piece at a time. Leaves that nothing can be read afterwards to secureDelete.ts.
// E1  From the first piece on nothing of it is found and its position is the start; what is reported from then on is a life of
//     its own. What was broken off is gone on with the next time that anybody is erased.
// E2  Its words leave the groups it shared them with, too.
// E3  A piece is small: others have their turn in between.

import type { Readers } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import { type Entries, type Groups, readEntry } from "./entries.ts"
import type { Words } from "../words/words.ts"
import type { Owner } from "./row.ts"

const ENTRIES_A_PIECE = 128
const WORK_A_PIECE = 32_768

export interface Erasable {
  readonly entries: Entries
  readonly groups: Groups
  readonly words: Words
}

/** The groups with which an owner has shared something. */
type Shared = Set<number>

const share = ({ groups }: Erasable, owner: Owner, readers: Readers, shared: Shared): void => {
  for (const group of groups.readers(owner.address, readers)) shared.add(group)
}

/** A piece of the erasing of an owner; false when nothing of it is left but its row. */
const pieceOf = (from: Erasable, owner: Owner, shared: Shared): boolean => {
  const { entries, words } = from
  const rows = entries.someOf(owner, ENTRIES_A_PIECE)
  for (const row of rows) {
    share(from, owner, readEntry(row.entry).readers, shared)
    entries.remove(owner, row)
  }
  return rows.length > 0 || words.housekeeping.dropSome(owner.key)
}

/** From now on nothing of an assistant is found. */
export const beginErasing = ({ groups }: Erasable, address: Address): void => {
  const own = groups.own(address)
  if (own !== undefined) groups.retire(own.key)
}

/** Does a piece of what is to be erased; false when there is no more. `shared` is carried from one piece to the next. */
export const eraseSome = (from: Erasable, shared: Shared): boolean => {
  const { groups, words } = from
  const [owner] = groups.gone()
  if (owner !== undefined) {
    if (!pieceOf(from, owner, shared)) groups.remove(owner.key)
    return true
  }
  const [group] = shared
  if (group === undefined) return false
  if (!words.housekeeping.purgeSome(group, WORK_A_PIECE)) shared.delete(group)
  return true
}
