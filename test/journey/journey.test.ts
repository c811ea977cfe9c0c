import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { collectSpans, type RecordedSpan } from "@reverie/testkit"
import { startModelServer } from "@reverie/testkit/model-server"
import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, defineTool, Fleet, type FleetOptions } from "reverie"

interface Row {
  readonly n: number
  readonly room: string
  readonly verb: string
  readonly span: string
}

/** The table "The walk of one event" of a map: its cells by the names of its columns. */
const walkOf = (map: string): ReadonlyArray<Row> => {
  const chapter = map.split(/^## /m).find((each) => /^[\d. ]*The walk of one event\n/.test(each)) ?? ""
  // The first table of the chapter: its lines stand together.
  const [table = ""] = /^\|.*(\n\|.*)*/m.exec(chapter) ?? []
  const [head = "", rule = "", ...lines] = table.split("\n")
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim())
  const columns = cells(head)
  if (!/^\|[-| ]+\|$/.test(rule) || !["n", "room", "verb", "span"].every((name) => columns.includes(name))) return []
  return lines.map((line) => {
    const row = Object.fromEntries(columns.map((name, index) => [name, cells(line)[index] ?? ""]))
    const span = /^`([^`]+)`$/.exec(row["span"] ?? "")?.[1] ?? ""
    return { n: Number(row["n"]), room: row["room"] ?? "", verb: row["verb"] ?? "", span }
  })
}

const MOST_MILLIS = 120_000

const map = readFileSync(resolve(import.meta.dirname, "../../ARCHITECTURE.md"), "utf8")
const walk = walkOf(map)
/** Around the verbs of an event stands the turn of work on it, a span of its assistant. */
const turns: ReadonlyArray<string> = ["invoke_agent desk", "invoke_agent colleague"]
const numbers = new Map(walk.map(({ n, span }) => [span, n]))

/**
 * One question is answered with a tool that writes to a colleague; the colleague answers the note. What the tool sent is
 * held back until the question is answered, so that the two walks stand one after the other.
 */
const oneEvent = async (
  where: Pick<FleetOptions, "data"> | Pick<FleetOptions, "deployment">
): Promise<ReadonlyArray<RecordedSpan>> => {
  const server = await startModelServer({
    script: ({ messages, tools }) =>
      messages.at(-1)?.role === "user" && tools.includes("pass")
        ? { calls: [{ tool: "pass", arguments: {} }] }
        : { text: "Done." }
  })
  const pass = defineTool({
    name: "pass",
    description: "Passes a note on to the colleague.",
    run: (_, { send }) => {
      send("colleague", "a note")
      return "passed"
    }
  })
  const answered = Promise.withResolvers<void>()
  const recording = collectSpans()
  try {
    await using fleet = await Fleet.open({
      ...where,
      tracing: recording.layer,
      model: { baseURL: server.url, model: "scripted" },
      // A sweep could find the assistant before its wake-up does: there is only the one of the beginning.
      worker: { sweepMs: 600_000 },
      faults: { at: (point) => (point === "before-deliver" ? Effect.promise(() => answered.promise) : Effect.void) },
      fleet: defineFleet({
        assistants: [
          defineAssistant({ id: "desk", instructions: "You run the desk.", tools: [pass] }),
          defineAssistant({ id: "colleague", instructions: "You help the desk." }),
          defineAssistant({ id: "early", instructions: "You are asked while the fleet begins." })
        ]
      })
    })
    const told = Promise.withResolvers<void>()
    fleet.on("tick-ended", ({ address }) => {
      if (address.assistant === "colleague") told.resolve()
    })
    // By now the sweep of the beginning is over: what it read was asked for long before.
    assert.strictEqual(await fleet.answer("early", "Are you there?"), "Done.")
    await fleet.idle()
    const begun = recording.spans.length
    assert.strictEqual(await fleet.answer("desk", "Tell the colleague, please."), "Done.")
    answered.resolve()
    await told.promise
    await fleet.idle()
    assert.deepStrictEqual(await fleet.monitor.totals(), { accepted: 3, settled: 3, dead: 0, discarded: 0 })
    assert.strictEqual(server.requests.length, 4)
    return recording.spans.slice(begun)
  } finally {
    answered.resolve()
    await server.close()
  }
}

describe("the map", () => {
  it("has the table, in order, each row a span of its room and verb", () => {
    assert.isAbove(walk.length, 0, "ARCHITECTURE.md has no table under The walk of one event")
    assert.deepStrictEqual(
      walk.map(({ n }) => n),
      walk.map((_, index) => index + 1)
    )
    for (const { room, span, verb } of walk) assert.strictEqual(span, `${room}.${verb}`)
    assert.strictEqual(numbers.size, walk.length)
  })

  it("is not found where it is not: no chapter, no table, no column of spans", () => {
    assert.deepStrictEqual(walkOf(""), [])
    assert.deepStrictEqual(walkOf(map.replace("The walk of one event", "The walk")), [])
    assert.deepStrictEqual(walkOf(map.replace("| span |", "| place |")), [])
  })
})

const onceEmbedded = async (): Promise<ReadonlyArray<RecordedSpan>> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-journey-"))
  try {
    return await oneEvent({ data })
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** What holds of the journey, whatever it is made on. */
const journeyOf = (go: () => Promise<ReadonlyArray<RecordedSpan>>): void => {
  let all: ReadonlyArray<RecordedSpan> = []
  let spans: ReadonlyArray<RecordedSpan> = []
  beforeAll(async () => {
    all = await go()
    spans = all.filter(({ name }) => !turns.includes(name))
  }, MOST_MILLIS)

  it("passes every room of the map, and no other", () => {
    assert.deepStrictEqual(
      [...new Set(spans.map(({ name }) => name))].toSorted(),
      walk.map(({ span }) => span).toSorted()
    )
    assert.isTrue(all.every(({ ok }) => ok))
  })

  it("stands in one turn of work for each event, from its first decision to its last commit (T1, T2)", () => {
    const [desk = "", colleague = ""] = turns
    assert.deepStrictEqual(
      all.filter(({ name }) => turns.includes(name)).map(({ name, parent }) => [name, parent]),
      [
        [desk, undefined],
        [colleague, undefined]
      ]
    )
    const within = (turn: string) => spans.filter(({ parent }) => parent === turn).map(({ name }) => numbers.get(name))
    assert.deepStrictEqual(within(desk), [4, 8, 5, 6, 4, 8, 7, 4, 8, 5, 6, 4, 8])
    assert.deepStrictEqual(within(colleague), [4, 8, 5, 6, 4, 8])
    for (const turn of turns)
      assert.strictEqual(all[all.findIndex(({ name }) => name === turn) - 1]?.name, "mailbox.claim")
  })

  it("goes from room to room in this order, from the question to the colleague's rest", () => {
    const arrival = [1, 2, 3]
    const decision = [4, 8]
    const inference = [5, 6]
    assert.deepStrictEqual(
      spans.map(({ name }) => numbers.get(name)),
      [
        [...arrival, ...decision],
        [...inference, ...decision],
        [7, ...decision],
        [...inference, ...decision],
        [9, ...arrival, ...decision],
        [...inference, ...decision]
      ].flat()
    )
  })

  it("is one trace each time, through the wake-up, the claim and what is sent on", () => {
    const idsOf = (name: string) => all.filter((span) => span.name === name).map(({ traceId }) => traceId)
    const [trace] = idsOf("mailbox.accept")
    assert.deepStrictEqual(idsOf("mailbox.claim"), [trace, trace])
    // The batch of a relay is of many traces: it is in none of them, and linked to each.
    const apart = all.filter(({ name, traceId }) => name !== "mailbox.claim" && traceId !== trace)
    assert.deepStrictEqual(
      apart.map(({ name }) => name),
      ["ledger.relay", "mailbox.accept", "queue.wake"]
    )
    const sent = all.filter(({ parent }) => parent === "ledger.relay")
    for (const { links } of sent)
      assert.deepStrictEqual(
        links.map(({ span }) => span.traceId),
        [trace]
      )
  })

  it("never turns back within a machine event: a job runs on, then its end is decided, then committed", () => {
    const places = spans.map(({ name }) => numbers.get(name) ?? Number.NaN)
    // A machine event is what happened since the last commit, and then the decision that brings the next one.
    const decide = numbers.get("assistant.decide") ?? 0
    const commit = numbers.get("ledger.commit") ?? 0
    const relay = numbers.get("ledger.relay") ?? 0
    let stretch: Array<number> = []
    const stretches = [stretch]
    for (const place of places) {
      const before = stretch.at(-1)
      if (before === commit || before === relay || (place === decide && before !== undefined && before > decide)) {
        stretches.push((stretch = []))
      }
      stretch.push(place)
    }
    for (const each of stretches)
      assert.deepStrictEqual(
        each,
        each.toSorted((a, b) => a - b)
      )
    // Every decision is followed by its commit before anything else begins.
    for (const [index, place] of places.entries()) if (place === decide) assert.strictEqual(places[index + 1], commit)
  })

  it("what an assistant sends is accepted within the relay, everything else within a turn or on its own", () => {
    const inTurns = new Set([4, 5, 6, 7, 8])
    for (const { name, parent } of spans) {
      if (inTurns.has(numbers.get(name) ?? 0)) assert.include(turns, parent, name)
      else if (parent !== undefined) assert.strictEqual(parent, "ledger.relay", name)
    }
    assert.deepStrictEqual(
      spans.filter(({ parent }) => parent === "ledger.relay").map(({ name }) => name),
      ["mailbox.accept", "queue.wake"]
    )
    assert.strictEqual(spans.find(({ name }) => name === "tools.execute")?.attributes.get("tool"), "pass")
  })
}

describe("the journey of one event", { timeout: MOST_MILLIS }, () => {
  journeyOf(onceEmbedded)
})

const redis = shareRedis()
const postgres = sharePostgres({ fsync: false })

postgres.describe("the journey of one event on PostgreSQL", () =>
  redis.describe("and BullMQ", () =>
    journeyOf(() =>
      oneEvent({
        deployment: { database: postgres.server().url, redis: redis.server().url, name: redis.server().prefix }
      })
    )
  )
)
