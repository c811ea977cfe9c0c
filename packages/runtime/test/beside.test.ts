// What stands beside an event: shown once, the same after a restart, no one's word, and gone with its event.

import { assert, describe, it } from "@effect/vitest"
import type { Prompt } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import { memoryRecall, RecallDisk, type Script } from "@reverie/testkit"
import { selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { compactions, folder, rowsOf, ship, small } from "./folder.ts"
import { type Life, live, type LifeOptions } from "./rig.ts"

/** Calls the tool that the last words name; else says yes. */
const doing: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role !== "user") return Effect.succeed({ text: "Aye." })
  const [, tool, rest = ""] = /^!(\w+) (.*)$/.exec(last.content) ?? []
  return Effect.succeed(
    tool === undefined ? { text: "Aye." } : { calls: [{ tool, arguments: JSON.parse(rest) as Json }] }
  )
}

const busy = (options: LifeOptions = {}): Life =>
  live({ model: doing, tools: selfTools, recall: memoryRecall(new RecallDisk()), ...options })

let sent = 0

const tell = (life: Life, ...texts: ReadonlyArray<string>): void => {
  for (const text of texts) {
    life.say(text, { from: "Ann", id: `said-${sent++}` })
    life.rest()
  }
}

const overhear = (life: Life, text: string): void => {
  life.post({ type: "message", text, channel: "room:quay" }, { from: "Jo", id: `said-${sent++}` })
  life.rest()
}

const addGoal = (description: string): string => `!add_goal ${JSON.stringify({ description })}`

const contentsOf = ({ messages }: Prompt): ReadonlyArray<string> =>
  messages.map(({ content, role }) => `${role}: ${content}`)

const isBeginning = (part: ReadonlyArray<string>, whole: ReadonlyArray<string>): boolean =>
  part.every((text, index) => text === whole[index])

/** How often something is shown; that it was also said does not count. */
const count = (prompt: Prompt | undefined, text: string): number =>
  (prompt?.messages ?? []).filter(({ content }) => content.startsWith("# ") && content.includes(text)).length

describe("what stands beside an event", () => {
  it("A8 S1 E2 each prompt begins with the one before it, whatever changes around it, also in another process", () => {
    const first = busy()
    tell(first, "Hello.", addGoal("Paint the boat."))
    overhear(first, "The ferry is late.")
    tell(first, "What now?", addGoal("Mend the net."))
    const prompts = first.scripted.prompts.map(contentsOf)
    const second = busy({ disk: first.disk })
    overhear(second, "The ferry has come.")
    tell(second, "And now?", "Well?")
    const all = [...prompts, ...second.scripted.prompts.map(contentsOf)]
    assert.strictEqual(all.length, 8)
    for (const [index, now] of all.entries()) {
      const before = all[index - 1]
      if (before !== undefined)
        assert.isTrue(isBeginning(before, now), `${index}: ${JSON.stringify([before, now], null, 1)}`)
    }
    const last = second.scripted.prompts.at(-1)
    assert.deepStrictEqual(
      ["Paint the boat", "Mend the net", "The ferry is late", "The ferry has come"].map((text) => count(last, text)),
      [1, 1, 1, 1]
    )
    assert.isTrue(last?.messages.every(({ content, role }) => !content.startsWith("# ") || role === "user"))
  })

  it("T1 a goal that has changed is shown again beside the event after it, and one that was reached has ended", () => {
    const life = busy()
    tell(life, addGoal("Paint the boat."), addGoal("Mend the net."), "Well?")
    const ids = [...new Set(JSON.stringify(life.scripted.prompts.at(-1)).match(/goal_\w+/g))]
    const update = (more: object) => `!update_goal ${JSON.stringify({ goal_id: ids[0], ...more })}`
    tell(life, update({ progress: 40 }), "And?", update({ status: "completed" }), "Well?")
    const shown = life.scripted.prompts.at(-1)?.messages.filter(({ content }) => content.startsWith("# Goals")) ?? []
    assert.deepStrictEqual(
      shown.map(({ content }) => content.split("\n").length),
      [2, 3, 3, 3]
    )
    assert.include(shown[2]?.content ?? "", "40%")
    assert.include(shown[3]?.content ?? "", `[${ids[0]}] is open no more`)
  })

  it("E1 it is no message: it is neither in the history nor found, and the report tells it apart", () => {
    const life = busy()
    overhear(life, "The ferry is late.")
    tell(life, "What now?", "And then?")
    assert.isFalse(life.messages().some(({ content }) => content.includes("ferry")))
    assert.strictEqual(rowsOf(life, "shown").length, 1)
    const reports = life
      .entries()
      .flatMap(({ step }) => (step?.kind === "infer" ? [step.detail?.["context"]] : [])) as unknown as ReadonlyArray<{
      readonly parts: ReadonlyArray<{ key: string }>
      readonly absent: ReadonlyArray<object>
    }>
    assert.deepStrictEqual(
      reports.map(({ parts }) => parts.some(({ key }) => key === "context_buffer")),
      [true, false]
    )
    assert.deepInclude(reports[1]?.absent ?? [], { key: "context_buffer", reason: "shown-before" })
  })

  it("E2 it leaves the window with its event, and what still holds is then shown again", () => {
    const life = live({
      model: folder().script,
      settings: { compactEnabled: true },
      definition: { ...small, compaction: { compactPreserveWindow: 4 } }
    })
    overhear(life, "The ferry is late.")
    for (let index = 0; index < 60 && compactions(life).length === 0; index++) tell(life, ship(index))
    assert.strictEqual(compactions(life).length, 1)
    tell(life, "And now?", "Well?")
    assert.strictEqual(count(life.scripted.prompts.at(-1), "The ferry is late."), 1)
    assert.strictEqual(rowsOf(life, "shown").length, 1)
  })

  it("H2 A8 a window whose beginning was cut off begins at the same message in another process", () => {
    const definition = { maxContextTokens: 900, reservedResponseTokens: 100 }
    const settings = { compactEnabled: false }
    const first = busy({ definition, settings, tools: [] })
    const isCut = () => !JSON.stringify(first.scripted.prompts.at(-1)).includes("day 0 ")
    for (let day = 0; day < 40 && (day < 2 || !isCut()); day++)
      tell(first, `It is day ${day} and the ferry was late again.`)
    assert.isTrue(isCut())
    tell(first, "And now?")
    const before = first.scripted.prompts.at(-1)
    const second = busy({ definition, settings, tools: [], disk: first.disk })
    tell(second, "Well?")
    const after = second.scripted.prompts[0]
    if (before === undefined || after === undefined) return assert.fail("both were asked")
    const lasting = contentsOf(before).filter((text) => !text.includes("<recalled_memories>"))
    assert.isTrue(isBeginning(lasting, contentsOf(after)))
  })
})
