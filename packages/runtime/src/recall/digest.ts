// Digest: what tells an entry of the ledger from the entry of the same number in another life of its assistant.
// Owns making it, and the position of an index that has come to an entry. Leaves keeping it to the index.
// D1  It is of all that was committed: number, epoch, time and content. A store that was restored to an earlier state
//     goes on under the same numbers, never with the same entries.
// D2  The order of the members of an object counts for nothing: a life that was moved keeps its digests.

import { createHash } from "node:crypto"
import type { IndexPosition } from "@reverie/memory"
import { canonical } from "@reverie/ledger"
import type { Entry } from "@reverie/protocol"

/** 128 bits, 6 in a letter. */
const DIGEST_LETTERS = 22

export const positionOf = (entry: Entry): IndexPosition => ({
  no: entry.no,
  digest: createHash("sha256").update(canonical(entry)).digest("base64url").slice(0, DIGEST_LETTERS)
})
