// CacheMeter: how much of each request a provider's prompt cache knows from the one before it.
// Owns the comparison of two requests and what they cost. Leaves the life that makes them to cache.ts.
// M1  A provider reads the tools first, then the messages in order; what it knows ends with the first token that differs.
// M2  A request is held against the one before it for the same purpose, and a first one of a purpose is all new.
// M3  The old layout is the same request with what changes put before the conversation again.

import { type ModelRequest, type WireMessage } from "@reverie/testkit/model-server"

/** A token that the provider knows costs this part of one that it reads. */
const CACHED_PRICE = 0.1

export interface Measured {
  readonly purpose: string
  readonly tokens: number
  /** Tokens that repeat the beginning of the request before it. */
  readonly known: number
}

type Count = (text: string) => number

/** A request as a row of texts: its tools, then its messages. */
const textsOf = (tools: unknown, messages: ReadonlyArray<WireMessage>): ReadonlyArray<string> => [
  JSON.stringify(tools ?? []),
  ...messages.map((message) => JSON.stringify(message))
]

const sameFromStart = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length)
  let same = 0
  while (same < most && one.charCodeAt(same) === other.charCodeAt(same)) same++
  return same
}

/** Counts a text once. Texts of a conversation come again with every request. */
const remembering = (count: Count): Count => {
  const known = new Map<string, number>()
  return (text) => {
    const tokens = known.get(text) ?? count(text)
    known.set(text, tokens)
    return tokens
  }
}

const contentOf = ({ content }: WireMessage): string => (typeof content === "string" ? content : "")

/** What is shown of memory, goals and surroundings with an event, by how it begins. */
const changing = ["<recalled_memories>", "# Ambient messages", "# Goals"] as const

const kindOf = (message: WireMessage): string | undefined =>
  changing.find((beginning) => contentOf(message).startsWith(beginning))

/** Where the conversation begins: what stands before it are the system's own words. */
const conversationBegin = (messages: ReadonlyArray<WireMessage>): number => {
  const at = messages.findIndex(
    ({ content, role }) => role !== "system" || String(content).startsWith("[CONTEXT SUMMARY]")
  )
  return at === -1 ? messages.length : at
}

/** The same request as it was laid out before: each part that changes once and whole, before the conversation. */
const oldLayout = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<WireMessage> => {
  const parts = new Map<string, Array<WireMessage>>()
  const others: Array<WireMessage> = []
  for (const message of messages) {
    const kind = kindOf(message)
    if (kind === undefined) others.push(message)
    else parts.set(kind, [...(parts.get(kind) ?? []), message])
  }
  const begin = conversationBegin(others)
  const moved = [...parts].flatMap(([kind, some]): ReadonlyArray<WireMessage> => {
    const last = some.at(-1)
    if (last === undefined) return []
    const all = some.flatMap((message) => contentOf(message).split("\n").slice(1))
    // Of each goal the newest line.
    const lines = new Map(all.map((line) => [kind === "# Goals" ? line.split("]")[0] : line, line])).values()
    return [{ ...last, content: [kind, ...lines].join("\n") }]
  })
  return [...others.slice(0, begin), ...moved, ...others.slice(begin)]
}

export interface Meter {
  readonly measure: (purpose: string, request: ModelRequest) => void
  readonly now: ReadonlyArray<Measured>
  readonly before: ReadonlyArray<Measured>
}

export const openMeter = (countText: Count): Meter => {
  const count = remembering(countText)
  const now: Array<Measured> = []
  const before: Array<Measured> = []
  const last = new Map<string, ReadonlyArray<string>>()
  const note = (rows: Array<Measured>, key: string, purpose: string, texts: ReadonlyArray<string>): void => {
    const earlier = last.get(key) ?? []
    last.set(key, texts)
    const differs = texts.findIndex((text, index) => text !== earlier[index])
    const same = differs === -1 ? texts.length : differs
    const [one = "", other = ""] = [texts[same], earlier[same]]
    const rest = same < texts.length ? count(one.slice(0, sameFromStart(one, other))) : 0
    const sum = (some: ReadonlyArray<string>): number => some.reduce((tokens, text) => tokens + count(text), 0)
    rows.push({ purpose, tokens: sum(texts), known: sum(texts.slice(0, same)) + rest })
  }
  return {
    now,
    before,
    measure: (purpose, { body, messages }) => {
      const { tools } = (body ?? {}) as { readonly tools?: unknown }
      note(now, `now ${purpose}`, purpose, textsOf(tools, messages))
      note(before, `before ${purpose}`, purpose, textsOf(tools, oldLayout(messages)))
    }
  }
}

export interface Shares {
  readonly requests: number
  readonly tokensPerRequest: number
  /** Of all tokens that were sent. */
  readonly share: number
  /** The mean of the shares of single requests. */
  readonly shareOfRequests: number
  /** What the input costs, as tokens at the full price. */
  readonly cost: number
}

export const sharesOf = (rows: ReadonlyArray<Measured>): Shares => {
  const total = (of: (row: Measured) => number): number => rows.reduce((sum, row) => sum + of(row), 0)
  const tokens = total((row) => row.tokens)
  const known = total((row) => row.known)
  const requests = Math.max(1, rows.length)
  return {
    requests: rows.length,
    tokensPerRequest: tokens / requests,
    share: known / Math.max(1, tokens),
    shareOfRequests: total((row) => row.known / row.tokens) / requests,
    cost: tokens - known * (1 - CACHED_PRICE)
  }
}
