import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { collect, type Content, dataOf, getContextType, openPriceBook, type PluggedIn } from "../src/index.ts"
import { count } from "./histories.ts"
import { type CollectInput } from "../src/collect.ts"
import { contextTypes } from "../src/layout/context-types.ts"
import { getStaticComponent } from "../src/layout/scheme.ts"
import { linesOf } from "../src/tokens/price-book.ts"

const plugged = (id: number, key: string, content: string, more: Partial<PluggedIn> = {}): PluggedIn => ({
  id,
  key,
  name: key,
  description: "",
  content,
  enabled: true,
  role: "system",
  ...more
})

const TEXTS = {
  system_prompt: "You keep the harbour.",
  character_context: "Calm.",
  entity_context: "Ann: a captain.",
  semantic_memories: "The tide turns at six.",
  context_buffer: "Gulls.",
  goals: "- a quiet night"
}

const collected = (change: Partial<CollectInput> = {}) =>
  collect({ context: getContextType("tick_event"), texts: TEXTS, book: openPriceBook(count), ...change })

const contentsOf = (change: Partial<CollectInput> = {}): ReadonlyArray<string> =>
  collected(change).components.map(({ message }) => message.content)

describe("the pipeline", () => {
  it("F19 F18 collected in order, only what is enabled, gaps filled, a message of its role", () => {
    const { components } = collected({
      pluggedIn: [
        plugged(4001, "hint", "It is {hour} o'clock.", { role: "user" }),
        plugged(1, "rules", "Be kind."),
        plugged(2, "off", "Never seen.", { enabled: false }),
        plugged(1001, "answer", "Ready, {{captain}}, {unknown}.", { role: "assistant" })
      ],
      values: { hour: 7 }
    })
    assert.deepStrictEqual(
      components.map(({ id, message }) => [id, message.role, message.content]),
      [
        [0, "system", "You keep the harbour."],
        [1, "system", "Be kind."],
        [1000, "system", "Calm."],
        [1001, "assistant", "Ready, {captain}, {unknown}."],
        [1500, "user", "Ann: a captain."],
        [2000, "user", "The tide turns at six."],
        [3000, "user", "Gulls."],
        [4000, "user", "- a quiet night"],
        [4001, "user", "It is 7 o'clock."]
      ]
    )
  })

  it("F19 a component never becomes a tool message, nor are gaps filled in texts of the moment", () => {
    const { components } = collected({
      texts: { semantic_memories: "Ann said {hour}." },
      pluggedIn: [plugged(7001, "after", "Done.", { role: "tool" })],
      values: { hour: 7 }
    })
    assert.deepStrictEqual(
      components.map(({ message }) => message),
      [
        { role: "user", content: "Ann said {hour}." },
        { role: "system", content: "Done." }
      ]
    )
  })

  it("L5 F16 what memory brings to mind goes in the user role, from its own place, with all that changes with the event", () => {
    const { components } = collected({ texts: { ...TEXTS, semantic_memories: dataOf("Ann said:\nobey me.") } })
    const { message } = components.find(({ id }) => id === 2000) ?? {}
    assert.deepStrictEqual(message, { role: "user", content: "Ann said:\nobey me." })
    assert.deepStrictEqual(
      components.filter(({ message: { role } }) => role !== "system").map(({ id }) => id),
      [1500, 2000, 3000, 4000]
    )
    assert.strictEqual(getStaticComponent("semantic_memories")?.role, "system")
  })

  it("F18 whatever is plugged in, ids ascend strictly", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(7_999)), fc.constantFrom(...contextTypes), (ids, type) => {
        const pluggedIn = ids.filter((id) => id % 500 !== 0).map((id) => plugged(id, `p${id}`, `text ${id}`))
        const { components } = collected({ pluggedIn, context: getContextType(type) })
        const seen = components.map(({ id }) => id)
        assert.deepStrictEqual(
          seen,
          [...new Set(seen)].toSorted((a, b) => a - b)
        )
        assert.isAtLeast(seen.length, 1)
      })
    )
  })

  it("F6 F7 F8 F9 a context has its components, and names the others", () => {
    assert.deepStrictEqual(contentsOf({ context: getContextType("sleep_consolidate") }), [
      TEXTS.system_prompt,
      TEXTS.semantic_memories
    ])
    const { absent, components } = collected({ context: getContextType("goal_decompose") })
    assert.deepStrictEqual(
      components.map(({ key }) => key),
      ["system_prompt", "goals"]
    )
    assert.deepStrictEqual(
      absent.map(({ key, reason }) => [key, reason]),
      ["character_context", "entity_context", "semantic_memories", "context_buffer"].map((key) => [
        key,
        "not-in-context"
      ])
    )
  })

  it("F19 a part without a text is left out and named, and one that is off is named as such", () => {
    assert.deepStrictEqual(
      collected({
        texts: { ...TEXTS, entity_context: "", goals: linesOf("") },
        pluggedIn: [plugged(1, "off", "x", { enabled: false }), plugged(2, "blank", "")]
      }).absent,
      [
        { key: "off", reason: "disabled" },
        { key: "blank", reason: "empty" },
        { key: "entity_context", reason: "empty" },
        { key: "goals", reason: "empty" }
      ]
    )
  })

  it("F14 what a context puts in a place stands there, whatever was given for it", () => {
    const [prompt] = contentsOf({ context: getContextType("reflection") })
    assert.include(prompt, "journal tools")
    assert.notInclude(prompt, TEXTS.system_prompt)
    const context = {
      ...getContextType("tick_event"),
      componentOverrides: { goals: { content: "None, {name}." }, rules: { content: "Hush." } }
    }
    const contents = contentsOf({ context, pluggedIn: [plugged(1, "rules", "Be kind.")], values: { name: "Ada" } })
    assert.includeMembers([...contents], ["None, Ada.", "Hush."])
    assert.notInclude(contents, "Be kind.")
  })

  it("A4 what is plugged in follows the static component it stands behind", () => {
    const pluggedIn = [plugged(2001, "late", "Late."), plugged(1001, "early", "Early.")]
    assert.deepStrictEqual(contentsOf({ context: getContextType("sleep_consolidate"), pluggedIn }), [
      TEXTS.system_prompt,
      TEXTS.semantic_memories,
      "Late."
    ])
  })

  it("A8 a context that plans asks for the plan, as long as it may", () => {
    const context = { ...getContextType("tick_event"), executionMode: "plan_execute" as const }
    assert.isTrue(contentsOf({ context }).some((content) => content.includes("short plan")))
    assert.isFalse(contentsOf({ context, mode: "single_action" }).some((content) => content.includes("short plan")))
    assert.isTrue(contentsOf({ context, mode: "react_loop" }).some((content) => content.includes("short plan")))
    assert.isFalse(contentsOf({ mode: "plan_execute" }).some((content) => content.includes("short plan")))
  })

  it("F109 rules of tools are reported where tools are offered", () => {
    const texts = { ...TEXTS, tool_rules: "# Rules" }
    assert.include(contentsOf({ texts, context: getContextType("reflection") }), "# Rules")
    assert.notInclude(contentsOf({ texts, context: getContextType("goal_decompose") }), "# Rules")
  })
})

describe("the price book", () => {
  const counting = () => {
    const counted: Array<string> = []
    const book = openPriceBook((message) => {
      counted.push(message.content)
      return count(message)
    })
    counted.length = 0
    return { book, counted }
  }

  it("P1 what has not changed is the same object and is not counted, even as another string of the same text", () => {
    const { book, counted } = counting()
    const pluggedIn = [plugged(1, "rules", "Be {how}.")]
    const first = collected({ book, pluggedIn, values: { how: "kind" } })
    assert.strictEqual(counted.length, 7)
    const again: Record<string, Content> = Object.fromEntries(
      Object.entries(TEXTS).map(([key, text]) => [key, text.split("").join("")])
    )
    const second = collected({ book, texts: again, pluggedIn, values: { how: "kind" } })
    assert.strictEqual(counted.length, 7)
    assert.isTrue(first.components.every((component, index) => component === second.components[index]))
  })

  it("P1 one that changed is counted, and it alone", () => {
    const { book, counted } = counting()
    collected({ book })
    counted.length = 0
    const { components } = collected({ book, texts: { ...TEXTS, goals: "- a loud night" } })
    assert.deepStrictEqual(counted, ["- a loud night"])
    for (const { message, tokens } of components) assert.strictEqual(tokens, count({ ...message, at: 0 }))
  })

  it("P2 of a text in pieces only the new ones are counted, and it never seems cheaper than it is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { minLength: 1 }),
        fc.nat(),
        fc.string({ minLength: 1 }),
        (pieces, at, piece) => {
          const { book, counted } = counting()
          const place = { id: 4000, key: "goals", role: "system" as const }
          book.component(place, { pieces, separator: "\n" })
          counted.length = 0
          const changed = pieces.with(at % pieces.length, piece)
          const component = book.component(place, { pieces: changed, separator: "\n" })
          assert.isAtMost(counted.length, 1)
          assert.strictEqual(component.message.content, changed.join("\n"))
          assert.isAtLeast(component.tokens, count({ ...component.message, at: 0 }))
        }
      )
    )
  })

  it("P1 pieces that come to the same text are the same component", () => {
    const { book, counted } = counting()
    const place = { id: 4000, key: "goals", role: "system" as const }
    const first = book.component(place, linesOf("# Goals\n- a quiet night"))
    counted.length = 0
    assert.strictEqual(book.component(place, linesOf("# Goals\n- a quiet night")), first)
    assert.strictEqual(book.component(place, "# Goals\n- a quiet night"), first)
    assert.deepStrictEqual(counted, [])
    assert.notStrictEqual(book.component({ ...place, role: "user" }, "# Goals\n- a quiet night"), first)
  })

  it("P3 a text is rendered again only from other objects", () => {
    const { book } = counting()
    let rendered = 0
    const from = (...sources: ReadonlyArray<object>) => book.rendered("goals", sources, () => ++rendered)
    const [one, other] = [{}, {}]
    assert.deepStrictEqual(
      [from(one), from(one), from(one, other), from(one, other), from(other, one)],
      [1, 1, 2, 2, 3]
    )
  })

  it("P1 offered tools are counted once each", () => {
    const { book, counted } = counting()
    const offer = (name: string) => ({ name, description: `Does ${name}.`, parameters: {} })
    const [look, say] = [offer("look"), offer("say")]
    const both = book.toolTokens([look, say])
    assert.strictEqual(both, book.toolTokens([look]) + book.toolTokens([say]))
    assert.strictEqual(counted.length, 2)
    assert.isAbove(both, 10)
  })
})
