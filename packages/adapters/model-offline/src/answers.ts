// Answers: sentences made of what stands in the context.
// Owns quoting and telling a tool's result in words. Leaves when to answer to `offline-model.ts`.
// Q1  Only what stands in the context is said, and who said it. The assistant's own words are not quoted back.

import type { PromptMessage } from "@reverie/model"
import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { inShort, sentencesOf, stemsOf } from "./words.ts"

/** The sentences that share the most words with a question, the newest first, at most two; undefined when none comes near. */
export const quotesFor = (question: string, messages: ReadonlyArray<PromptMessage>): string | undefined => {
  const asked = stemsOf(question)
  const found = messages
    .filter(({ role }) => role !== "assistant")
    .flatMap((source) => sentencesIn(source))
    .map((sentence) => ({ ...sentence, score: asked.intersection(sentence.stems).size }))
  const most = found.reduce((most, { score }) => Math.max(most, score), 0)
  if (most === 0 || most < asked.size / 2) return undefined
  const quotes = found.filter(({ score }) => score === most).map(({ quote }) => quote)
  return [...new Set(quotes.toReversed())].slice(0, 2).join(" ")
}

interface Sentence {
  readonly stems: ReadonlySet<string>
  readonly quote: string
}

// A prompt message is the same object from prompt to prompt: its sentences are taken apart once.
const known = new WeakMap<PromptMessage, ReadonlyArray<Sentence>>()

const sentencesIn = (source: PromptMessage): ReadonlyArray<Sentence> => {
  const before = known.get(source)
  if (before !== undefined) return before
  const sentences = sentencesOf(source.content)
    .filter((sentence) => !sentence.trimEnd().endsWith("?"))
    .map((sentence) => ({ stems: stemsOf(sentence), quote: `${speakerOf(source)}: "${inShort(sentence)}"` }))
  known.set(source, sentences)
  return sentences
}

const speakerOf = ({ name, role }: PromptMessage): string => {
  if (role === "system") return "My instructions say"
  return role === "tool" ? `${name ?? "A tool"} reported` : `${name ?? "Somebody"} said`
}

/** What tools reported, in a sentence or two. */
export const toldBy = (results: ReadonlyArray<PromptMessage>): string => {
  const told = results.slice(0, 2).map(({ content, name = "The tool" }) => {
    const words = inShort(inWords(Result.getOrElse(parseJson(content), () => content)))
    return words === "" ? `${name} is done.` : `${name}: ${words}${/[.!?…]$/.test(words) ? "" : "."}`
  })
  return [...told, ...(results.length > 2 ? [`And ${results.length - 2} more.`] : [])].join(" ")
}

const inWords = (value: Json): string => {
  if (Array.isArray(value)) return value.length === 0 ? "nothing" : value.map(inWords).join("; ")
  if (!isJsonObject(value)) return String(value)
  return Object.entries(value)
    .map(([key, each]) => `${key} ${inWords(each)}`)
    .join(", ")
}
