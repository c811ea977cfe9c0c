// Cut: making the pending turn fit when it is too long by itself.
// Owns which contents are shortened, and how that is shown. Leaves dropping older units to `window.ts`.
// X1  The longest contents are cut first, to one common length; a content shorter than that is not touched.
// X2  A cut content keeps its beginning and its end, and says between them how many characters are missing of how many.
// X3  Nothing but content is cut: who speaks and what is called stays whole.
// X4  A turn is cut anew from its history each time, so that a cut is never cut.
// X5  It is cut to KEPT_SHARE of the limit where it can be, so that what follows in the turn does not cut it again.

import type { Message } from "@reverie/protocol"
import type { CountMessage } from "./message-tokens.ts"
import { type Cut, interruptionTokens, type Unit, withCuts } from "./unit.ts"
import { KEPT_SHARE } from "./window.ts"

const notice = (characters: number, of: number): string => `\n[cut: ${characters} of ${of} characters]\n`

/** Of what stays of a content, this much is its beginning: a pasted text often ends with the question about it. */
const HEAD_SHARE = 2 / 3

interface Priced {
  readonly unit: number
  readonly index: number
  readonly message: Message
  /** What the message costs without its content, and what its content costs. */
  readonly frame: number
  readonly body: number
}

/** The units with their contents cut so that they cost at most `limit` together; else what they cost at the least. */
export const cutTurn = (
  units: ReadonlyArray<Unit>,
  limit: number,
  count: CountMessage
): { readonly units: ReadonlyArray<Unit> } | { readonly needed: number } => {
  const interruptions = interruptionTokens(units.reduce((calls, { open }) => calls + open.length, 0))
  const priced = units.flatMap((unit, place) =>
    unit.history.map((message, index): Priced => {
      const frame = Math.min(message.tokens, count({ ...message, content: "" }))
      return { unit: place, index, message, frame, body: message.tokens - frame }
    })
  )
  const costAt = (cap: number): number =>
    priced.reduce((sum, { body, frame }) => sum + frame + Math.min(body, cap), interruptions)
  const smallest = smallestCap(priced, count)
  const needed = costAt(smallest)
  if (needed > limit) return { needed }
  const cap = largestCap(smallest, Math.max(needed, Math.floor(limit * KEPT_SHARE)), costAt)
  const cut = units.map(() => new Map<number, Shorter>())
  for (const each of priced) {
    if (each.body > cap) cut[each.unit]?.set(each.index, shorten(each, cap, count))
  }
  return { units: units.map((unit, place) => withCuts(unit, cut[place] ?? new Map())) }
}

/** No content is cut to less than twice what the notice itself costs. */
const smallestCap = (priced: ReadonlyArray<Priced>, count: CountMessage): number => {
  const longest = Math.max(0, ...priced.map(({ message }) => message.content.length))
  return 2 * count({ role: "user", content: notice(longest, longest), at: 0 })
}

const largestCap = (smallest: number, limit: number, costAt: (cap: number) => number): number => {
  let fits = smallest
  let over = Math.max(limit, smallest) + 1
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2)
    if (costAt(middle) <= limit) fits = middle
    else over = middle
  }
  return fits
}

interface Shorter {
  readonly content: string
  readonly tokens: number
  readonly cut: Cut
}

const shorten = ({ body, frame, index, message }: Priced, cap: number, count: CountMessage): Shorter => {
  const of = message.content.length
  let kept = Math.floor((of * cap) / body)
  for (;;) {
    const content = around(message.content, kept)
    const tokens = count({ ...message, content })
    if (tokens <= frame + cap || kept === 0) return { content, tokens, cut: { index, characters: of - kept, of } }
    kept = Math.min(kept - 1, Math.floor((kept * cap * 0.95) / Math.max(1, tokens - frame)))
  }
}

// A surrogate pair cut in two leaves halves that no wire format can carry.
const around = (content: string, kept: number): string => {
  const head = Math.ceil(kept * HEAD_SHARE)
  const text =
    content.slice(0, head) + notice(content.length - kept, content.length) + content.slice(content.length - kept + head)
  return text.toWellFormed()
}
