// IndexPosition: how far an index has come in the ledger of an assistant.
// Owns its shape. Leaves making the digest of an entry to the runtime, which reads the ledger.
// P1  Two positions are the same only when number and digest are: in another life of the same assistant, as it stands in
//     a store that was restored, the same number is another entry.

export interface IndexPosition {
  /** The number of the last ledger entry that was indexed; 0 when none was. */
  readonly no: number
  /** Of that entry as it was committed; empty when none was indexed. */
  readonly digest: string
}

/** Where an index stands that knows nothing. */
export const INDEX_START: IndexPosition = { no: 0, digest: "" }

export const samePosition = (a: IndexPosition, b: IndexPosition): boolean => a.no === b.no && a.digest === b.digest

/** The part of a ledger that changes were made from. `to` is where an index stands that has applied them. */
export interface IndexSpan {
  readonly from: IndexPosition
  readonly to: IndexPosition
}
