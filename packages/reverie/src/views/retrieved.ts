// Retrieved: the memories that were retrieved with one model call, as a person reads them.
// Owns finding the text behind an id. Leaves which ids those were to the report of the call.
// R1  Each id of the report is there once, in its order; one whose memory is gone has no text.

import { isEntityProfile, keyOfId, placeOfId, profileText } from "@reverie/memory"
import { defined, type Json, isJsonObject, type RecordKind } from "@reverie/protocol"
import type { Core } from "../fleet/entry-source.ts"
import type { ContextReport } from "./context-report.ts"
import { clipped } from "../timeline/tick-view.ts"

/** A memory that was shown to the model with an event. */
export interface RetrievedMemory {
  /** Its id among the memories of its owner. */
  readonly id: string
  /** The assistant whose memory it is. */
  readonly owner: string
  /** What it is; a block has its text in `fleet.blocks`. */
  readonly kind: "message" | "episode" | "fact" | "passage" | "profile" | "block"
  /** As it stands now, up to 600 characters; absent when it is gone. */
  readonly text?: string
  /** The tick in which a message was said. */
  readonly tick?: number
  /** How well it fits the event; greater is better, comparable within one call. Absent of profiles, which are shown by name. */
  readonly score?: number
}

const MAX_CHARS = 600

const kinds = {
  m: "message",
  j: "episode",
  f: "fact",
  p: "passage",
  e: "profile",
  b: "block"
} as const

const recordKinds: Readonly<Record<string, ReadonlyArray<RecordKind>>> = {
  episode: ["journal", "episode"],
  fact: ["fact"],
  passage: ["passage"],
  profile: ["entity"]
}

const kindOf = (id: string): RetrievedMemory["kind"] => kinds[id.charAt(0) as keyof typeof kinds] ?? "message"

const textOf = (value: Json, at: number): string | undefined => {
  if (isEntityProfile(value)) return profileText(value, at)
  const text = isJsonObject(value) ? (value["text"] ?? value["content"]) : undefined
  return typeof text === "string" ? text : undefined
}

/** Those of a report, with their texts. */
export const retrievedOf = async (
  { entries, records }: Pick<Core, "entries" | "records">,
  self: string,
  { at, recalled = [], scores = {} }: ContextReport
): Promise<ReadonlyArray<RetrievedMemory>> => {
  const read = new Map<string, Promise<ReadonlyMap<string, Json>>>()
  const recordsOf = (owner: string, kind: string) => {
    const name = `${kind} ${owner}`
    const known =
      read.get(name) ??
      records(owner, recordKinds[kind] ?? []).then((rows) => new Map(rows.map(({ key, value }) => [key, value])))
    read.set(name, known)
    return known
  }
  const found = async (owner: string, id: string): Promise<Pick<RetrievedMemory, "text" | "tick">> => {
    const place = placeOfId(id)
    if (place !== undefined) {
      const entry = (await entries(owner, place.no, 1))[0]?.entry
      return entry?.no === place.no ? defined({ text: entry.messages[place.index]?.content, tick: entry.tick }) : {}
    }
    const key = keyOfId(id)
    const kind = kindOf(id)
    if (key === undefined || recordKinds[kind] === undefined) return {}
    const value = (await recordsOf(owner, kind)).get(key)
    return defined({ text: value === undefined ? undefined : textOf(value, at) })
  }
  return Promise.all(
    recalled.map(async (name): Promise<RetrievedMemory> => {
      // One of another assistant has its owner before it.
      const [id = name, owner = self] = name.split(" ").toReversed()
      const { text, tick } = await found(owner, id)
      const clip = text === undefined ? undefined : clipped(text, MAX_CHARS)
      return { id, owner, kind: kindOf(id), ...defined({ text: clip, tick, score: scores[name] }) }
    })
  )
}
