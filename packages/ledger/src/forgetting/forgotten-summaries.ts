// ForgottenSummaries: compactions that are made of what is forgotten.
// Owns which they are, their drafts and extractions among them, and what is left of them. Leaves what is forgotten to forgotten-ticks.ts.
// S1  A summary that covers something of it is forgotten whole, and so is each that is made of that one, also as the beginning of a later
//     compaction.
// S2  So is the draft of one, whether it was carried out in the end or not, and what its extraction said and wrote down.

import { FORGOTTEN, isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import { changed, hushedMessage, listOf, textOf } from "./hushing.ts"

type Fields = { readonly [key: string]: Json }

const numberAt = (value: Json | undefined, name: string): number => {
  const found = isJsonObject(value) ? value[name] : undefined
  return typeof found === "number" ? found : Number.NaN
}

/** Where the range of a compaction begins. */
const beginOf = ({ range }: Fields): number => (isJsonObject(range) ? numberAt(range["from"], "no") : 0)

interface Told {
  readonly no: number
  readonly step?: { readonly name: string } | undefined
  readonly records?: ReadonlyArray<RecordChange>
}

/** Under these keys of the kind `state`, and so an extraction is called. */
const START = "history-start"
const EXTRACTION = "compact extracting"

const summaryless = (value: Json): Json =>
  changed(value, {
    summary: () => FORGOTTEN,
    marker: hushedMessage,
    account: (account) =>
      changed(account, { results: () => [], newest: () => [], unfinished: () => [], parts: () => [] })
  })

/** What of the compactions of a life is made of what is forgotten. */
export class ForgottenSummaries {
  /** Their ids, the oldest first. */
  readonly compactions: ReadonlySet<string>
  /** Numbers of the entries in which an extraction has written down what it saw of it. */
  readonly extractions: ReadonlySet<number>
  readonly #entries: ReadonlySet<number>

  /** `entries`: those that are forgotten, by their numbers. */
  constructor(entries: ReadonlySet<number>, told: ReadonlyArray<Told>, all: ReadonlyArray<RecordChange>) {
    this.#entries = entries
    this.compactions = this.#made(all)
    this.extractions = this.#extracted(told)
  }

  /** Each summary is made of the one before it. */
  #made(all: ReadonlyArray<RecordChange>): ReadonlySet<string> {
    const made = new Set<string>()
    const compactions = new Map(
      all.flatMap(({ key, kind, value }) => (kind === "compaction" && isJsonObject(value) ? [[key, value]] : []))
    )
    for (const [key, { range }] of [...compactions].toSorted(([, a], [, b]) => beginOf(a) - beginOf(b)))
      if (made.size > 0 || (isJsonObject(range) && this.#lieWithin(range))) made.add(key)
    return made
  }

  /** An extraction sees all that is shown: from where the history begins, and the summary before that. */
  #extracted(told: ReadonlyArray<Told>): ReadonlySet<number> {
    const extracted = new Set<number>()
    let [from, before] = [0, ""]
    for (const { no, records = [], step } of told) {
      const isOfIt = this.compactions.has(before) || [...this.#entries].some((each) => each >= from && each <= no)
      if (step?.name === EXTRACTION && isOfIt) extracted.add(no)
      for (const { key, kind, value } of records) {
        if (kind !== "state" || key !== START) continue
        from = isJsonObject(value) ? numberAt(value["from"], "no") : 0
        before = isJsonObject(value) ? textOf(value["compaction"]) : ""
      }
    }
    return extracted
  }

  #lieWithin(range: Fields): boolean {
    const [from, to] = [numberAt(range["from"], "no"), numberAt(range["to"], "no")]
    return [...this.#entries].some((no) => no >= from && no <= to)
  }

  #isDraftOf(draft: Json): boolean {
    return isJsonObject(draft) && (this.compactions.size > 0 || this.#lieWithin(draft))
  }

  #isOf(start: Json): boolean {
    return isJsonObject(start) && this.compactions.has(textOf(start["compaction"]))
  }

  /** A record without what is forgotten. */
  without({ key, kind, value }: RecordChange): Json {
    if (kind === "compaction") {
      const left = changed(value, {
        before: (before) => changed(before, { start: (start) => (this.#isOf(start) ? summaryless(start) : start) })
      })
      return this.compactions.has(key) ? summaryless(left) : left
    }
    if (this.#isOf(value)) return summaryless(value)
    if (kind !== "state" || !isJsonObject(value)) return value
    // An earlier form of a draft stands by itself.
    if (value["keep"] !== undefined && this.#isDraftOf(value)) return summaryless(value)
    const isSeen = this.extractions.size > 0
    return changed(value, {
      draft: (draft) => (this.#isDraftOf(draft) ? summaryless(draft) : draft),
      rounds: (rounds) => (isSeen ? listOf(rounds).map(hushedMessage) : rounds)
    })
  }
}
