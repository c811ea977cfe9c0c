import { assert, describe, it } from "@effect/vitest"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { LifeOptions } from "./rig.ts"
import { acting, CHILD, contextIn, delegate, isChild, MAY, office, replies, reported, said, sound } from "./office.ts"

describe("sub-agents", () => {
  it("F36 A35 a task is handed on, done by an assistant of its own, and its report answers the call", () => {
    const life = office({
      model: acting([delegate({ task: "Count the ships" }), said("Nine.")], [said("There are 9.")])
    })
    life.say("How many?")
    life.rest()
    assert.strictEqual(life.status(CHILD), "retired")
    assert.deepStrictEqual(
      life.messages(CHILD).map(({ content, name }) => [name, content]),
      [
        ["assistant:ada", "Count the ships"],
        [undefined, "There are 9."]
      ]
    )
    assert.deepInclude(reported(life), { success: true, end: "completed", summary: "There are 9." })
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "Nine." })
    const { account, subAgents } = contextIn(life)
    assert.deepInclude(account, { out: {}, spent: { tokens: 350, costMicros: 0, calls: 1 } })
    assert.deepInclude(subAgents[0], { phase: "completed", tries: 1 })
    sound(life)
  })

  it("F36 they are offered, and handed on to, only where both layers allow them", () => {
    const offered = (settings: LifeOptions["settings"]) => {
      const life = office({ ...(settings === undefined ? {} : { settings }), model: acting([said("ok")], []) })
      life.say("Hello")
      life.rest()
      return life.scripted.prompts[0]?.tools.map(({ name }) => name) ?? []
    }
    assert.include(offered(MAY), "delegate_task")
    assert.notInclude(offered({}), "delegate_task")
    const life = office({ settings: {}, model: acting([delegate({ task: "x" }), said("ok")], []) })
    life.say("Try it")
    life.rest()
    assert.deepInclude(reported(life), { success: false, error: "sub_agents_not_allowed", what: "permission" })
    assert.strictEqual(life.disk.residents.size, 1)
  })

  it("A35 a full budget is refused in words the model can act on, and no one is created", () => {
    const life = office({
      settings: { ...MAY, subAgentBudget: 1 },
      model: acting([delegate({ task: "one" }, { task: "two" }), said("ok")], [said("done")])
    })
    life.say("Go")
    life.rest()
    const full = [reported(life, "1.1.0"), reported(life, "1.1.1")].find(({ success }) => success === false)
    assert.deepInclude(full, { error: "sub_agents_full", what: "concurrent", limit: 1, left: 0 })
    assert.match(String(full?.["instead"]), /cancel_task/)
    assert.strictEqual(life.disk.residents.size, 2)
  })

  it("finish_task carries summary, output, artefacts and follow-up home", () => {
    const finish = { summary: "Found it.", output: "At pier 3", artefacts: ["map-1"], follow_up: ["Look again"] }
    const life = office({
      model: acting(
        [delegate({ task: "Find it" }), said("ok")],
        [{ calls: [{ tool: "finish_task", arguments: finish }] }]
      )
    })
    life.say("Where?")
    life.rest()
    assert.deepInclude(reported(life), finish)
  })

  it("a sub-agent has no tool its parent lacks, and none for tasks of its own unless depth is left", () => {
    const tools = (settings: LifeOptions["settings"]) => {
      const life = office({
        settings: { ...MAY, ...settings },
        model: acting([delegate({ task: "x" }), said("ok")], [said("done")])
      })
      life.say("Go")
      life.rest()
      return life.scripted.prompts.find(isChild)?.tools.map(({ name }) => name)
    }
    assert.sameMembers(tools({}) ?? [], ["look", "finish_task", "noop"])
    assert.includeMembers(tools({ subAgentDepth: 2 }) ?? [], ["delegate_task", "finish_task"])
  })

  it("insulation: how much of the parent's mind goes along", () => {
    const first = (insulation: string) => {
      const life = office({
        model: acting([delegate({ task: "Count", insulation }), said("ok")], [said("done")]),
        definition: { persona: "You are gruff." }
      })
      life.say("The secret word is plum.")
      life.rest()
      const prompt = life.scripted.prompts.find(isChild)
      const system = prompt?.messages
        .filter(({ role }) => role === "system")
        .map(({ content }) => content)
        .join("\n")
      return { task: life.messages(CHILD)[0]?.content ?? "", system: system ?? "" }
    }
    const alone = first("orchestrator")
    assert.strictEqual(alone.task, "Count")
    assert.notInclude(alone.system, "You are under test.")
    assert.notInclude(alone.system, "gruff")
    const own = first("delegate")
    assert.notInclude(own.task, "plum")
    assert.include(own.system, "gruff")
    const open = first("none")
    assert.include(open.task, "plum")
    assert.match(open.task, /Your task: Count$/)
  })

  it("a hard deadline ends it, and what it says it spent is all that counts", () => {
    const life = office({
      settings: { ...MAY, subAgentMs: 10_000 },
      model: acting([delegate({ task: "Sleep" }), said("ok")], [Effect.as(Effect.sleep(60_000), said("too late"))])
    })
    life.say("Go")
    life.rest()
    assert.deepInclude(reported(life), { success: false, end: "cancelled", reason: "its time is over" })
    assert.strictEqual(life.status(CHILD), "retired")
    // The call was under way: all that was reserved for it is spent.
    assert.deepInclude(contextIn(life).account?.spent, { calls: 1 })
    assert.isAbove(contextIn(life).account?.spent.tokens ?? 0, 1_000)
    sound(life)
  })

  it("one that does not answer in time counts as spent whole; its late report is kept and changes nothing", () => {
    const life = office({
      settings: { ...MAY, subAgentMs: 10_000, subAgentGraceMs: 5_000 },
      model: acting(
        [delegate({ task: "Sleep", tokens: 9_000 }), said("ok")],
        [Effect.as(Effect.sleep(40_000), said("at last"))]
      ),
      // What it is asked to do never comes to the ears of the sub-agent.
      store: (store) => ({
        ...store,
        mailbox: {
          ...store.mailbox,
          pending: (address, lanes, limit) =>
            Effect.map(store.mailbox.pending(address, lanes, limit), (waiting) =>
              address.assistant === CHILD ? waiting.filter(({ lane }) => lane !== "control") : waiting
            )
        }
      })
    })
    life.say("Go")
    life.until(() => life.status(CHILD) === "awake.thinking.inferring")
    life.pass(20_000)
    assert.match(life.answerTo("1.1.0"), /did not say how it ended/)
    assert.strictEqual(contextIn(life).account?.spent.tokens, 9_000)
    life.pass(60_000)
    assert.deepInclude(life.settled().at(-1), { outcome: "ignored" })
    assert.strictEqual(contextIn(life).account?.spent.tokens, 9_000)
  })

  it("no orphan: an assistant that retires takes everybody below along, those being created among them", () => {
    for (const passed of [0, 1, 5, 50, 500, 5_000]) {
      const life = office({
        settings: { ...MAY, subAgentDepth: 2 },
        model: acting(
          [delegate({ task: "a" }, { task: "b" }), said("ok")],
          [delegate({ task: "deeper" }), said("done")]
        )
      })
      life.say("Go")
      life.pass(passed)
      life.post({ type: "retire", reason: "enough" })
      life.rest()
      for (const { address, state } of life.disk.residents.values()) {
        assert.strictEqual(state.status, "retired", `${address.assistant} after ${passed}`)
      }
      assert.isEmpty(Object.keys(contextIn(life).account?.out ?? {}))
      sound(life)
    }
  })

  it("J3 a sub-agent whose creation is under way when its parent retires is found by the order", () => {
    const created: Array<string> = []
    const life = office({
      model: acting([delegate({ task: "a" }), said("ok")], [said("done")]),
      // A store that has begun to create goes on to the end, whatever becomes of the one that asked.
      store: (store) => ({
        ...store,
        ledger: {
          ...store.ledger,
          create: (creation) =>
            store.ledger.create(creation).pipe(
              Effect.delay(5_000),
              Effect.tap((outcome) => Effect.sync(() => created.push(outcome))),
              Effect.uninterruptible,
              Effect.forkDetach,
              Effect.flatMap(Fiber.join)
            )
        }
      })
    })
    life.say("Go")
    life.pass(1_000)
    life.post({ type: "retire", reason: "enough" })
    life.rest()
    assert.deepStrictEqual(created, ["created", "exists"])
    assert.deepStrictEqual([life.status(), life.status(CHILD)], ["retired", "retired"])
    sound(life)
  })

  it("a halt goes through the subtree, and so does what ends it", () => {
    const life = office({
      model: acting([delegate({ task: "a" }), said("ok")], [Effect.as(Effect.sleep(30_000), said("done"))])
    })
    life.say("Go")
    life.until(() => life.status(CHILD) === "awake.thinking.inferring")
    life.post({ type: "halt", reason: "drill" })
    life.pass(1_000)
    assert.deepStrictEqual([life.status(), life.status(CHILD)], ["halted", "halted"])
    life.post({ type: "resume" })
    life.rest()
    assert.deepStrictEqual([life.status(), life.status(CHILD)], ["awake.idle", "retired"])
    assert.deepInclude(reported(life), { end: "completed" })
  })

  it("supervision: one that fails is sent again, as someone else with a new grant, as often as the policy says", () => {
    const broken = { recovery: "stop" }
    let tries = 0
    const model: Script = (prompt) => {
      if (!isChild(prompt)) return Effect.succeed(replies(prompt) === 0 ? delegate({ task: "x" }) : said("ok"))
      tries++
      return tries < 3 ? (Effect.die(broken) as never) : Effect.succeed(said("at last"))
    }
    const life = office({ settings: { ...MAY, subAgentRetries: 2, maxErrors: 1 }, model })
    life.say("Go")
    life.rest()
    assert.deepInclude(reported(life), { success: true, summary: "at last" })
    assert.deepStrictEqual(
      [CHILD, `${CHILD}#2`, `${CHILD}#3`].map((id) => life.status(id)),
      ["retired", "retired", "retired"]
    )
    sound(life)
  })

  it("given up: the model is asked not to hand it on again", () => {
    const model: Script = (prompt) =>
      isChild(prompt)
        ? (Effect.die("broken") as never)
        : Effect.succeed(replies(prompt) === 0 ? delegate({ task: "x" }) : said("ok"))
    const life = office({ settings: { ...MAY, subAgentGiveUp: true, maxErrors: 1 }, model })
    life.say("Go")
    life.rest()
    assert.match(life.answerTo("1.1.0"), /given up/)
  })

  it("an order from outside hands a task on as well, and is refused in words", () => {
    const life = office({ model: acting([], [said("done")]) })
    life.post({ type: "delegate", task: "Count" }, { id: "order-a" })
    life.rest()
    const [line] = contextIn(life).subAgents
    assert.deepInclude(line, { phase: "completed" })
    assert.strictEqual(life.disk.residents.size, 2)
    const poor = office({ settings: {}, model: acting([], [said("done")]) })
    poor.post({ type: "delegate", task: "Count" }, { id: "order-a" })
    poor.rest()
    assert.match(String(poor.settled()[0]?.reason), /sub_agents_not_allowed/)
    assert.strictEqual(poor.disk.residents.size, 1)
  })

  it("a sub-agent receives its task and nothing else; a report from a stranger changes nothing", () => {
    const life = office({
      model: acting([delegate({ task: "a" }), said("ok")], [Effect.as(Effect.sleep(5_000), said("done"))])
    })
    life.say("Go")
    life.until(() => life.status(CHILD) === "awake.thinking.inferring")
    life.say("Do something else", { to: CHILD, id: "other" })
    const spent = { tokens: 1, costMicros: 0, calls: 1 }
    const assignment = { end: "completed", cut: false, summary: "ha", artefacts: [], followUp: [], spent } as const
    life.post({ type: "report", outcome: "reported", content: "ha", assignment }, { from: "assistant:eve" })
    life.post({ type: "report", call: "1.1.0", outcome: "reported", content: "ha" }, { from: "eve" })
    life.rest()
    assert.deepInclude(reported(life), { summary: "done" })
    assert.deepStrictEqual(life.settled().filter(({ outcome }) => outcome === "ignored").length, 2)
    assert.notInclude(
      life.messages(CHILD).map(({ content }) => content),
      "Do something else"
    )
  })

  it("cancel_task ends one that no one waits for, task_status tells of it", () => {
    const life = office({
      model: acting(
        [
          { calls: [{ tool: "task_status" }] },
          { calls: [{ tool: "cancel_task", arguments: { call: "" } }] },
          said("ok")
        ],
        [Effect.never]
      ),
      settings: { ...MAY, maxIterations: 5 }
    })
    life.post({ type: "delegate", task: "Count" }, { id: "order-a" })
    life.until(() => life.disk.residents.size === 2)
    const [line] = contextIn(life).subAgents
    life.say("What is open?")
    life.pass(10_000)
    assert.include(life.toolTexts()[0] ?? "", line?.call ?? "?")
  })
})
