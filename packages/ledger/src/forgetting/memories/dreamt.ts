// Dreamt: what a dream wrote of its own accord while it read, and what it called for that.
// Owns of what it was written, and what is left of its calls. Leaves whether it goes to sources-left.ts.
// D1  What a dream writes names all that it had before it. What was written before it did so is of the batch that the ledger tells of
//     its step, as far as it does.
// D2  Of what was called and returned over a batch of which anything is forgotten no word is left.

import { FORGOTTEN, isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import { changed, hushedMessage, listOf, textOf, textsOf } from "../hushing.ts"

/** Under this key of the kind `state` stands what was called over a batch. */
const LOOP_KEY = "consolidation"

/** The step of a dream that reads. */
const STEP = "dream consolidating"

export interface Told {
  readonly no: number
  readonly tick: number
  readonly messages: ReadonlyArray<object>
  readonly records?: ReadonlyArray<RecordChange>
}

const isLoop = ({ key, kind }: Pick<RecordChange, "key" | "kind">): boolean => kind === "state" && key === LOOP_KEY

/** Of an item that was read in parts each part is named. */
const batchOf = (loop: Json): ReadonlyArray<string> => {
  const ids = isJsonObject(loop) ? textOf(loop["of"]).split(" ") : []
  return ids.flatMap((id) => id.split("#")[0] || [])
}

const isOfDream = (entry: object): boolean => {
  const step: unknown = Reflect.get(entry, "step")
  return typeof step === "object" && step !== null && Reflect.get(step, "name") === STEP
}

/** Of what dreams wrote without naming it, all that they had before them, by its id. */
export const batchesIn = (entries: ReadonlyArray<Told>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const batches = new Map<string, ReadonlyArray<string>>()
  let underWay: Json = null
  for (const entry of entries) {
    const { records = [], tick } = entry
    const loop = records.findLast(isLoop)
    const batch = batchOf(loop?.value ?? underWay)
    if (loop !== undefined) underWay = loop.value
    if (batch.length === 0 || !isOfDream(entry)) continue
    for (const { key, kind, value } of records) {
      if (!isJsonObject(value) || textsOf(value["sources"]).length > 0) continue
      if (kind === "passage") batches.set(`p/${key}`, batch)
      if (kind === "journal" && key.startsWith(`entry_${tick}_`)) batches.set(`j/${key}`, batch)
    }
  }
  return batches
}

/** A record as it stands without what was called over a batch of which anything is forgotten. */
export const withoutCalls = (change: RecordChange, gone: ReadonlySet<string>): Json | null => {
  const { value } = change
  if (!isLoop(change) || !batchOf(value).some((id) => gone.has(id))) return value
  return changed(value, {
    text: (text) => (text === "" ? text : FORGOTTEN),
    rounds: (rounds) => listOf(rounds).map(hushedMessage)
  })
}
