// Lost segments: what HTTP tells of a life whose older part is missing in its place.

import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, test } from "vitest"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { openServer } from "../../src/index.ts"
import { aPath, askAt, type Loose } from "./rig.ts"

test("messages, calls and entries are read around it, and a page says what it lacks", async () => {
  const [data, apart] = [aPath(), aPath()]
  await using fleet = await Fleet.open({
    data,
    model: "offline",
    segments: { directory: apart },
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", retention: { archiveAfter: 1 } })]
    })
  })
  const files = () =>
    readdirSync(apart, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  const live = async () => {
    for (let each = 0; each < 35; each++) await fleet.send("desk", `Ship ${each} came in.`)
    await fleet.idle()
    await fleet.vacuum()
  }
  await live()
  const older = files()
  await live()
  rmSync(files().find((each) => !older.includes(each)) ?? "")
  await live()

  const server = await openServer({ fleet, port: 0, role: "all", tokens: [] })
  try {
    const ask = (path: string): Promise<Loose> =>
      askAt(server.port, `/v1/assistants/desk${path}`).then(({ json }) => json)
    const { lost: spans } = await ask("/entries?limit=200")
    const [{ from, reason, to }] = spans
    assert.match(reason, /^segment .* is missing in /)
    const numbers: Array<number> = []
    const told: Array<Loose> = []
    for (let next: number | null | undefined; next !== null;) {
      const page = await ask(`/messages?limit=40${next === undefined ? "" : `&before=${next}`}`)
      numbers.unshift(...page.items.map(({ no }: Loose) => no))
      told.push(...(page.lost ?? []))
      next = page.next
    }
    assert.isAtMost(Math.min(...numbers), 3)
    assert.isEmpty(numbers.filter((no) => no >= from && no <= to))
    assert.isNotEmpty(told)
    assert.deepStrictEqual(
      [Math.min(...told.map((span) => span.from)), Math.max(...told.map((span) => span.to))],
      [from, to]
    )
    assert.strictEqual(new Set(told.map((span) => span.from)).size, told.length)
    const points: Array<number> = []
    for (let next: number | null | undefined; next !== null;) {
      const page = await ask(`/contexts?limit=40${next === undefined ? "" : `&before=${next}`}`)
      points.push(...page.items.map(({ tick }: Loose) => tick))
      next = page.next
    }
    assert.isAtMost(points.at(-1) ?? Infinity, 3)
  } finally {
    await server.close()
  }
})
