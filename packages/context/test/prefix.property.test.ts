// The law of the prefix: what a provider's prompt cache knows of a prompt, over lives in which everything changes.

import { assert, describe, it } from "@effect/vitest"
import type { PromptMessage } from "@reverie/model"
import type { Message } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import {
  append,
  assemble,
  type AssembleInput,
  bufferContent,
  collect,
  type Component,
  type Content,
  dataOf,
  getContextType,
  inReadingOrder,
  openPriceBook,
  openWindow,
  prefixOf,
  type Report,
  type ShownPart,
  type Standing,
  textOf,
  unshown
} from "../src/index.ts"
import { component } from "../src/layout/component.ts"
import { shrink } from "../src/tokens/window.ts"
import { count, said, user } from "./histories.ts"

const context = getContextType("tick_event")

/** What one event finds changed. */
const anEvent = fc.record({
  text: fc.string({ maxLength: 60 }),
  profile: fc.nat(3),
  memories: fc.array(fc.nat(9), { maxLength: 4 }),
  nearby: fc.nat(2),
  goal: fc.option(fc.nat(4), { nil: undefined }),
  persona: fc.boolean()
})

interface Told {
  readonly messages: ReadonlyArray<PromptMessage>
  /** Where the event stands in it. */
  readonly event: number
  readonly persona: string
  readonly leftOut: number
}

const RARELY = 0.1

/** The prompts of a life, each with what stands beside its events. */
const live = (events: ReadonlyArray<typeof anEvent extends fc.Arbitrary<infer T> ? T : never>, limit: number) => {
  const book = openPriceBook(count)
  const beside = new Map<Message, ReadonlyArray<Component>>()
  const marks = new Map<string, string>()
  const told: Array<Told> = []
  const heard: Array<string> = []
  let goals = ""
  let persona = "Calm."
  let window = openWindow([], limit)
  for (const [place, { goal, memories, nearby, profile, text, persona: isOther }] of events.entries()) {
    for (let more = 0; more < nearby; more++) heard.push(`line ${heard.length}`)
    if (goal !== undefined) goals = goal === 0 ? "" : `# Goals\n- goal ${goal}`
    if (isOther && place % Math.round(1 / RARELY) === 0) persona = `Calm since ${place}.`
    const standings: ReadonlyArray<Standing> = [
      { key: "entity_context", things: [{ id: "ann", says: `Ann ${profile}` }], render: () => `Ann ${profile}` },
      {
        key: "context_buffer",
        things: heard.map((line) => ({ id: line, says: line })),
        render: (ids) => textOf(bufferContent([...ids].map((line) => ({ from: "ann", text: line }))))
      },
      { key: "goals", things: [{ id: "goals", says: goals }], render: () => (goals === "" ? "# Goals\nnone" : goals) }
    ]
    const parts: ReadonlyArray<ShownPart> = standings.flatMap((each) => unshown(each, marks) ?? [])
    const event = user(text, "ann")
    window = append(window, [event])
    const texts = {
      system_prompt: "You keep the harbour.",
      character_context: persona,
      semantic_memories: dataOf(memories.map((memory) => `- memory ${memory}`).join("\n")),
      ...Object.fromEntries(parts.map((part) => [part.key, dataOf(part.text)]))
    }
    const sizes = { maxContextTokens: limit, reservedResponseTokens: 0, count }
    const made = assemble({ ...collect({ context, texts, book }), context, window, beside, ...sizes })
    if (Result.isFailure(made)) return told
    const { messages, report, window: sent } = made.success
    window = sent
    const leftOut = report.leftOut.reduce((sum, { messages }) => sum + messages, 0)
    told.push({ messages, event: messages.length - 1, persona, leftOut })
    beside.set(
      event,
      parts.map(({ key, text }) => component({ id: 1, key, content: text, role: "user" }, count))
    )
    for (const { key, marks: shown } of parts)
      for (const [id, mark] of Object.entries(shown)) marks.set(`${key} ${id}`, mark)
    window = append(window, [said(`answer ${place}`)])
  }
  return told
}

const isBeginning = (part: ReadonlyArray<PromptMessage>, whole: ReadonlyArray<PromptMessage>): boolean =>
  part.every(({ content, role }, index) => whole[index]?.content === content && whole[index].role === role)

const isMemory = ({ content }: PromptMessage): boolean => content.startsWith("- memory")

it("A8 R1 T1 a prompt begins with the one before it up to the memories of that one's event, unless something left the window or a person changed a part", () => {
  let held = 0
  let broken = 0
  fc.assert(
    fc.property(
      fc.array(anEvent, { minLength: 2, maxLength: 40 }),
      fc.integer({ min: 400, max: 4_000 }),
      (events, limit) => {
        const told = live(events, limit)
        for (const [index, now] of told.entries()) {
          const before = told[index - 1]
          if (before === undefined) continue
          const upToEvent = before.messages.slice(0, before.event).filter((message) => !isMemory(message))
          if (before.persona === now.persona && before.leftOut === now.leftOut) {
            held++
            assert.isTrue(isBeginning(upToEvent, now.messages))
            // And the event itself, with its answer, comes next.
            assert.deepStrictEqual(now.messages[upToEvent.length], before.messages[before.event])
          } else if (!isBeginning(upToEvent, now.messages)) broken++
        }
      }
    ),
    { numRuns: 200 }
  )
  assert.isAbove(held, 1_000)
  // The exceptions are real ones.
  assert.isAbove(broken, 10)
})

it("T1 T2 what stands beside an event of the window is not said again, and what says something else is", () => {
  const standing = (says: string): Standing => ({
    key: "goals",
    things: [{ id: "goals", says }],
    render: () => (says === "" ? "none left" : says)
  })
  const first = unshown(standing("one"), new Map())
  assert.strictEqual(first?.text, "one")
  const marks = new Map(Object.entries(first?.marks ?? {}).map(([id, mark]) => [`goals ${id}`, mark]))
  assert.isUndefined(unshown(standing("one"), marks))
  assert.strictEqual(unshown(standing("two"), marks)?.text, "two")
  assert.strictEqual(unshown(standing(""), marks)?.text, "none left")
  assert.isUndefined(unshown(standing(""), new Map()))
})

it("reading R1 only what changes with the event leaves the order of ids when a prompt is read", () => {
  const ids = [0, 600, 950, 1000, 1500, 2000, 3000, 4000, 4001, 5000, 5999, 6000, 6001, 7000]
  assert.deepStrictEqual(
    inReadingOrder(ids.map((id) => ({ id }))).map(({ id }) => id),
    [0, 600, 950, 1000, 4001, 5000, 5999, 1500, 3000, 4000, 2000, 6000, 6001, 7000]
  )
})

describe("the report of a prefix", () => {
  const reportOf = (change: Partial<AssembleInput> = {}, texts: Readonly<Record<string, Content>> = {}): Report => {
    const history = [user("hello"), said("good day"), user("a berth?")]
    const all = { system_prompt: "You keep the harbour.", character_context: "Calm.", ...texts }
    return Result.getOrThrow(
      assemble({
        ...collect({ context, texts: all, book: openPriceBook(count) }),
        context,
        window: openWindow(history, 10_000),
        maxContextTokens: 10_000,
        reservedResponseTokens: 1_000,
        toolTokens: 40,
        toolsMark: "tools",
        count,
        ...change
      })
    ).report
  }
  const later = [user("hello"), said("good day"), user("a berth?"), said("Yes."), user("And then?")]
  const wentOn = { window: openWindow(later, 10_000) }
  const first = reportOf()

  it("P2 a conversation that went on has broken nothing, whatever stands beside the events", () => {
    for (const texts of [{}, { goals: dataOf("# Goals\n- one") }, { semantic_memories: dataOf("- memory") }]) {
      const { broken, tokens } = prefixOf(reportOf({}, texts), reportOf(wentOn, { entity_context: dataOf("Ann") }))
      assert.isUndefined(broken)
      const known = first.tokens - (first.parts.at(-1)?.tokens ?? 0)
      assert.isAtLeast(tokens, known)
    }
    assert.deepStrictEqual(prefixOf(first, first), { tokens: first.tokens, share: 1 })
  })

  it("P1 P2 what ends it before that is named: tools, a part that is new, gone or changed, a cut, a compaction", () => {
    const brokenIn = (after: Report) => prefixOf(first, after).broken
    assert.deepStrictEqual(brokenIn(reportOf({ ...wentOn, toolsMark: "others" })), { key: "tools", how: "changed" })
    assert.deepStrictEqual(brokenIn(reportOf(wentOn, { character_context: "Stern." })), {
      key: "character_context",
      how: "changed"
    })
    assert.deepStrictEqual(brokenIn(reportOf(wentOn, { core_blocks: "a block" })), { key: "core_blocks", how: "new" })
    assert.deepStrictEqual(brokenIn(reportOf(wentOn, { character_context: "" })), {
      key: "character_context",
      how: "gone"
    })
    const cut = shrink(
      openWindow(later, 10_000),
      later.slice(-2).reduce((sum, { tokens }) => sum + tokens, 1)
    )
    assert.deepStrictEqual(brokenIn(reportOf({ window: cut })), { key: "conversation_history", how: "cut" })
    const marker = { ...said("[CONTEXT SUMMARY]"), role: "system" as const }
    const compacted = openWindow(later.slice(2), 10_000, marker)
    assert.deepStrictEqual(brokenIn(reportOf({ window: compacted })), { key: "conversation_history", how: "compacted" })
    assert.deepStrictEqual(prefixOf(undefined, first), { tokens: 0, share: 0 })
  })
})
