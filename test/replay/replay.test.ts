// The harbor day and a real conversation, told again from their ledgers: the same snapshots, and nobody is called.

import { existsSync, readFileSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import harbor from "@reverie/example-harbor"
import { defineAssistant, defineFleet, Fleet, type FleetDefinition, Peek, play, readScript } from "reverie"
import { afterAll, beforeAll } from "vitest"
import { type Counted, counted } from "./counted.ts"

/** How long to wait for what happens by itself: an approval that runs out, a short sleep. */
const PATIENCE_MILLIS = 5_000

const LIMIT = { timeout: 240_000 }

const root = resolve(import.meta.dirname, "../..")
// Real conversations stand beside the checkout, never in it. Without them that part says so and runs nothing.
const conversation = resolve(root, "../shared/data/locomo-dev/conv-26.jsonl")
const isHere = existsSync(conversation)
if (!isHere) console.warn(`a real conversation is not at ${conversation}: its replay does not run`)

interface Played extends Counted {
  readonly data: string
  readonly told: { readonly model: number; readonly tools: number }
}

const played = async (fleet: FleetDefinition, script: string): Promise<Played> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-replay-"))
  const all = counted(fleet)
  const { letters, problems } = readScript(script, all.fleet)
  assert.deepStrictEqual(problems, [])
  await using opened = await Fleet.open({ fleet: all.fleet, data, model: all.model, durability: "normal" })
  await play(opened, letters)
  await opened.rest(PATIENCE_MILLIS)
  return { ...all, data, told: { ...all.calls } }
}

/** Every assistant of a house verified twice: beside nobody, and in a fleet at rest. */
const assertSame = async ({ calls, data, fleet, model, told }: Played): Promise<number> => {
  let commits = 0
  await using opened = await Fleet.open({ fleet, data, model })
  const before = { tally: await opened.tally(), end: await opened.outboxEnd() }
  await using peek = await Peek.open(data)
  for (const { commits: version, id } of await opened.views()) {
    const verdict = await opened.verify(id)
    assert.deepInclude(verdict, {
      commits: version,
      equal: true,
      settings: "recorded",
      mismatches: [],
      differences: []
    })
    assert.deepInclude(verdict, { modelCalls: 0, toolCalls: 0, sends: 0, writes: 0 })
    assert.deepStrictEqual(verdict.replayed, verdict.stored)
    assert.deepStrictEqual(await peek.verify(id), verdict)
    const frames = await Array.fromAsync(opened.replay(id))
    assert.strictEqual(frames.length, version)
    assert.strictEqual(frames.at(-1)?.hash, verdict.stored.hash)
    commits += frames.length
  }
  assert.deepStrictEqual(calls, told)
  assert.deepStrictEqual({ tally: await opened.tally(), end: await opened.outboxEnd() }, before)
  return commits
}

describe("the harbor day", () => {
  let day: Played

  beforeAll(async () => {
    day = await played(harbor, await readFile(join(root, "examples/harbor/day.jsonl"), "utf8"))
  }, 120_000)

  afterAll(() => rm(day.data, { recursive: true, force: true }))

  it("told again gives the same snapshots, with no model call, no tool call and nothing written", LIMIT, async () => {
    assert.isAbove(day.told.model, 50)
    assert.isAbove(day.told.tools, 30)
    assert.isAbove(await assertSame(day), 250)
  })

  it("stops where it is told to, in pages and ranges", LIMIT, async () => {
    await using peek = await Peek.open(day.data)
    const asking = await Array.fromAsync(peek.replay("desk", { until: { status: "awake.awaitingApproval" } }))
    assert.deepInclude(asking.at(-1), { after: "awake.awaitingApproval", before: "awake.thinking.inferring" })
    assert.isTrue(asking.slice(0, -1).every(({ after }) => after !== "awake.awaitingApproval"))
    const third = await Array.fromAsync(peek.replay("desk", { until: { tick: 3, eventType: "approval" } }))
    assert.deepInclude(third.at(-1), { tick: 3, eventType: "approval" })
    const whole = await Array.fromAsync(peek.replay("desk"))
    const paged = []
    for (let from: number | undefined = 1; from !== undefined;) {
      const { frames, next } = await peek.replayPage("desk", { from, limit: 7 })
      assert.isAtMost(frames.length, 7)
      paged.push(...frames)
      from = next
    }
    assert.deepStrictEqual(paged, whole)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(whole)), whole)
    assert.deepStrictEqual(await Array.fromAsync(peek.replay("desk", { from: 5, to: 9 })), whole.slice(4, 9))
  })
})

describe.runIf(isHere)("a real conversation", () => {
  it("told again gives the same snapshots, with no model call, no tool call and nothing written", LIMIT, async () => {
    const listener = defineAssistant({ id: "friend", prompt: "You know both of them well.", maxContextTokens: 16_000 })
    const fleet = defineFleet({ assistants: [listener] })
    const lived = await played(fleet, readFileSync(conversation, "utf8"))
    try {
      assert.isAbove(lived.told.model, 400)
      assert.isAbove(await assertSame(lived), 800)
    } finally {
      await rm(lived.data, { recursive: true, force: true })
    }
  })
})
