// Topics: what is forgotten of a topic, which is words, and of a text as it stands.
// Owns which texts say a topic, and the samples that a dry run lists of both. Leaves the cascade from a message to what was learnt of it,
// and taking texts out of lives, to the ledger.
// W1  A line of text says a topic when each of its words is in it, in any form (stems, without stop words), in any order.
// W2  With a message of a person that says it goes its whole turn, with all that was learnt of it. Elsewhere what is remembered and says
//     it goes whole; of other texts the sentences that say it go, or where no single one does, its words.

import { Buffer } from "node:buffer"
import {
  type BlockRemaking,
  type Bundle,
  type BundlePart,
  finderOf,
  type Letter,
  type Sought,
  soughtText,
  withoutSought,
  withoutText,
  withoutTicks
} from "@reverie/ledger"
import { stopTerms, termsOf } from "@reverie/memory"
import type { Json } from "@reverie/protocol"

/** Something that says the topic, contains the text or goes with what was said, as a dry run of `fleet.forget` lists it. */
export interface ForgetSample {
  /** Whose it is; left out for what a tenant has besides its assistants. */
  readonly assistant?: string
  /** `message`, `block`, `block-version`, or the kind of a record: `fact`, `entity`, `journal`, `compaction` and the like. */
  readonly kind: string
  /** Its id: `m/12/0` of a message, the key of a record, the id of a block. */
  readonly where: string
  /** The line that says it, or the beginning of that; of what was said, who said it and what. */
  readonly text: string
}

/** What says a topic, contains a text, or goes with what was said. */
export interface ForgetFound {
  /** How many of each kind. */
  readonly counts: Readonly<Record<string, number>>
  /** Of each kind the first few. */
  readonly samples: ReadonlyArray<ForgetSample>
}

export interface Topic {
  /** `letters`: ids of what was sent here out of forgotten turns; `tell` learns what such turns sent. */
  readonly without: (life: Bundle, letters: ReadonlySet<string>, tell: (sent: ReadonlyArray<Letter>) => void) => Bundle
  readonly findIn: (life: Bundle) => ReadonlyArray<ForgetSample>
}

export const SAMPLE_CHARS = 200
const SAMPLES_A_KIND = 5
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
const BETWEEN_SENTENCES = /([.:!?\r"\u201c\u201d\u201e]+)/

const soughtWords = (words: ReadonlySet<string>): Sought => {
  const says = (line: string): boolean => words.isSubsetOf(new Set(termsOf(line)))
  const withoutWords = (line: string): string =>
    line.replace(WORD, (word) => (termsOf(word).some((term) => words.has(term)) ? "\u2026" : word))
  const cutLine = (line: string): string => {
    if (!says(line)) return line
    const parts = line.split(BETWEEN_SENTENCES)
    const left = parts.map((part) => (says(part) ? "\u2026" : part)).join("")
    return says(left) ? withoutWords(left) : left
  }
  return {
    isProse: true,
    isIn: (text) => text.split("\n").some(says),
    cut: (text) => text.split("\n").map(cutLine).join("\n")
  }
}

/** What can be read of bytes. */
const bytesText = (base64: string): string =>
  Buffer.from(base64, "base64")
    .toString("utf8")
    .replaceAll(/[^\P{C}\n]|\ufffd/gu, "")

type EntryPart = Extract<BundlePart, { readonly kind: "entry" }>

const contentOf = (content: unknown): string => (typeof content === "string" ? content : "")

const messagesOf = ({ entry }: EntryPart) =>
  entry.messages.map((message, index) => ({
    role: Reflect.get(message, "role") as unknown,
    content: contentOf(Reflect.get(message, "content")),
    place: { no: entry.no, index }
  }))

const samplesOf = (sought: Sought, life: Bundle): ReadonlyArray<ForgetSample> => {
  const { head, parts } = life
  const whose = head.kind === "assistant" ? { assistant: head.address.assistant } : {}
  const { isInBytes, textsIn } = finderOf(sought, life)
  const found = (
    kind: string,
    where: string,
    value: Json,
    { isRemembered = false, bytes = "" } = {}
  ): ReadonlyArray<ForgetSample> => {
    const text = textsIn(value, isRemembered)[0] ?? (isInBytes(bytes) ? bytesText(bytes) : undefined)
    const line = text?.split("\n").find(sought.isIn) ?? text
    return line === undefined ? [] : [{ ...whose, kind, where, text: line.slice(0, SAMPLE_CHARS) }]
  }
  return parts.flatMap((part) => {
    switch (part.kind) {
      case "entry":
        return part.entry.messages.flatMap((message, index) =>
          found("message", `m/${part.entry.no}/${index}`, message as unknown as Json)
        )
      case "record":
        return found(part.of, part.key, { value: part.value, key: part.key }, { isRemembered: true })
      case "block":
        return found("block", part.id, { body: part.body, label: part.label })
      case "block-version":
        return found("block-version", `${part.block}/${part.version}`, { body: part.body }, { bytes: part.patch })
      default:
        return []
    }
  })
}

/** What contains a text. */
export const textTopic = (text: string): Topic => ({
  without: withoutText(text),
  findIn: (life) => samplesOf(soughtText(text), life)
})

/** Undefined where nothing is left of a topic without its stop words. */
export const topicOf = (text: string, remaking: BlockRemaking): Topic | undefined => {
  const words = new Set(termsOf(text).filter((term) => !stopTerms.has(term)))
  if (words.size === 0) return undefined
  const sought = soughtWords(words)
  return {
    without: (life, letters, tell) => {
      const messages = life.parts
        .flatMap((part) => (part.kind === "entry" ? messagesOf(part) : []))
        .flatMap(({ content, place, role }) => (role === "user" && sought.isIn(content) ? [place] : []))
      const isNone = messages.length + letters.size === 0
      return withoutSought(sought, isNone ? life : withoutTicks({ messages, letters }, remaking, tell)(life))
    },
    findIn: (life) => samplesOf(sought, life)
  }
}

/** Each assistant's first before any second one. */
const spread = (samples: ReadonlyArray<ForgetSample>): ReadonlyArray<ForgetSample> => {
  const nth = [...Map.groupBy(samples, ({ assistant }) => assistant).values()]
    .flatMap((own) => own.map((sample, index) => ({ sample, index })))
    .toSorted((one, other) => one.index - other.index)
  return nth.map(({ sample }) => sample)
}

export const foundIn = (samples: ReadonlyArray<ForgetSample>): ForgetFound => {
  const byKind = Map.groupBy(samples, ({ kind }) => kind)
  return {
    counts: Object.fromEntries([...byKind].map(([kind, all]) => [kind, all.length])),
    samples: [...byKind.values()].flatMap((all) => spread(all).slice(0, SAMPLES_A_KIND))
  }
}
