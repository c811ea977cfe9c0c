// Flushing: the oldest entries of a tail, made into a segment.
// Owns turning entries with their terms into terms with their entries. Leaves when to do it to words.ts.
// B1  It is a bounded piece of work, however long the assistant has lived.

import { type Doc, eachTerm } from "./doc-terms.ts"
import { type DocColumns, SegmentWriter } from "./segment-writer.ts"
import type { Segments } from "./segments.ts"

const columnsOf = (docs: ReadonlyArray<Doc>): DocColumns => ({
  docs: Float64Array.from(docs, ({ doc }) => doc),
  rows: Uint32Array.from(docs, ({ row }) => row),
  kinds: Uint8Array.from(docs, ({ kind }) => kind),
  ats: Float64Array.from(docs, ({ at }) => at),
  trusts: Float64Array.from(docs, ({ trust }) => trust)
})

interface Posting {
  readonly byClass: Array<Array<number>>
  count: number
}

const postingsOf = (docs: ReadonlyArray<Doc>): ReadonlyMap<number, Posting> => {
  const postings = new Map<number, Posting>()
  for (const [number, { terms }] of docs.entries()) {
    eachTerm(terms, (key, weightClass) => {
      const known = postings.get(key)
      const { byClass } = known ?? { byClass: [] }
      const same = byClass[weightClass]
      if (same === undefined) byClass[weightClass] = [number]
      else same.push(number)
      if (known === undefined) postings.set(key, { byClass, count: 1 })
      else known.count++
    })
  }
  return postings
}

/** Makes a segment of entries, which are in the order in which they were told. */
export const flush = (segments: Segments, grp: number, docs: ReadonlyArray<Doc>): void => {
  const { key: segment, write } = segments.begun()
  const writer = new SegmentWriter(write)
  const postings = postingsOf(docs)
  for (const key of Float64Array.from(postings.keys()).toSorted()) {
    const { byClass, count } = postings.get(key) ?? { byClass: [], count: 0 }
    writer.add(key, count, byClass, docs.length)
  }
  const columns = columnsOf(docs)
  segments.file(segment, { grp, level: 0, dead: 0 }, writer.head(columns), columns)
}
