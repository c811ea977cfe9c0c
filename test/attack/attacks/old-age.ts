// An assistant that has lived long, beside a young one in the same server: what it hears costs no more.

import { readFileSync } from "node:fs"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import { seedLife } from "../../bench/age-life.ts"
import { type Sayings, zipfSayings } from "../../bench/age-sayings.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { old, young } from "../fleets/lifelong.ts"
import { judge, pause } from "../judge.ts"
import type { Scene, Server } from "../scene.ts"

const YOUNG_MESSAGES = 200
const ROUNDS = 3
/** About as many as there are between two compactions. */
const ROUND = 30
/** Twice is more than noise makes of it, and much less than any cost that grows with age. */
const MOST_RATIO = 2
const INDEXED_MILLIS = 120_000
const SETTLED_MILLIS = 120_000

/** A tick of the kernel's clock, in which it counts the CPU of processes. */
const CLOCK_MILLIS = 10

/** CPU that a process has used, threads included: utime and stime stand after its name in brackets. */
const cpuMillis = ({ pid }: Server): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_MILLIS
}

interface Found {
  readonly degraded?: string
  readonly items: ReadonlyArray<unknown>
}

/** Whether, in time, all of a life is found by its words, not only the newest. */
const indexed = async ({ client }: Server, assistant: string, first: string): Promise<boolean> => {
  const until = performance.now() + INDEXED_MILLIS
  while (performance.now() < until) {
    const path = `/v1/assistants/${assistant}/memory/recall?q=${encodeURIComponent(first)}&limit=20`
    const found = (await client.json(path).catch(() => undefined)) as Found | undefined
    if (found !== undefined && found.degraded === undefined && found.items.length > 0) return true
    await pause(250)
  }
  return false
}

const tell = async (
  server: Server,
  sayings: Sayings,
  assistant: string,
  from: number
): Promise<ReadonlyArray<Posted>> => {
  const posted: Array<Posted> = []
  for (let place = from; place < from + ROUND; place++) {
    const each = { assistant, id: `${assistant}-${place}` }
    if (await server.client.post(each, sayings.at(place).text)) posted.push(each)
  }
  return posted
}

interface Seen {
  readonly state: string
  readonly waiting: number
}

/** Whether nothing of what it was told is left to do. To judge would be to read all of its entries, by age. */
const settled = async ({ client }: Server, assistant: string): Promise<boolean> => {
  const until = performance.now() + SETTLED_MILLIS
  while (performance.now() < until) {
    // A server that is held up for so long does not answer in time.
    const seen = (await client.json(`/v1/assistants/${assistant}`).catch(() => undefined)) as Seen | undefined
    if (seen?.waiting === 0 && seen.state === "awake.idle") return true
    await pause(100)
  }
  return false
}

const median = (figures: ReadonlyArray<number>): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN

const tooSlow = (acknowledged: number, assistant: string): Finding => ({
  acknowledged,
  lost: 0,
  duplicated: 0,
  innocents: 0,
  checks: [{ says: `${assistant} has answered after ${SETTLED_MILLIS / 1_000} s`, ok: false }]
})

const aged = async (scene: Scene, messages: number): Promise<Finding> => {
  const sayings = zipfSayings()
  const store = storeSqliteLayer(scene.data, { durability: "normal" })
  const lives = [
    { definition: young, messages: YOUNG_MESSAGES },
    { definition: old, messages }
  ]
  for (const life of lives) await seedLife({ id: life.definition.id, sayings, now: Date.now(), ...life }, store)
  const server = await scene.serve({ fleet: "lifelong.ts", withModel: false })
  const { client } = server
  const areIndexed: Array<boolean> = []
  for (const { definition } of lives) areIndexed.push(await indexed(server, definition.id, sayings.at(3).text))
  if (!areIndexed.every(Boolean)) return tooSlow(0, "the index")
  const posted: Array<Posted> = []
  const costs = new Map<string, Array<number>>(lives.map(({ definition }) => [definition.id, []]))
  // The first round warms the code.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { definition } of lives) {
      const before = cpuMillis(server)
      const told = await tell(server, sayings, definition.id, messages + round * ROUND)
      if (!(await settled(server, definition.id))) return tooSlow(posted.length, definition.id)
      if (round > 0) costs.get(definition.id)?.push((cpuMillis(server) - before) / ROUND)
      posted.push(...told)
    }
  }
  const judged = await judge(client, posted)
  await server.stop()
  const [ofYoung, ofOld] = lives.map(({ definition }) => median(costs.get(definition.id) ?? [])) as [number, number]
  const checks: ReadonlyArray<Check> = [
    {
      says: `a tick after ${messages} messages costs at most ${MOST_RATIO} times one after ${YOUNG_MESSAGES}`,
      ok: ofOld <= MOST_RATIO * ofYoung,
      seen: `${ofOld.toFixed(1)} ms of CPU and ${ofYoung.toFixed(1)}`
    }
  ]
  return { ...judged, checks }
}

export const oldAge: ReadonlyArray<Attack> = [
  {
    name: "old-age",
    item: 5,
    says: "an assistant that has lived 30,000 messages (4,000 in the short form) hears more, beside a young one",
    isShort: true,
    run: (scene, { isShort }) => aged(scene, isShort ? 4_000 : 30_000)
  }
]
