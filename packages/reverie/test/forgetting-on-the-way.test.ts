// What is forgotten while one assistant sends it to another does not arrive there afterwards.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startModelServer } from "@reverie/testkit/model-server"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { defineAssistant, defineFleet, defineTool, Fleet, type FleetOptions } from "../src/index.ts"

const SECRET = "kestrel-9713"
const PATIENCE = 60_000

const pass = defineTool({
  name: "pass",
  description: "Passes a note on to the colleague.",
  run: (_, { send }) => {
    send("colleague", `The word is ${SECRET}.`)
    return "passed"
  }
})

const assistants = [
  defineAssistant({ id: "desk", instructions: "You run the desk.", tools: [pass] }),
  defineAssistant({ id: "colleague", instructions: "You help the desk." })
]

type Moment = "before-deliver" | "after-deliver"
type Where = Pick<FleetOptions, "data"> | Pick<FleetOptions, "deployment">

const serving = () =>
  startModelServer({
    script: ({ messages, tools }) =>
      tools.includes("pass") && messages.at(-1)?.role === "user" && JSON.stringify(messages.at(-1)).includes("Tell")
        ? { calls: [{ tool: "pass", arguments: {} }] }
        : { text: "Done." }
  })

/** A fleet that forgets while a note is held at a moment of its way; answers what can be forgotten of it again. */
const forgottenAt = async (moment: Moment, where: Where) => {
  const [held, goes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const at = (point: string) => {
    if (point !== moment) return Effect.void
    held.resolve()
    return Effect.promise(() => goes.promise)
  }
  const server = await serving()
  try {
    await using fleet = await Fleet.open({
      ...where,
      model: { baseURL: server.url, model: "scripted" },
      fleet: defineFleet({ assistants }),
      faults: { at }
    })
    await fleet.answer("desk", "Tell the colleague, please.")
    await held.promise
    const first = await fleet.forget({ text: SECRET })
    goes.resolve()
    await fleet.idle()
    const again = await fleet.forget({ text: SECRET }, { dryRun: true })
    return { first, again, told: await fleet.monitor.totals() }
  } finally {
    goes.resolve()
    await server.close()
  }
}

/** In memory; `onGet` is waited for before bytes are given. */
const aPlace = (onGet: () => Promise<void>) => {
  const kept = new Map<string, Uint8Array>()
  return {
    get: async (key: string) => {
      await onGet()
      return kept.get(key)
    },
    put: async (key: string, bytes: Uint8Array) => void kept.set(key, bytes),
    remove: async (keys: ReadonlyArray<string>) => keys.forEach((key) => kept.delete(key)),
    list: async (prefix: string) =>
      [...kept].filter(([key]) => key.startsWith(prefix)).map(([key, { length: bytes }]) => ({ key, bytes }))
  }
}

/** The note arrives after its recipient was looked through, and before its sender is rewritten. */
const forgottenBetween = async (data: string) => {
  const [held, goes, arrived] = [1, 2, 3].map(() => Promise.withResolvers<void>()) as [
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>
  ]
  let isForgetting = false
  const server = await serving()
  try {
    await using fleet = await Fleet.open({
      data,
      model: { baseURL: server.url, model: "scripted" },
      segments: aPlace(async () => {
        if (!isForgetting) return
        goes.resolve()
        await arrived.promise
      }),
      fleet: defineFleet({ assistants: assistants.map((each) => ({ ...each, retention: { archiveAfter: 1 } })) }),
      faults: {
        at: (point) => {
          if (point !== "before-deliver") return Effect.void
          held.resolve()
          return Effect.promise(() => goes.promise)
        }
      }
    })
    fleet.on("tick-ended", ({ address }) => {
      if (address.assistant === "colleague") arrived.resolve()
    })
    for (let each = 0; each < 40; each++) await fleet.send("desk", `Ship ${each}.`)
    await fleet.answer("desk", "Tell the colleague, please.")
    await held.promise
    await fleet.vacuum()
    isForgetting = true
    const first = await fleet.forget({ text: SECRET })
    isForgetting = false
    await fleet.idle()
    return { first, again: await fleet.forget({ text: SECRET }, { dryRun: true }) }
  } finally {
    for (const each of [goes, arrived]) each.resolve()
    await server.close()
  }
}

const assertForgotten = ({ again, first, told }: Awaited<ReturnType<typeof forgottenAt>>): void => {
  assert.isAbove(first.assistants, 0)
  assert.deepStrictEqual(again.gone, {}, "it is there again")
  // The note goes on, without its words: nothing that was counted is lost.
  assert.deepStrictEqual(told, { accepted: 2, settled: 2, dead: 0, discarded: 0 })
}

const moments = ["before-deliver", "after-deliver"] as const

describe("forgetting what is on its way", () => {
  it.each(moments)("in a data directory, %s: it arrives without its words", { timeout: PATIENCE }, async (moment) => {
    const data = await mkdtemp(join(tmpdir(), "reverie-way-"))
    try {
      assertForgotten(await forgottenAt(moment, { data }))
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

it("what arrives between two looks of it goes too", { timeout: PATIENCE }, async () => {
  const data = await mkdtemp(join(tmpdir(), "reverie-way-"))
  try {
    const { again, first } = await forgottenBetween(data)
    assert.strictEqual(first.assistants, 2, "the note did not arrive in between")
    assert.deepStrictEqual(again.gone, {})
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

const postgres = sharePostgres({ fsync: false })

postgres.describe("forgetting what is on its way", () => {
  it.each(moments)("on PostgreSQL, %s: it arrives without its words", { timeout: PATIENCE }, async (moment) => {
    const deployment = { database: postgres.server().url, name: `way-${moment}` }
    assertForgotten(await forgottenAt(moment, { deployment }))
  })
})
