// Account: what a compaction takes out of sight, apart from what a summary says of it.
// Owns finding it and carrying it on from one compaction to the next. Leaves telling the model to `marker.ts`.
// A1  It covers everything since the history began, so that a later compaction forgets nothing of an earlier one.
// A2  A call whose result came later, wherever it stands now, is no longer told as not done.
// A3  It is bounded, however much was compacted: the newest are named, the others counted.

import { cleanLine } from "@reverie/memory"
import { defined, type MessagePlace, partText, type PlacedMessage, type ToolCall } from "@reverie/protocol"
import type { Account, NamedCall } from "./record.ts"

// Clip: a text brought to a length.
// L1  Never longer than it may be, and never cut through a character.
// L2  A longer text keeps its beginning and, of a summary, more of its end: what came last matters most.

const ELLIPSIS = "…"

const halved = (text: string): boolean => /[\ud800-\udbff]$/.test(text)

const headOf = (text: string, chars: number): string => {
  const head = text.slice(0, chars)
  return halved(head) ? head.slice(0, -1) : head
}

const tailOf = (text: string, chars: number): string => {
  const tail = text.slice(text.length - chars)
  return /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
}

/** The beginning of a text, with an ellipsis where it was cut. In UTF-16 units. */
export const bounded = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${headOf(text, Math.max(0, maxChars - 1))}${ELLIPSIS}`

const GAP = "\n[…]\n"
const HEAD_SHARE = 1 / 3

/** The beginning and the end of a text, cut between lines where there are any near. */
export const endsOf = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const room = maxChars - GAP.length
  if (room < 3) return bounded(text, maxChars)
  const headChars = Math.floor(room * HEAD_SHARE)
  const head = headOf(text, headChars)
  const tail = tailOf(text, room - headChars)
  const headLine = head.lastIndexOf("\n")
  const tailLine = tail.indexOf("\n")
  return (
    (headLine > head.length / 2 ? head.slice(0, headLine) : head) +
    GAP +
    (tailLine >= 0 && tailLine < tail.length / 2 ? tail.slice(tailLine + 1) : tail)
  )
}

const MAX_TOOLS = 20
const MAX_NEWEST = 8
const MAX_UNFINISHED = 12
const MAX_ARGUMENT_CHARS = 160
const MAX_NAME_CHARS = 64

const named = ({ arguments: args, id, tool }: ToolCall, place: MessagePlace): NamedCall => ({
  call: id,
  tool: bounded(cleanLine(tool), MAX_NAME_CHARS),
  arguments: bounded(cleanLine(JSON.stringify(args)), MAX_ARGUMENT_CHARS),
  place
})

/** The counts of both, the most frequent tools first. */
const counted = (before: Account["results"], tools: ReadonlyArray<string>): Account["results"] => {
  const counts = new Map(before.map(({ count, tool }) => [tool, count]))
  for (const tool of tools) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  return [...counts]
    .map(([tool, count]) => ({ tool, count }))
    .toSorted((a, b) => b.count - a.count || (a.tool < b.tool ? -1 : 1))
    .slice(0, MAX_TOOLS)
}

/**
 * The account after these messages were compacted; `preserved` stays, and may hold the late result of an earlier call.
 * Undefined when nothing was ever compacted.
 */
export const accountOf = (
  before: Account | undefined,
  compacted: ReadonlyArray<PlacedMessage>,
  preserved: ReadonlyArray<PlacedMessage>
): Account | undefined => {
  const [first] = compacted
  if (first === undefined) return before
  const calls = compacted.flatMap(({ message, place }) => (message.calls ?? []).map((call) => named(call, place)))
  const isAnswered = answers([...compacted, ...preserved])
  const isCompacted = answers(compacted)
  const answered = calls.filter(({ call }) => isCompacted.has(call))
  const open = [...(before?.unfinished ?? []), ...calls].filter(({ call }) => !isAnswered.has(call))
  const unfinished = open.slice(-MAX_UNFINISHED)
  const parts = [
    ...(before?.parts ?? []),
    ...compacted.flatMap(({ message, place }) =>
      (message.parts ?? []).map((part) => ({ text: cleanLine(partText(part)), place }))
    )
  ]
  const moreParts = (before?.moreParts ?? 0) + Math.max(0, parts.length - MAX_NEWEST)
  return {
    count: (before?.count ?? 0) + compacted.length,
    from: before?.from ?? first.place,
    since: before?.since ?? first.message.at,
    results: counted(
      before?.results ?? [],
      answered.map(({ tool }) => tool)
    ),
    newest: [...(before?.newest ?? []), ...answered].slice(-MAX_NEWEST),
    unfinished,
    moreUnfinished: (before?.moreUnfinished ?? 0) + open.length - unfinished.length,
    ...defined({
      parts: parts.length === 0 ? undefined : parts.slice(-MAX_NEWEST),
      moreParts: moreParts === 0 ? undefined : moreParts
    })
  }
}

/** Ids of the calls that have a result among these. */
const answers = (messages: ReadonlyArray<PlacedMessage>): ReadonlySet<string> =>
  new Set(messages.flatMap(({ message }) => (message.role === "tool" ? (message.call ?? []) : [])))
