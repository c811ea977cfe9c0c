// Said: what a dry run lists of what someone said: its messages that would go, and what was learnt of them.
// Owns finding both between a life and what would be left of it. Leaves what goes to the ledger, how many are listed to topics.ts.

import type { Bundle, BundlePart } from "@reverie/ledger"
import { FORGOTTEN, isJsonObject, type Json, type RecordKind, senderName } from "@reverie/protocol"
import { type ForgetSample, SAMPLE_CHARS } from "./topics.ts"

/** What was learnt or noted, in words. */
const LEARNT: ReadonlySet<string> = new Set<RecordKind>(["fact", "entity", "journal", "passage"])

type Placed = Pick<ForgetSample, "kind" | "where" | "text">
type EntryPart = Extract<BundlePart, { readonly kind: "entry" }>

const wordsOf = (value: Json): string => {
  if (!isJsonObject(value)) return ""
  const { content, name, text } = value
  return [text, content, name].find((each): each is string => typeof each === "string") ?? ""
}

/** What people and others said in an entry, of which nothing is left. */
const messagesGone = ({ entry }: EntryPart, left: EntryPart | undefined): ReadonlyArray<Placed> =>
  entry.messages.flatMap((message, index) => {
    const { content, name, role } = message as { readonly content?: Json; readonly name?: Json; readonly role?: Json }
    if (role !== "user" || typeof content !== "string" || content === FORGOTTEN) return []
    const stays = left?.entry.messages[index]
    if (stays !== undefined && Reflect.get(stays, "content") !== FORGOTTEN) return []
    const from = typeof name === "string" ? `${senderName(name)}: ` : ""
    return [{ kind: "message", where: `m/${entry.no}/${index}`, text: `${from}${content}` }]
  })

/** What goes of a life of which that is left. */
export const goingIn = ({ head, parts }: Bundle, left: Bundle): ReadonlyArray<ForgetSample> => {
  if (head.kind !== "assistant") return []
  const { assistant } = head.address
  const entries = new Map(left.parts.flatMap((part) => (part.kind === "entry" ? [[part.entry.no, part]] : [])))
  const records = new Set(left.parts.flatMap((part) => (part.kind === "record" ? [`${part.of}/${part.key}`] : [])))
  const gone = parts.flatMap((part): ReadonlyArray<Placed> => {
    if (part.kind === "entry") return messagesGone(part, entries.get(part.entry.no))
    if (part.kind !== "record" || !LEARNT.has(part.of) || records.has(`${part.of}/${part.key}`)) return []
    return [{ kind: part.of, where: part.key, text: wordsOf(part.value) }]
  })
  return gone.map((each) => ({ assistant, ...each, text: each.text.slice(0, SAMPLE_CHARS) }))
}
