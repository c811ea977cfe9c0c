// Lines: memories as one line each, whatever their kind, and what a status says of a wait.
// Owns the words of a profile and of a journal entry. Leaves which of them are reported to the fleets.

import { defined } from "@reverie/protocol"
import type { EntityProfile, Fact, Json, OutageView } from "reverie"
import { clip, TEXT_CHARS } from "../views/message-view.ts"
import type { Memory } from "./mcp-fleet.ts"

/** Of one memory, in UTF-16 units. */
const MAX_CHARS = 2_000

const at = (value: Json, key: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (Reflect.get(value, key) as Json) : undefined

/** The wait for a model. */
export const outageLine = ({
  others = [],
  reason,
  server,
  since
}: Pick<OutageView, "others" | "reason" | "server" | "since">) => ({
  server: clip([server, ...others].join(" or "), TEXT_CHARS),
  since,
  reason: clip(reason, TEXT_CHARS)
})

export const factLine = ({ at: saidAt, id, state, text, trust }: Fact): Memory => ({
  id,
  kind: "fact",
  text: clip(text, MAX_CHARS),
  at: saidAt,
  trust,
  state
})

export const journalLine = ({ key, value }: { readonly key: string; readonly value: Json }): Memory => {
  const content = at(value, "content")
  const timestamp = at(value, "timestamp")
  const when = at(value, "at") ?? (typeof timestamp === "string" ? Date.parse(timestamp) : undefined)
  return {
    id: key,
    kind: "journal",
    text: clip(typeof content === "string" ? content : JSON.stringify(value), MAX_CHARS),
    ...defined({ at: typeof when === "number" && !Number.isNaN(when) ? when : undefined })
  }
}

export const profileLine = ({ attributes, id, name, observations, type }: EntityProfile): Memory => {
  const heard = observations.filter(({ digested }) => !digested)
  const texts = [...attributes, ...heard].map(({ text }) => text)
  return { id, kind: "profile", text: clip([`${name} (${type})`, ...texts].join("\n"), MAX_CHARS) }
}

export const blockLine = ({ id, label, text }: { id: string; label: string; text: string }): Memory => ({
  id,
  kind: "block",
  text: clip(`${label}\n${text}`, MAX_CHARS)
})

interface HitView {
  readonly id: string
  readonly kind: string
  readonly text: string
  readonly at: number
  readonly trust?: number
  readonly because: string
}

export const hitLine = ({ at: when, because, id, kind, text, trust }: HitView): Memory => ({
  id,
  kind,
  text: clip(text, MAX_CHARS),
  at: when,
  ...defined({ trust }),
  why: because
})
