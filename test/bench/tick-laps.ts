// Laps: ticks of a fleet that are played, and what they cost the process.
// Owns one lap, and the server that answers it. Leaves contestants and comparisons to the benchmarks.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Fleet } from "reverie"
import { question } from "./scene.ts"

export interface Lap {
  readonly millis: number
  readonly cpuMillis: number
}

export const lap = async (work: () => Promise<void>): Promise<Lap> => {
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  await work()
  const { system, user } = process.cpuUsage(cpu)
  return { millis: Number(process.hrtime.bigint() - start) / 1e6, cpuMillis: (system + user) / 1_000 }
}

/** Every assistant takes `each` messages, one after the other; all assistants at once. */
export const play = async (fleet: Fleet, ids: ReadonlyArray<string>, each: number, from: number): Promise<void> => {
  const waiting = new Map<string, () => void>()
  const stop = fleet.on("tick-ended", ({ envelope }) => {
    waiting.get(envelope)?.()
    waiting.delete(envelope)
  })
  const one = async (to: string) => {
    for (let index = 0; index < each; index++) {
      const id = `${to} ${from + index}`
      const ended = new Promise<void>((resolve) => waiting.set(id, resolve))
      await fleet.send(to, question(from + index), { id })
      await ended
    }
  }
  await Promise.all(ids.map(one))
  stop()
}

export const withServer = async <A>(work: (url: string) => Promise<A>): Promise<A> => {
  const main = join(import.meta.dirname, "../../packages/testkit/src/model-server/main.ts")
  const server = spawn(process.execPath, [main], { stdio: ["pipe", "pipe", "inherit"] })
  const [line] = (await once(server.stdout, "data")) as [Buffer]
  try {
    return await work((JSON.parse(line.toString()) as { readonly url: string }).url)
  } finally {
    server.kill()
  }
}
