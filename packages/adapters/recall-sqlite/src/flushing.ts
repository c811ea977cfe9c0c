// Flushing: the oldest entries of a tail, made into a segment.
// Owns turning entries with their terms into terms with their entries. Leaves when to do it to words.ts.
// F1  It is a bounded piece of work, however long the assistant has lived.

import { type Doc, eachTerm } from "./doc-terms.ts"
import { ByteWriter, writeRun } from "./posting-list.ts"
import { type DocColumns, SegmentWriter } from "./segment-writer.ts"
import type { Segments } from "./segments.ts"
import { CLASSES } from "./weight-class.ts"

const columnsOf = (docs: ReadonlyArray<Doc>): DocColumns => ({
  docs: Float64Array.from(docs, ({ doc }) => doc),
  rows: Uint32Array.from(docs, ({ row }) => row),
  kinds: Uint8Array.from(docs, ({ kind }) => kind),
  ats: Float64Array.from(docs, ({ at }) => at),
  trusts: Float64Array.from(docs, ({ trust }) => trust)
})

/** For each term the entries that have it, the weightiest first, those of a class in their order: class, then number. */
const postingsOf = (docs: ReadonlyArray<Doc>): ReadonlyMap<number, Array<number>> => {
  const postings = new Map<number, Array<number>>()
  for (const [number, { terms }] of docs.entries()) {
    eachTerm(terms, (key, weightClass) => {
      const posting = (CLASSES - 1 - weightClass) * docs.length + number
      const known = postings.get(key)
      if (known === undefined) postings.set(key, [posting])
      else known.push(posting)
    })
  }
  return postings
}

const writeRuns = (to: ByteWriter, postings: Array<number>, docs: number): void => {
  postings.sort((a, b) => a - b)
  for (let from = 0; from < postings.length;) {
    const rank = Math.floor((postings[from] ?? 0) / docs)
    let until = from
    while (until < postings.length && Math.floor((postings[until] ?? 0) / docs) === rank) until++
    const numbers = postings.slice(from, until).map((posting) => posting - rank * docs)
    writeRun(to, CLASSES - 1 - rank, numbers)
    from = until
  }
}

/** Makes a segment of entries, which are in the order in which they were told. */
export const flush = (segments: Segments, grp: number, docs: ReadonlyArray<Doc>): void => {
  const { key: segment, write } = segments.begun()
  const writer = new SegmentWriter(write)
  const postings = postingsOf(docs)
  const list = new ByteWriter()
  for (const key of Float64Array.from(postings.keys()).sort()) {
    const own = postings.get(key) ?? []
    list.clear()
    writeRuns(list, own, docs.length)
    writer.add(key, own.length, list)
  }
  const columns = columnsOf(docs)
  segments.file(segment, { grp, level: 0, dead: 0 }, writer.head(columns), columns)
}
