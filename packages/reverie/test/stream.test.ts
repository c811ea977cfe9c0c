import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, Fleet, type FleetOptions, type Part, type PromiseModel } from "../src/index.ts"
import { all, gate } from "./rig.ts"
import { calling, look, modelOf, opened, refusingDig, type Turn, turn, two } from "./stream-rig.ts"

/** What stands on a screen: everything durable, a line each, and what is shown of the reply at hand. */
class Screen {
  readonly lines: Array<string> = []
  #text = ""
  #calls: Array<string> = []

  take(part: Part): void {
    switch (part.type) {
      case "text":
        this.#text += part.text
        return
      case "tool-call":
        this.#calls.push(`${part.call} ${part.tool} ${JSON.stringify(part.arguments)}`)
        return
      case "discarded":
        this.#text = ""
        this.#calls = []
        return
      case "usage":
        this.lines.push(`replied ${this.#text} [${this.#calls.join()}] ${part.inputTokens}`)
        this.#text = ""
        this.#calls = []
        return
      case "reasoning":
      case "tool-start":
      case "tool-arguments":
        return
      default:
        this.lines.push(JSON.stringify(part, (key, value: unknown) => (key === "approval" ? "apr" : value)))
    }
  }
}

describe("parts", () => {
  it("reasoning, text and calls come as they are made, in turns of the event loop; the reply is reported once", async () => {
    await using fleet = await opened(modelOf(calling("I look.", two), calling("Two ships.")))
    const parts = await all(fleet.ask("desk", "What is there?"))
    assert.deepStrictEqual(parts.slice(0, 7), [
      { type: "reasoning", text: "Hm. " },
      { type: "text", text: "I lo" },
      { type: "text", text: "ok." },
      { type: "tool-start", call: "1.1.0", tool: "look" },
      { type: "tool-arguments", call: "1.1.0", text: '{"berth":7}' },
      { type: "tool-call", call: "1.1.0", tool: "look", arguments: { berth: 7 } },
      {
        type: "usage",
        iteration: 1,
        model: "harbour",
        calls: 1,
        inputTokens: 3,
        cachedTokens: 0,
        outputTokens: 2,
        reasoningTokens: 0,
        costMicros: 0,
        unpricedCalls: 1
      }
    ])
    const end = parts.at(-1)
    assert.ok(end?.type === "done")
    assert.deepInclude(end.usage, { calls: 2, inputTokens: 6, outputTokens: 4, unpricedCalls: 2 })
  })

  it("what comes in one turn is one part: a token costs none of its own", async () => {
    const words = Array.from({ length: 500 }, (_, n) => `w${n} `)
    await using fleet = await opened(
      modelOf(({ onText }) => {
        for (const word of words) onText?.(word)
        return { text: words.join("") }
      })
    )
    const texts = (await all(fleet.ask("desk", "Speak."))).filter(({ type }) => type === "text")
    assert.deepStrictEqual(texts, [{ type: "text", text: words.join("") }])
  })

  it("a call that a hook refuses, one that a person denies, and one that is approved each say so", async () => {
    const asks = { tool: "sink", arguments: {} }
    await using fleet = await opened(
      modelOf(calling("", { tool: "dig", arguments: {} }), calling("", asks), calling("Well.")),
      { hooks: refusingDig }
    )
    const seen: Array<Part> = []
    for (const decide of ["deny", "approve"] as const) {
      for await (const part of fleet.ask("desk", "Sink it.")) {
        seen.push(part)
        if (part.type === "approval") await fleet[decide]("desk", part.approval)
      }
    }
    const told = seen.filter(({ type }) => ["tool-refused", "approval-decided", "tool-result"].includes(type))
    assert.deepStrictEqual(
      told.map((part) => ("approval" in part ? { ...part, approval: "" } : part)),
      [
        { type: "tool-refused", tool: "dig", call: "1.1.0", by: "hook", reason: "no digging" },
        { type: "approval-decided", approval: "", call: "1.2.0", decision: "denied" },
        { type: "tool-refused", tool: "sink", call: "1.2.0", by: "person", reason: "A person denied this call." },
        { type: "tool-refused", tool: "dig", call: "2.1.0", by: "hook", reason: "no digging" },
        { type: "approval-decided", approval: "", call: "2.2.0", decision: "approved" },
        { type: "tool-result", tool: "sink", call: "2.2.0", ok: true, content: "sunk" }
      ]
    )
    // What a hook may change is not shown before it has.
    assert.isFalse(seen.some(({ type }) => type === "tool-arguments"))
  })

  it("a task that is handed on begins and ends with the id of its sub-agent", async () => {
    const model: PromiseModel = {
      name: "harbour",
      infer: async ({ messages, callPrefix }) => {
        if (messages.some(({ content, role }) => role === "system" && content.includes("finish_task")))
          return "Nine ships."
        return callPrefix.endsWith(".1")
          ? { calls: [{ tool: "delegate_task", arguments: { task: "Count the ships" } }] }
          : "There are nine."
      }
    }
    await using fleet = await opened(model, { subAgents: {} })
    const parts = await all(fleet.ask("desk", "How many?"))
    const own = parts.filter(({ type }) => type.startsWith("sub-agent"))
    const [start] = own
    assert.ok(start?.type === "sub-agent-start")
    assert.deepStrictEqual(own, [
      { type: "sub-agent-start", id: start.id, call: "1.1.0", task: "Count the ships" },
      { type: "sub-agent-end", id: start.id, call: "1.1.0", end: "completed" }
    ])
    assert.isDefined(await fleet.inspect(start.id))
  })

  it("P2 what an attempt has shown is discarded before the next one shows anything; of several models too", async () => {
    const breaking: Turn = async ({ onText }, asked) => {
      onText?.(asked === 1 ? "Six is" : "Seven is free.")
      await turn()
      if (asked === 1) throw Object.assign(new Error("overloaded"), { statusCode: 503 })
      return { text: "Seven is free." }
    }
    const denied: PromiseModel = {
      name: "first",
      infer: async (_, { onText }) => {
        onText?.("I begin")
        await turn()
        throw Object.assign(new Error("no such key"), { statusCode: 401 })
      }
    }
    for (const model of [modelOf(breaking), [denied, modelOf(calling("Seven is free."))]] as const) {
      await using fleet = await opened(model as FleetOptions["model"])
      const parts = await all(fleet.ask("desk", "Which?"))
      const types = parts.map(({ type }) => type)
      assert.isAbove(types.indexOf("discarded"), types.indexOf("text"))
      const screen = new Screen()
      for (const part of parts) screen.take(part)
      assert.match(screen.lines[0] ?? "", /^replied Seven is free\. /)
    }
  })

  it("with a hook afterModel nothing is shown before it has seen the reply", async () => {
    const seeing = gate()
    const held = gate()
    await using fleet = await opened(modelOf(calling("The key is 1234.")), {
      hooks: {
        afterModel: async () => {
          seeing.open()
          await held.passed
          return { text: "It is hidden." }
        }
      }
    } as never)
    const parts: Array<Part> = []
    const reading = (async () => {
      for await (const part of fleet.ask("desk", "Tell.")) parts.push(part)
    })()
    await seeing.passed
    await turn()
    assert.deepStrictEqual(parts, [])
    held.open()
    await reading
    assert.deepStrictEqual(
      parts.map((part) => (part.type === "text" ? part.text : part.type)),
      ["It is hidden.", "usage", "done"]
    )
  })

  it("a secret is hidden in every part, also where it comes in pieces", async () => {
    const secret = "sk-live-abcdef-0123456789"
    const leaking: Turn = async ({ onCall, onReasoning, onText }, asked) => {
      for (const piece of ["It is sk-li", "ve-abcdef-01234", "56789, as I said, sk-li"]) {
        onText?.(piece)
        onReasoning?.(piece)
        if (asked === 1) onCall?.({ call: 0, tool: "look", arguments: piece })
        await turn()
      }
      return asked === 1
        ? { text: `It is ${secret}, as I said, sk-li`, calls: [{ tool: "look", arguments: { berth: secret } }] }
        : { text: "Done." }
    }
    await using fleet = await Fleet.open({
      data: ":memory:",
      model: modelOf(leaking),
      recall: { url: "http://127.0.0.1:9", apiKey: secret },
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "x", tools: [look] })] })
    })
    const parts = await all(fleet.ask("desk", "Tell."))
    const texts = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    assert.match(texts, /^It is \[redacted\], as I said, sk-li/)
    assert.isFalse(JSON.stringify(parts).includes("live-abcdef"))
  })

  it("P4 cut anywhere and taken up again at its place, nothing durable is reported twice or left out", async () => {
    const turns = [
      calling("I look.", two, { tool: "dig", arguments: {} }),
      calling("I ask.", { tool: "sink", arguments: {} }),
      calling("All is done.")
    ]
    await using fleet = await opened(modelOf(...turns), { hooks: refusingDig })
    fleet.on("approval-asked", ({ approval }) => void fleet.approve("desk", approval))
    const nameless = (lines: ReadonlyArray<string>) => lines.map((line) => line.replaceAll(/\b\d+(?=\.\d\.\d)/g, "N"))
    const whole = async (id: string) => {
      const screen = new Screen()
      for await (const part of fleet.ask("desk", "Go.", { id })) screen.take(part)
      return nameless(screen.lines)
    }
    const expected = await whole("whole")
    const count = (await all(fleet.ask("desk", "Go.", { id: "count" }))).length
    assert.isAbove(count, 20)
    for (const isLate of [false, true]) {
      for (let cut = 0; cut <= count; cut++) {
        const id = `cut-${cut}-${isLate}`
        const screen = new Screen()
        const parts = fleet.ask("desk", "Go.", { id, after: "" })
        let read = 0
        for await (const part of parts) {
          screen.take(part)
          if (++read >= cut) break
        }
        if (isLate) await fleet.idle()
        for await (const part of fleet.ask("desk", "Go.", { id, after: parts.place })) screen.take(part)
        assert.deepStrictEqual(nameless(screen.lines), expected, `cut behind part ${cut}${isLate ? ", late" : ""}`)
      }
    }
  })
})
