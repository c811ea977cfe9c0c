// Judge: a thousand recorded ticks judged again, as they were and with another prompt.
// Owns the lives and what must cost nothing. Leaves what "the same" is to the fixtures of reverie/testing.
// J1  As they were: no call of the model and no token, and every answer is the recorded one.
// J2  With another prompt of one of two definitions, its ticks are asked, and nothing of the other's.

import { defineAssistant, defineFleet, defineTool, type FleetDefinition } from "reverie"
import {
  calls,
  defineEval,
  fixtureOf,
  fixtureTask,
  runEval,
  type ScriptedModel,
  scriptedModel,
  type TestFleet,
  testFleet,
  unchanged,
  usesAtMost
} from "reverie/testing"

const TICKS = 1_000
const SHORT_TICKS = 40
/** Short lives, for a fixture carries the whole life before its tick. Half of the ticks are one call, half are two. */
const TICKS_A_LIFE = 4
const CALLS_A_LIFE = 6
const USED = { inputTokens: 90, outputTokens: 10 }
const CHANGED = "desk"
const KEPT = "clerk"
/** Of computing, for recording and judging one tick once. */
const MOST_MS_A_TICK = 100

const find = defineTool({
  name: "find_berth",
  description: "Finds a berth.",
  input: { type: "object", properties: { ship: { type: "string" } } },
  run: ({ ship }) => `berth 7 for ${ship}`
})

const fleetOf = (instructions: string): FleetDefinition =>
  defineFleet({
    assistants: [
      defineAssistant({ id: CHANGED, instructions, tools: [find] }),
      defineAssistant({ id: KEPT, instructions: "You keep the list of ships.", tools: [find] })
    ]
  })

const answering = (): ScriptedModel =>
  scriptedModel(({ last }) => ({
    ...(last.startsWith("A berth") ? calls("find_berth", { ship: "Aurora" }) : { text: last }),
    usage: USED
  }))

const recorded = async (fleet: TestFleet, lives: number) => {
  const data: Array<{ readonly name: string; readonly input: string }> = []
  for (let life = 0; life < lives; life++) {
    for (const definition of [CHANGED, KEPT]) {
      const id = `${definition}-${life}`
      await fleet.create(id, definition)
      for (let tick = 1; tick <= TICKS_A_LIFE; tick++) {
        await fleet.answer(id, tick % 2 === 0 ? `A berth for the Aurora, ${tick}?` : `Berth ${tick}?`)
        data.push({ name: `${id} ${tick}`, input: JSON.stringify(await fixtureOf(fleet, id, tick)) })
      }
    }
  }
  return data
}

const cpuMsOf = async <Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> => {
  const before = process.cpuUsage()
  const result = await work()
  const { system, user } = process.cpuUsage(before)
  return [result, (system + user) / 1_000]
}

export const benchJudge = async (isShort: boolean) => {
  const ticks = isShort ? SHORT_TICKS : TICKS
  const lives = ticks / TICKS_A_LIFE / 2
  await using fleet = await testFleet(fleetOf("You keep the desk."), { model: answering() })
  const [data, recordMs] = await cpuMsOf(() => recorded(fleet, lives))
  const judged = (definition: FleetDefinition, model?: ScriptedModel) =>
    runEval(
      defineEval("again", {
        data,
        scorers: [unchanged(), usesAtMost({ tokens: 0, modelCalls: 0 })],
        task: fixtureTask({ fleet: definition, ...(model === undefined ? {} : { model }) })
      })
    )
  const [same, sameMs] = await cpuMsOf(() => judged(fleetOf("You keep the desk.")))
  const model = answering()
  const [other, otherMs] = await cpuMsOf(() => judged(fleetOf("You keep the desk. Be brief."), model))
  const costly = other.cases.filter(({ passed }) => !passed)
  const tokens = model.requests.length * (USED.inputTokens + USED.outputTokens)
  const targets = {
    "as they were, no tick costs a token and each says the same": same.passed && same.cases.length === ticks,
    "with another prompt, each tick of its assistant is asked":
      costly.length === ticks / 2 && model.requests.length === lives * CALLS_A_LIFE,
    "and no tick of the other assistant costs a token": costly.every(({ name }) => name.startsWith(CHANGED)),
    [`recording and judging a tick computes for at most ${MOST_MS_A_TICK} ms`]:
      (recordMs + Math.max(sameMs, otherMs)) / ticks <= MOST_MS_A_TICK
  }
  return {
    bench: "judge",
    ticks,
    cpuMsATick: { record: recordMs / ticks, asTheyWere: sameMs / ticks, anotherPrompt: otherMs / ticks },
    tokens: {
      asTheyWere: 0,
      anotherPrompt: tokens,
      ofAll: lives * 2 * CALLS_A_LIFE * (USED.inputTokens + USED.outputTokens)
    },
    targets,
    ok: Object.values(targets).every(Boolean)
  }
}
