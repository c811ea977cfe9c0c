// ChartModel: what of the statechart is lit.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Machine } from "@reverie/server/api"
import { chart } from "reverie"
import { expect, test } from "vitest"
import { activeIds, nodeAt, roundedPath, takenBetween } from "../src/pages/live/chart.tsx"

const machine = JSON.parse(readFileSync(join(import.meta.dirname, "fixtures/machine.json"), "utf8")) as Machine
const overview = JSON.parse(
  readFileSync(join(import.meta.dirname, "fixtures/machine-overview.json"), "utf8")
) as Machine
const idOf = (path: string): string => nodeAt(machine, path)?.id ?? `no ${path}`

const waysOf = (from: string, to: string): ReadonlyArray<string> => {
  const taken = takenBetween(machine, from, to)
  return machine.edges.filter(({ id }) => taken.has(id)).map((edge) => `${edge.from} > ${edge.to}`)
}

test("the pictures are of this chart: `node apps/dashboard/test/write-pictures.ts` and `npm run format` renew them", () => {
  expect([machine.hash, overview.hash]).toEqual([chart().hash, chart().hash])
})

test("G1 the state and everything around it are active", () => {
  expect(activeIds(machine, "awake.thinking.inferring")).toEqual(
    new Set(["awake.thinking.inferring", "awake.thinking", "awake", ""].map(idOf))
  )
  expect(activeIds(machine, "nowhere")).toEqual(new Set())
})

test("G2 one step is one transition", () => {
  expect(waysOf("dreaming.consolidating", "dreaming.linking")).toEqual([
    `${idOf("dreaming.consolidating")} > ${idOf("dreaming.linking")}`
  ])
})

test("G2 a transition of a state around is found", () => {
  expect(waysOf("awake.acting.running", "halted")).toEqual([`${idOf("")} > ${idOf("halted")}`])
})

test("G2 what was passed through at once is lit too", () => {
  const ways = waysOf("awake.idle", "awake.thinking.inferring")
  expect(ways).toContain(`${idOf("awake.idle")} > ${idOf("awake.assessing")}`)
  expect(ways.length).toBeGreaterThan(1)
})

test("G2 where nothing was left nothing is lit", () => {
  expect(waysOf("awake.idle", "awake.idle")).toEqual([])
  expect(waysOf("awake.idle", "nowhere")).toEqual([])
})

test("H1 a way begins and ends where the server said", () => {
  const edge = machine.edges.find(({ points }) => points.length > 2)
  const path = roundedPath(edge?.points ?? [])
  expect(path.startsWith(`M ${edge?.points[0]?.x} ${edge?.points[0]?.y}`)).toBe(true)
  expect(path.endsWith(`${edge?.points.at(-1)?.x} ${edge?.points.at(-1)?.y}`)).toBe(true)
})
