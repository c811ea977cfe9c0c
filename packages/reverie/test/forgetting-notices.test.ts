// A life with every kind of notice: whatever is forgotten of it, it replays, and ids that Reverie made stay in what was told.

import { assert, describe, it } from "@effect/vitest"
import { type Notice, noticesOf } from "@reverie/protocol"
import { AnswerFailed, defineAssistant, defineTool, type Forgettable } from "../src/index.ts"
import {
  calls,
  refused,
  scriptedModel,
  testFleet,
  type TestFleet,
  unavailable,
  unusable
} from "../src/testing/index.ts"

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 5, 9)
const CANARY = "Marzipan"
const SAID = "The Marzipan of the harbour is late"

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: "Works.",
    input: { type: "object", properties: { what: { type: "string" } } },
    run: () => `${SAID} today.`,
    ...more
  })

const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  tools: [tool("look"), tool("dig"), tool("never"), tool("pay", { needsApproval: true })],
  toolRules: [{ type: "requires", tool: "never", prior: ["dig"] }],
  subAgents: {},
  settings: { approvalMs: 20 * MINUTE },
  hooks: {
    beforeTool: (call) => (call.tool === "dig" ? { refuse: `no digging: ${SAID}` } : undefined),
    afterModel: ({ text }) => (text.includes("withheld") ? { refuse: `${SAID}. It is not said.` } : undefined)
  }
})

const FORM = { type: "object", properties: { berth: { type: "string" } }, required: ["berth"] } as const

/** What a message asks the model for is in its first word. */
const model = () => {
  const met = new Set<string>()
  return scriptedModel(({ last, messages, purpose }) => {
    if (purpose !== "tick") return undefined
    const asked = messages.findLast(({ role }) => role === "user")?.content ?? ""
    const [, name] = /\b(?:call):(\w+)/.exec(asked) ?? []
    if (name !== undefined && last === asked)
      return calls(name, { [name === "delegate_task" ? "task" : "what"]: `${SAID}, look for it.` })
    if (asked.includes("both:") && last === asked) return { calls: [{ tool: "dig" }, { tool: "pay" }] }
    const isFirst = !met.has(asked)
    met.add(asked)
    if (asked.includes("away:") && isFirst) return unavailable(`no route: ${SAID}`)
    if (asked.includes("broken:") && isFirst) return unusable(`no answer: ${SAID}`)
    if (asked.includes("dead:")) return refused(`filtered: ${SAID}`)
    if (asked.includes("form:")) return JSON.stringify({ berth: SAID })
    if (asked.includes("withheld:")) return `It is withheld: ${SAID}.`
    return `So it is: ${SAID}.`
  })
}

const live = async (fleet: TestFleet): Promise<void> => {
  const say = async (what: string): Promise<void> => {
    await fleet.send("desk", `${what} ${SAID}.`, { from: "eve" })
    await fleet.idle()
  }
  for (const name of ["look", "dig", "never", "delegate_task"]) await say(`call:${name}`)
  for (const decide of ["approve", "deny", "wait"] as const) {
    await say("call:pay")
    const [asked] = await fleet.approvals.list("desk")
    if (decide === "wait") await fleet.clock.advance("30m")
    else await fleet[decide]("desk", asked?.approval ?? "", { from: "ben", note: `${SAID}.` })
    await fleet.idle()
  }
  await fleet.answer("desk", `form: ${SAID}.`, { from: "eve", output: FORM })
  const misfits = fleet.answer("desk", `plain: ${SAID}.`, { from: "eve", output: FORM })
  await misfits.catch((error: unknown) => assert.instanceOf(error, AnswerFailed))
  for (const what of ["withheld:", "broken:", "dead:"]) await say(what)
  await fleet.clock.advance("10m")
  await fleet.halt("desk", `${SAID}.`, { from: "eve" })
  await fleet.idle()
  await fleet.resume("desk")
  await fleet.reminders.set("desk", "tide", { inMs: MINUTE, note: `${SAID}.` }, { from: "eve" })
  await fleet.clock.advance("5m")
  await fleet.compactions.run("desk")
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.wake("desk")
  await say("away:")
}

const ways: Readonly<Record<string, Forgettable>> = {
  person: { person: "eve" },
  topic: { topic: SAID },
  text: { text: CANARY },
  message: { messages: ["m/2/0"], assistant: "desk" },
  "span of time": { since: START - MINUTE, until: START + 600 * MINUTE }
}

/** What Reverie has made in a notice: none of it is anyone's. */
const madeIn = ({ type, ...notice }: Notice) => {
  const { approval, call, envelope, id, recovery, tool: name } = notice as { readonly [name: string]: unknown }
  // That a call was refused is said by its result, which is forgotten.
  return { type: type === "tool-refused" ? "tool-finished" : type, approval, call, envelope, id, recovery, tool: name }
}

const KINDS = [
  "approval-asked",
  "approval-decided",
  "created",
  "emitted",
  "envelope-settled",
  "model-failed",
  "model-replied",
  "state-changed",
  "step-finished",
  "step-skipped",
  "sub-agent-ended",
  "sub-agent-started",
  "tick-ended",
  "tick-started",
  "tool-finished",
  "tool-refused"
]

describe("forgetting in a life with every kind of notice", () => {
  for (const [way, what] of Object.entries(ways)) {
    for (const isAway of [true, false]) {
      it(`U1 U2 of a ${way} it replays${isAway ? ", while the model is away" : ""}`, async () => {
        await using fleet = await testFleet(desk, { model: model() })
        await live(fleet)
        if (!isAway) await fleet.clock.advance("1h")
        const entries = () => fleet.history.entries("desk", 1, 1_000)
        const notices = async () =>
          (await entries()).flatMap(({ address, entry, seq }) => noticesOf(address, seq, entry))
        const before = await notices()
        assert.deepStrictEqual([...new Set(before.map(({ type }) => type))].toSorted(), KINDS)
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [] })
        await fleet.clock.advance("1s")
        await fleet.forget(what)
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [], differences: [] })
        const after = await notices()
        assert.deepStrictEqual(after.map(madeIn), before.map(madeIn))
        if (way !== "message") assert.notInclude(JSON.stringify(await entries()), CANARY)
        await fleet.clock.advance("1h")
        await fleet.answer("desk", "Good morning.", { from: "ben" })
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [], differences: [] })
      })
    }
  }

  for (const how of ["call:dig", "both:", "away:", "broken:"]) {
    for (const text of [CANARY, "harbour"]) {
      it(`U1 of the text ${text} it replays, right after ${how}`, async () => {
        await using fleet = await testFleet(desk, { model: model() })
        await fleet.send("desk", `${how} ${SAID}.`, { from: "eve" })
        await fleet.idle()
        await fleet.clock.advance("1s")
        await fleet.forget({ text })
        assert.notInclude(JSON.stringify(await fleet.history.entries("desk", 1, 1_000)), text)
        assert.notInclude(JSON.stringify(await fleet.inspect("desk")), text)
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [], differences: [] })
        await fleet.clock.advance("1h")
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [], differences: [] })
      })
    }
  }
})
