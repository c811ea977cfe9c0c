// PriceBook: what was rendered and counted before, so that it is not done again.
// Owns the components of one assistant from one prompt to the next. Leaves what their texts are to `collect.ts`.
// P1  A component whose text and role have not changed is the same object, and is not counted.
// P2  A text in pieces costs the counting of the pieces that are new; together they never seem cheaper than they are
//     where a piece ends at a boundary of the vocabulary, as a line does.
// P3  A text that was rendered from some objects is not rendered again from the same ones.
// P4  It remembers what the last prompt with that component had, and nothing older.

import { withDecisionNote } from "@reverie/memory"
import { type Accepts, TOKENS_PER_MESSAGE, type ToolOffer, tokensOfParts } from "@reverie/model"
import type { Message } from "@reverie/protocol"
import type { Component, CountMessage } from "../layout/component.ts"

/** A text of a component. In pieces, when parts of it change and most of it stays. */
export type Content = string | Pieces

export interface Pieces {
  readonly pieces: ReadonlyArray<string>
  /** Stands between any two of them. Ends with a line break, so that no token reaches over it. */
  readonly separator: string
  /** It is what memory brings to mind: it may hold what anybody once said, and is never the system's word. */
  readonly isData?: true
}

export const linesOf = (text: string): Pieces => ({ pieces: text === "" ? [] : text.split("\n"), separator: "\n" })

/** The lines of a text that memory brings to mind. */
export const dataOf = (text: string): Pieces => ({ ...linesOf(text), isData: true })

export const textOf = (content: Content): string =>
  typeof content === "string" ? content : content.pieces.join(content.separator)

interface Place {
  readonly id: number
  readonly key: string
  readonly role: "system" | "user" | "assistant"
}

interface Page {
  readonly content: Content
  readonly component: Component
  readonly prices: ReadonlyMap<string, number>
}

/** A short fingerprint of a text: two texts of one life hardly ever have the same. */
export const fingerprintOf = (text: string): string => {
  let one = 0xdeadbeef
  let other = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    one = Math.imul(one ^ unit, 2_654_435_761)
    other = Math.imul(other ^ unit, 1_597_334_677)
  }
  return ((one ^ (one >>> 15)) >>> 0).toString(36) + ((other ^ (other >>> 13)) >>> 0).toString(36)
}

export interface PriceBook {
  readonly count: CountMessage
  /** The component of a place, priced when it is not the one from before. */
  readonly component: (place: Place, content: Content) => Component
  /** What `render` makes, asked only when one of the sources is not the one from before. */
  readonly rendered: <A>(key: string, sources: ReadonlyArray<unknown>, render: () => A) => A
  /** What a piece costs with its separator, without the frame of a message. */
  readonly pieceTokens: (piece: string, separator: string) => number
  /** What offered tools cost. */
  readonly toolTokens: (offers: ReadonlyArray<ToolOffer>) => number
}

export const openPriceBook = (count: CountMessage): PriceBook => {
  const pages = new Map<string, Page>()
  const renderings = new Map<string, { readonly sources: ReadonlyArray<unknown>; readonly made: unknown }>()
  const offerTokens = new WeakMap<ToolOffer, number>()
  const offersTokens = new WeakMap<ReadonlyArray<ToolOffer>, number>()
  const frame = count({ role: "system", content: "", at: 0 })
  const bodyOf = (text: string): number => count({ role: "system", content: text, at: 0 }) - frame

  const priced = (content: Content, before: ReadonlyMap<string, number>) => {
    if (typeof content === "string") return { tokens: frame + bodyOf(content), prices: NO_PRICES }
    const prices = new Map<string, number>()
    let tokens = frame
    for (const piece of content.pieces) {
      const price = prices.get(piece) ?? before.get(piece) ?? bodyOf(piece + content.separator)
      prices.set(piece, price)
      tokens += price
    }
    return { tokens, prices }
  }

  return {
    count,
    component: ({ id, key, role }, content) => {
      const before = pages.get(key)
      const isPlaced = before?.component.id === id && before.component.message.role === role
      if (isPlaced && before.content === content) return before.component
      const text = textOf(content)
      if (isPlaced && before.component.message.content === text) {
        pages.set(key, { ...before, content })
        return before.component
      }
      const { prices, tokens } = priced(content, before?.prices ?? NO_PRICES)
      const component: Component = { id, key, enabled: true, message: { role, content: text }, tokens }
      pages.set(key, { content, component, prices })
      return component
    },
    rendered: (key, sources, render) => {
      const before = renderings.get(key)
      if (before !== undefined && areSame(before.sources, sources)) return before.made as ReturnType<typeof render>
      const made = render()
      renderings.set(key, { sources, made })
      return made
    },
    pieceTokens: (piece, separator) => bodyOf(piece + separator),
    toolTokens: (offers) => {
      const known = offersTokens.get(offers)
      if (known !== undefined) return known
      let tokens = 0
      for (const offer of offers) {
        const price = offerTokens.get(offer) ?? bodyOf(`${JSON.stringify(offer)},`)
        offerTokens.set(offer, price)
        tokens += price
      }
      offersTokens.set(offers, tokens)
      return tokens
    }
  }
}

const NO_PRICES: ReadonlyMap<string, number> = new Map()

const areSame = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean =>
  one.length === other.length && one.every((source, index) => source === other[index])

// MessageTokens: how long one message is for a model.
// M1  The price depends on the message alone, never on its neighbours, so that it can be remembered with it.
// M2  A message with more in it is never cheaper.

type CountText = (text: string) => number

/**
 * Tokens of a message on the wire: what it says, who says it, its parts, the calls it makes, what was thought before it, why it was
 * rejected, and what a chat format adds. `accepts`: the parts that the model takes; every one when not said.
 */
export const countMessage = (
  message: Pick<Message, "content" | "name" | "parts" | "calls" | "reasoning" | "rejected" | "note">,
  count: CountText,
  accepts?: Accepts
): number =>
  TOKENS_PER_MESSAGE +
  (message.parts === undefined ? 0 : tokensOfParts(message.parts, count, accepts)) +
  count(withDecisionNote(message.content, message.note)) +
  (message.name === undefined ? 0 : count(message.name)) +
  (message.calls === undefined || message.calls.length === 0 ? 0 : count(JSON.stringify(message.calls))) +
  (message.reasoning ?? []).reduce((sum, { tokens }) => sum + tokens, 0) +
  (message.rejected === undefined ? 0 : TOKENS_PER_MESSAGE + count(message.rejected))
