import { assert, it } from "@effect/vitest"
import type { PromptMessage, ToolOffer } from "@reverie/model"
import { type Task, tasks } from "@reverie/protocol"
import * as fc from "fast-check"
import { infer, instructionsFor } from "./asked.ts"

const word = fc.constantFrom(
  "I",
  "my",
  "Nora",
  "sold",
  "boats",
  "2",
  "yesterday",
  "last Friday",
  "next year",
  "not",
  "?",
  ".",
  "!",
  '"',
  "is",
  "likes",
  "[x]",
  "[image: a]",
  "2024-02-29T09:30Z",
  "Ivo:",
  "Entity: Nora",
  "New:",
  "\uD800",
  "港",
  "𝕏",
  "\n",
  "\n  [y] ",
  "\n[z] ",
  "$&",
  "__proto__"
)
const text = fc.oneof(
  fc.array(word, { maxLength: 40 }).map((words) => words.join(" ")),
  fc.string({ unit: "binary", maxLength: 200 })
)
// What can not be seen is an empty message: it is refused.
const asked = text.filter((each) => !/^[\s\p{Cf}]*$/u.test(each))
const jsonTasks: ReadonlyArray<Task> = tasks.filter((task) => task !== "summarize" && task !== "extract")

/** S3 of statements.ts; an ask allows for five. */
const MAX_STATEMENTS = 4
const isText = (value: unknown): boolean => typeof value === "string"
const isTextOrNull = (value: unknown): boolean => value === null || isText(value)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
type Row = Readonly<Record<string, unknown>>

const isFormOf: Readonly<Record<string, (row: Row) => boolean>> = {
  consolidate: ({ facts, id, importance }) =>
    isText(id) &&
    Number.isInteger(importance) &&
    Number(importance) >= 1 &&
    Number(importance) <= 10 &&
    Array.isArray(facts) &&
    facts.length <= MAX_STATEMENTS &&
    facts.every((fact: Row) => isText(fact["text"]) && fact["text"] !== "" && isTexts(fact["entities"])),
  route: ({ action, fact, target }) => isText(fact) && isTextOrNull(target) && (action === "ADD") === (target === null),
  link: ({ fact, links }) =>
    isText(fact) && Array.isArray(links) && links.every(({ to, why }: Row) => isText(to) && isText(why) && why !== ""),
  profile: ({ action, attribute, evidence, target }) =>
    isText(attribute) && isTexts(evidence) && (action === "ADD") === (target === null),
  reflect: ({ evidence, insight }) =>
    isText(insight) && isTexts(evidence) && (evidence as ReadonlyArray<string>).length >= 3
}

it("O1 O6 whatever an ask holds, its answer has the form that was asked for, and is the same again", () => {
  fc.assert(
    fc.property(fc.constantFrom(...jsonTasks), asked, (task, content) => {
      const messages: ReadonlyArray<PromptMessage> = [instructionsFor(task), { role: "user", content }]
      const reply = infer(messages)
      assert.strictEqual(reply.finish, "stop")
      const rows = JSON.parse(reply.text) as ReadonlyArray<Row>
      assert.isTrue(
        rows.every((row) => isFormOf[task]?.(row)),
        reply.text
      )
      assert.isTrue(reply.text.isWellFormed() || !content.isWellFormed())
      assert.deepStrictEqual(infer(messages), reply)
    }),
    { numRuns: 2_000 }
  )
})

it("O1 S2 whatever was said, a summary is short and the same again", () => {
  fc.assert(
    fc.property(asked, fc.integer({ min: 1, max: 80 }), (content, times) => {
      const messages: ReadonlyArray<PromptMessage> = [
        instructionsFor("summarize"),
        { role: "user", content: Array.from({ length: times }, () => content).join("\n") }
      ]
      const reply = infer(messages)
      assert.isAtMost(reply.text.split(/\s+/).length, 600)
      assert.notStrictEqual(reply.text, "")
      assert.deepStrictEqual(infer(messages), reply)
    }),
    { numRuns: 300 }
  )
})

const offers: ReadonlyArray<ToolOffer> = ["noop", "add_journal_entry", "update_entity_observation"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object", properties: { content: {}, entity: {}, observation: {} } }
}))

it("O2 X1 X2 whatever was said, saving it comes to an end and writes nothing twice", () => {
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 30 }), (said) => {
      const messages: Array<PromptMessage> = [
        instructionsFor("extract"),
        ...said.map((content): PromptMessage => ({ role: "user", content, name: "Ivo" }))
      ]
      const made: Array<string> = []
      for (let round = 0; ; round++) {
        assert.isBelow(round, 4)
        const { calls } = infer(messages, offers)
        assert.isAtMost(calls.length, 8)
        made.push(...calls.map(({ arguments: args, tool }) => JSON.stringify([tool, args])))
        if (calls.some(({ tool }) => tool === "noop")) break
        messages.push({ role: "assistant", content: "", calls })
        for (const { id, tool } of calls) messages.push({ role: "tool", content: "ok", call: id, name: tool })
      }
      assert.strictEqual(new Set(made).size, made.length)
    }),
    { numRuns: 300 }
  )
})
