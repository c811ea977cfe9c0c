// The fleet of one tree, which ticks on request: a line `{"each", "from"}` is a lap, and its cost is the answer.
// Owns nothing but its process. Leaves whose turn it is, and what comes of it, to tick-beside.ts.
// C1  The fleet, its definitions and everything below them are those of the tree that is named, whichever this file is of.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import type * as Reverie from "reverie"
import type * as Scene from "./scene.ts"
import { lap, play } from "./tick-laps.ts"

const [tree = "", url = "", concurrency = "32"] = process.argv.slice(2)
const from = async <A>(path: string): Promise<A> => (await import(pathToFileURL(join(tree, path)).href)) as A
const { Fleet } = await from<typeof Reverie>("packages/reverie/src/index.ts")
const { fleetOf, idsOf } = await from<typeof Scene>("test/bench/scene.ts")

const directory = await mkdtemp(join(tmpdir(), "reverie-bench-"))
const ids = idsOf(Number(concurrency))
const fleet = await Fleet.open({
  data: directory,
  fleet: fleetOf(ids),
  model: { baseURL: url, model: "bench", stream: false },
  durability: "full"
})
const say = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { each, from: first } = JSON.parse(line) as { readonly each: number; readonly from: number }
  say(await lap(() => play(fleet, ids, each, first)))
}
await fleet.close()
await rm(directory, { recursive: true, force: true })
