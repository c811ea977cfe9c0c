import { assert, describe, it } from "@effect/vitest"
import { dynamic, pipeline, roundRobin, supervisor, type Team, type TeamMember, voting } from "@reverie/assistant"

import type { Script } from "@reverie/testkit"
import { sendMessage } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { aTool, calling, type Life, live } from "./rig.ts"
import { teamStateOn, TEAM_DUE } from "../src/jobs/team-records.ts"

const seat = (id: string, role: TeamMember["role"] = "member"): TeamMember => ({ id, role })

const aTeam = (over: Partial<Team> = {}): Team => ({
  id: "council",
  members: [seat("ada"), seat("bo"), seat("cy")],
  pattern: roundRobin(),
  answerMs: 60_000,
  maxAsks: 32,
  ...over
})

const lastOf: (prompt: Parameters<Script>[0]) => { readonly name?: string; readonly content: string } = ({
  messages
}) => messages.findLast(({ role }) => role === "user") ?? { content: "" }

/** Everybody echoes what they were asked. */
const echo: Script = (prompt) => Effect.succeed({ text: `re: ${lastOf(prompt).content}` })

/** What the team told of the answers to its askers. */
const told = (life: Life) =>
  life.told("emitted").flatMap(({ event }) => (event.type === "answered" ? [event as Record<string, unknown>] : []))

const heardBy = (life: Life, assistant: string): ReadonlyArray<string> =>
  life.messages(assistant).flatMap(({ content, name, role }) => (role === "user" ? [`${name}: ${content}`] : []))

const MEMBERS = ["ada", "bo", "cy"]

describe("a team at work", () => {
  it("T1 a question goes to a member and its answer back to the asker, in ticks without a model of the team's own", () => {
    const life = live({ assistants: MEMBERS, teams: [aTeam()], model: echo })
    life.say("One?", { id: "q1", to: "council" })
    life.say("Two?", { id: "q2", to: "council" })
    life.rest()
    assert.deepStrictEqual(heardBy(life, "ada"), ["assistant:council: One?"])
    assert.deepStrictEqual(heardBy(life, "bo"), ["assistant:council: Two?"])
    assert.sameDeepMembers(
      [...told(life)],
      [
        { type: "answered", envelope: "q1", outcome: "answered", text: "re: One?" },
        { type: "answered", envelope: "q2", outcome: "answered", text: "re: Two?" }
      ]
    )
    assert.strictEqual(life.scripted.prompts.length, 2)
    const steps = life.entries("council").flatMap(({ step }) => (step === undefined ? [] : [step.kind]))
    assert.deepStrictEqual(
      steps,
      Array.from({ length: 4 }, () => "coordinate")
    )
    assert.strictEqual(life.disk.sends.size, 0)
  })

  it("M1 an assistant that asked a team gets one answer, and what it says to it goes nowhere", () => {
    const ask = aTool("ask", {
      effect: (_, { send }) => Effect.sync(() => send("council", "Which berth?", { wantsAnswer: true }))
    })
    const life = live({
      assistants: ["desk", ...MEMBERS],
      teams: [aTeam()],
      tools: [ask],
      model: (prompt) =>
        lastOf(prompt).content === "Go." && prompt.messages.at(-1)?.role === "user"
          ? Effect.succeed(calling("ask"))
          : echo(prompt, 0)
    })
    life.say("Go.", { to: "desk" })
    life.rest()
    assert.deepStrictEqual(heardBy(life, "desk"), ["person:tester: Go.", "assistant:council: re: Which berth?"])
    assert.strictEqual(life.ends("council").length, 2)
  })

  it("C3 a member that is silent is late, and the team goes on with the next one", () => {
    const life = live({
      assistants: MEMBERS,
      teams: [aTeam()],
      model: (prompt, call) => (call === 1 ? Effect.never : echo(prompt, call))
    })
    life.say("One?", { id: "q1", to: "council" })
    life.until(
      () => life.disk.resident(life.address("council"))?.state.timers.some(({ name }) => name === TEAM_DUE) === true
    )
    life.pass(61_000)
    life.until(() => told(life).length > 0)
    assert.deepStrictEqual(told(life), [{ type: "answered", envelope: "q1", outcome: "answered", text: "re: One?" }])
    assert.deepStrictEqual(heardBy(life, "bo"), ["assistant:council: One?"])
    assert.deepStrictEqual(life.disk.resident(life.address("council"))?.state.timers, [])
  })

  it("who is halted is passed over, who has retired answers by its dead-lettering", () => {
    const life = live({ assistants: MEMBERS, teams: [aTeam()], model: echo })
    life.post({ type: "halt", reason: "drill" }, { to: "ada" })
    life.post({ type: "retire" }, { to: "bo" })
    life.rest()
    life.say("One?", { id: "q1", to: "council" })
    life.rest()
    assert.deepStrictEqual(heardBy(life, "cy"), ["assistant:council: One?"])
    assert.strictEqual(told(life)[0]?.["text"], "re: One?")
  })

  it("M1 a member that is retired over its answer has failed, and no one waits for the deadline", () => {
    // No one's model answers before ada has retired, no matter who is asked first.
    const life: Life = live({
      assistants: MEMBERS,
      teams: [aTeam()],
      model: (prompt, call) =>
        Effect.gen(function* () {
          while (life.status("ada") !== "retired") yield* Effect.sleep(100)
          return yield* echo(prompt, call)
        })
    })
    const began = life.time.now
    life.say("One?", { id: "q1", to: "council" })
    // Retired before the call is sent, it would leave the first one, which no one answers, to another member.
    life.until(() => life.scripted.prompts.length > 0)
    life.post({ type: "retire" }, { to: "ada" })
    life.until(() => told(life).length > 0)
    assert.isBelow(life.time.now - began, 60_000)
    assert.deepInclude(told(life)[0], { outcome: "answered", text: "re: One?" })
    const answers = life.entries("ada").flatMap(({ sends = [] }) => sends.map(({ event }) => event))
    assert.deepInclude(answers[0], { text: "The assistant was retired.", type: "message" })
    assert.deepStrictEqual(life.disk.resident(life.address("ada"))?.records.size, 0)
  })

  it("a member that does not exist is reported by the relay, and that is its answer", () => {
    const ghost = pipeline({ stages: [{ member: "ada", onFailure: "skip" }, { member: "bo" }] })
    const life = live({ assistants: ["bo"], teams: [aTeam({ pattern: ghost })], model: echo })
    life.say("One?", { id: "q1", to: "council" })
    life.rest()
    assert.strictEqual(told(life)[0]?.["text"], "re: One?")
  })

  it("M1 a member whose tick fails answers that it failed", () => {
    const life = live({
      assistants: MEMBERS,
      teams: [aTeam({ pattern: dynamic({ selector: "load" }) })],
      settings: { maxIterations: 1 },
      model: () => Effect.succeed({ text: "" })
    })
    life.say("@ada Well?", { id: "q1", to: "council" })
    life.rest()
    assert.deepInclude(told(life)[0], { outcome: "silent" })
  })

  it("real votes: ballots go out, answers are counted, and the asker learns of it", () => {
    const choices: Readonly<Record<string, string>> = {
      ada: "VOTE: yes",
      bo: "I think so.\nVOTE: Yes.",
      cy: "VOTE: no"
    }
    let asked = 0
    const life = live({
      assistants: MEMBERS,
      teams: [aTeam({ pattern: voting() })],
      model: (prompt) => {
        asked++
        const who = Object.keys(choices).find((id) => JSON.stringify(prompt).includes(`"assistant":"${id}"`))
        return Effect.succeed({ text: choices[who ?? ["ada", "bo", "cy"][asked - 1] ?? ""] ?? "" })
      }
    })
    life.say("Close the harbour?", { id: "q1", to: "council" })
    life.rest()
    assert.match(String(told(life)[0]?.["text"]), /^Decision: yes\.\nVotes: yes: 2 .*; no: 1 /)
  })

  it("observers overhear question and answer, without a tick of their own", () => {
    const team = aTeam({ members: [seat("ada"), seat("bo", "observer")] })
    const life = live({ assistants: ["ada", "bo"], teams: [team], model: echo })
    life.say("One?", { id: "q1", to: "council" })
    life.rest()
    assert.strictEqual(life.ends("bo").length, 0)
    assert.deepStrictEqual(
      life.settled("bo").map(({ outcome, reason }) => [outcome, reason]),
      [
        ["handled", 'ambient under the rule "assistant"'],
        ["handled", 'ambient under the rule "assistant"']
      ]
    )
  })

  it("a team of teams: the inner team answers the outer one", () => {
    const outer = aTeam({ id: "harbour", members: [seat("council")] })
    const life = live({ assistants: MEMBERS, teams: [aTeam(), outer], model: echo })
    life.say("One?", { id: "q1", to: "harbour" })
    life.rest()
    assert.includeDeepMembers(
      [...told(life)],
      [{ type: "answered", envelope: "q1", outcome: "answered", text: "re: One?" }]
    )
  })

  it("a supervisor's work goes out and comes back, and its open counts fall to nothing", () => {
    const team = aTeam({
      members: [seat("ada", "supervisor"), seat("bo"), seat("cy")],
      pattern: supervisor()
    })
    const life = live({
      assistants: MEMBERS,
      teams: [team],
      model: (prompt) => {
        const { content } = lastOf(prompt)
        if (content.startsWith("What came back")) return Effect.succeed({ text: `Done. ${content.split("\n")[1]}` })
        return content.includes("Your team:")
          ? Effect.succeed({ text: "@bo: count the ships\n@cy: read the tide" })
          : echo(prompt, 0)
      }
    })
    life.say("Report.", { id: "q1", to: "council" })
    life.rest()
    assert.strictEqual(told(life)[0]?.["text"], "Done. - bo: re: count the ships")
    const rows = [...(life.disk.resident(life.address("council"))?.records.values() ?? [])]
    const shown = new Map([["team", new Map(rows.map(({ key, value }) => [key, value]))] as const])
    assert.strictEqual(teamStateOn({ shown }).questions.size, 0)
  })

  it("T1 a crash at any commit of the team loses nothing and asks no one twice", () => {
    const points = ["before-commit", "after-commit", "after-claim", "before-deliver", "after-deliver"] as const
    let struckAtAll = 0
    for (const point of points) {
      for (let count = 1; count <= 12; count++) {
        let left = count
        const options = { assistants: MEMBERS, teams: [aTeam({ pattern: dynamic() })], model: echo }
        const first: Life = live({
          ...options,
          faults: {
            at: (at) =>
              Effect.suspend(() => {
                if (at === point && --left === 0) first.dead = true
                return first.dead ? Effect.never : Effect.void
              })
          }
        })
        const isSent = first.trySay("@all Where is the key?", { id: "q1", to: "council" })
        if (!first.dead) first.rest()
        const second = live({ ...options, disk: first.disk, startAt: first.time.now, assistants: [] })
        if (first.dead) {
          struckAtAll++
          if (!isSent) second.say("@all Where is the key?", { id: "q1", to: "council" })
          second.pass(40_000)
          second.rest()
        }
        for (const member of MEMBERS) {
          assert.deepStrictEqual(
            heardBy(second, member),
            ["assistant:council: @all Where is the key?"],
            `${point} ${count}`
          )
        }
        const entries = second.entries("council").flatMap(({ emitted = [] }) => emitted)
        assert.strictEqual(entries.length, 1, `${point} ${count}`)
        assert.strictEqual(second.disk.sends.size, 0)
      }
    }
    assert.isAbove(struckAtAll, 30)
  })
})

describe("send_message", () => {
  const directory = [
    { id: "ada", names: ["Countess"], seats: [{ group: "council", role: "member" as const }], isTeam: false },
    { id: "bo", names: ["Count"], seats: [{ group: "council", role: "member" as const }], isTeam: false },
    { id: "cy", names: ["Count"], seats: [], isTeam: false },
    { id: "council", names: [], seats: [], isTeam: true }
  ]

  const sending = (args: object): Life => {
    const life = live({
      assistants: ["ada", "bo", "cy"],
      teams: [aTeam()],
      directory,
      tools: [sendMessage],
      model: (prompt) =>
        prompt.messages.at(-1)?.content === "Go."
          ? Effect.succeed({ calls: [{ tool: "send_message", arguments: args as never }] })
          : echo(prompt, 0)
    })
    life.say("Go.", { to: "ada" })
    life.rest()
    return life
  }

  it("M1 reaches by name, by group and by role, itself left out", () => {
    assert.deepStrictEqual(heardBy(sending({ to: "bo", text: "hi" }), "bo"), ["assistant:ada: hi"])
    assert.deepStrictEqual(heardBy(sending({ to: "group:council", text: "hi" }), "council").slice(0, 1), [
      "assistant:ada: hi"
    ])
    const toRole = sending({ to: "role:member", text: "hi" })
    assert.deepStrictEqual(toRole.toolTexts("ada"), ['{"sent":["bo"]}'])
  })

  it("M1 an unknown target and a shared name are refused, with who can be reached", () => {
    assert.deepStrictEqual(JSON.parse(sending({ to: "zed", text: "hi" }).toolTexts("ada")[0] ?? ""), {
      sent: [],
      refused: "unknown",
      reason: 'nobody is reached as "zed"',
      reachable: ["bo", "cy", "group:council", "role:member"]
    })
    assert.deepStrictEqual(JSON.parse(sending({ to: "count", text: "hi" }).toolTexts("ada")[0] ?? ""), {
      sent: [],
      refused: "ambiguous",
      reason: '"count" is the name of 2: write to one of them by its id',
      reachable: ["bo", "cy"]
    })
  })

  it("M1 of correspondence: an answer that is expected comes back as a message", () => {
    assert.deepStrictEqual(heardBy(sending({ to: "bo", text: "hi", expect_answer: true }), "ada"), [
      "person:tester: Go.",
      "assistant:bo: re: hi"
    ])
  })
})
