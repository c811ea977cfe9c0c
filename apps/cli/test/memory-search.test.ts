// `memory search`: what it narrows itself by, and what it shows of a hit, in a store and at a server.

import { join } from "node:path"
import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, Fleet, type Hit, memoryTools } from "reverie"
import { assert, describe, test } from "vitest"
import { said } from "./in-process.ts"
import { temporary } from "./command-line.ts"

type Fields = { readonly [key: string]: unknown }

describe("memory search", () => {
  test("F92 F119 memory search shows what a passage was put away with, in a store and at a server", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    const clerk = defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: memoryTools })
    await using fleet = await Fleet.open({ fleet: defineFleet({ assistants: [clerk] }), data, model: "offline" })
    const metadata = { berth: 9, source: "the harbour book" }
    await fleet.answer("clerk", `/store_memory ${JSON.stringify({ text: "Hansen prefers berth nine.", metadata })}`)
    await fleet.idle()
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      for (const where of [
        ["--data", data],
        ["--url", server.url]
      ]) {
        const search = ["memory", "search", "clerk", "Hansen berth", "--kind", "passage", ...where]
        const told = await said(search)
        assert.include(told.stdout, "berth: 9, source: the harbour book", told.stderr)
        const { hits } = JSON.parse((await said([...search, "--json"])).stdout) as { hits: ReadonlyArray<Fields> }
        assert.deepStrictEqual(hits[0]?.["metadata"], metadata)
      }
    } finally {
      await server.close()
    }
  })

  test("memory search narrows by time, trust, names and tags, in a store and at a server", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    const clerk = defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: memoryTools })
    await using fleet = await Fleet.open({ fleet: defineFleet({ assistants: [clerk] }), data, model: "offline" })
    const texts = {
      old: "The key of Nora hangs behind the barrel.",
      new: "The key of Olaf lies under the mat.",
      passage: "Hansen keeps a key."
    }
    await fleet.post("clerk", { type: "message", text: texts.old, at: Date.UTC(2026, 4, 21, 23, 30) }, { from: "Ann" })
    await fleet.post("clerk", { type: "message", text: texts.new, at: Date.UTC(2026, 4, 22, 6) }, { from: "Bob" })
    await fleet.idle()
    await fleet.answer("clerk", `/store_memory ${JSON.stringify({ text: texts.passage, tags: ["harbour", "keys"] })}`)
    await fleet.idle()
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      for (const where of [
        ["--data", data],
        ["--url", server.url]
      ]) {
        const found = async (...flags: ReadonlyArray<string>) => {
          const told = await said(["memory", "search", "clerk", "key", ...flags, "--json", ...where])
          const { hits = [] } = JSON.parse(told.stdout) as { hits?: ReadonlyArray<Hit> }
          return Object.values(texts).filter((text) => hits.some(({ entry }) => entry.text === text))
        }
        assert.deepStrictEqual(await found("--kind", "message", "passage"), Object.values(texts))
        assert.deepStrictEqual(await found("--until", "2026-05-21"), [texts.old])
        assert.deepStrictEqual(await found("--since", "2026-05-22", "--until", "2026-05-22"), [texts.new])
        assert.deepStrictEqual(await found("--kind", "message", "--min-trust", "1"), [])
        assert.deepStrictEqual(await found("--kind", "passage", "--tag", "boats", "--tag", "keys"), [texts.passage])
        assert.deepStrictEqual(await found("--kind", "passage", "--tag", "boats,harbour"), [texts.passage])
        assert.deepStrictEqual(await found("--kind", "passage", "--tag", "boats"), [])
        assert.deepStrictEqual(await found("--entity", "nora"), [texts.old])
        assert.deepStrictEqual(await found("--entity", "Nora, Pia", "--entity", "Olaf"), [texts.old, texts.new])
      }
      for (const [flag, value] of [
        ["--since", "soon"],
        ["--until", "2026-13-45"],
        ["--min-trust", "much"],
        ["--min-trust", "2"],
        ["--min-trust", ""],
        ["--tag", " , "]
      ] as const) {
        const told = await said(["memory", "search", "clerk", "key", flag, value, "--data", data])
        assert.strictEqual(told.code, 2, `${flag} ${value}`)
        assert.include(told.stderr, flag)
      }
    } finally {
      await server.close()
    }
  })
})
