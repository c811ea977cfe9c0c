// Histories: what an assistant may have lived through, for property tests, whole and damaged.

import { type ContentPart, defined, type Message, type ToolCall } from "@reverie/protocol"
import * as fc from "fast-check"
import { countMessage, type UncountedMessage } from "../src/index.ts"
import type { CountMessage } from "../src/layout/component.ts"

/** A vocabulary for tests: a token for every three characters begun. */
export const countText = (text: string): number => Math.ceil(text.length / 3)

export const count: CountMessage = (message) => countMessage(message, countText)

const priced = (message: UncountedMessage): Message => ({ ...message, tokens: count(message) })

export const user = (content: string, name?: string, parts?: ReadonlyArray<ContentPart>): Message =>
  priced({ role: "user", content, at: 0, ...defined({ name, parts }) })

/** What some users show. */
const PICTURE: ContentPart = {
  type: "image",
  digest: "a".repeat(64),
  mediaType: "image/png",
  bytes: 70,
  width: 8,
  height: 8
}

export const said = (content: string, calls: ReadonlyArray<ToolCall> = []): Message =>
  priced({ role: "assistant", content, at: 0, ...(calls.length === 0 ? {} : { calls }) })

/** Why the answers of these histories were not accepted. */
export const UNFIT = "It does not fit."

/** An answer that had another form than it must have. */
export const rejected = (content: string, why: string): Message =>
  priced({ role: "assistant", content, rejected: why, at: 0 })

export const result = (call: string, content: string): Message =>
  priced({ role: "tool", content, name: "look", call, at: 0 })

export const note = (content: string): Message => priced({ role: "system", content, at: 0 })

export const callOf = (id: string): ToolCall => ({ id, tool: "look", arguments: { at: id } })

const text = fc.integer({ min: 0, max: 400 }).map((length) => "berth ".repeat(length).slice(0, length))

/** An iteration: what is said, how many calls it makes, which of them are answered at once, late or never. */
const iteration = fc.record({
  content: text,
  answers: fc.array(fc.record({ content: text, when: fc.constantFrom("now", "now", "now", "late", "never") }), {
    maxLength: 3
  }),
  isRejected: fc.constantFrom(false, false, true)
})

const tick = fc.record({
  opener: fc.constantFrom("user", "user", "user", "picture", "system", "none"),
  content: text,
  iterations: fc.array(iteration, { maxLength: 3 }),
  stray: fc.boolean()
})

const messagesOf = (
  ticks: ReadonlyArray<typeof tick extends fc.Arbitrary<infer T> ? T : never>
): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  let late: Array<Message> = []
  for (const [place, { content, iterations, opener, stray }] of ticks.entries()) {
    if (opener === "user") messages.push(user(content, "ann"))
    if (opener === "picture") messages.push(user(content, "ann", [PICTURE]))
    if (opener === "system") messages.push(note(content))
    for (const [turn, { answers, content, isRejected }] of iterations.entries()) {
      const id = (index: number): string => `${place}.${turn}.${index}`
      if (isRejected && answers.length === 0) {
        messages.push(rejected(content, UNFIT))
        continue
      }
      messages.push(
        said(
          content,
          answers.map((_, index) => callOf(id(index)))
        )
      )
      for (const [index, answer] of answers.entries()) {
        if (answer.when === "now") messages.push(result(id(index), answer.content))
        if (answer.when === "late") late.push(result(id(index), answer.content))
      }
    }
    if (stray) messages.push(result(`stray.${place}`, content), ...late.splice(0))
  }
  return messages
}

/** Whole histories: every call has its result right after it. */
export const wholeHistory = fc.array(tick, { maxLength: 12 }).map((ticks) =>
  messagesOf(
    ticks.map((each) => ({
      ...each,
      stray: false,
      iterations: each.iterations.map(({ answers, content, isRejected }) => ({
        content,
        isRejected,
        answers: answers.map((answer) => ({ ...answer, when: "now" as const }))
      }))
    }))
  )
)

/** Any history, as an import or a lost write may have left it. */
export const anyHistory = fc.array(tick, { maxLength: 12 }).map(messagesOf)
