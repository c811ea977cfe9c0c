// Hostile servers: Redis whose keys are poisoned and emptied, PostgreSQL whose tables someone locks. Both were held before
// this lane existed, and have to go on being held.

import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import type { Attack, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { sendMany } from "../moves.ts"
import type { Scene, Server } from "../scene.ts"
import { type Deployment, lacking, onServers } from "../servers.ts"

const throughout = (
  scene: Scene,
  attack: (api: Server, deployment: Deployment, workers: ReadonlyArray<Server>) => Promise<ReadonlyArray<Posted>>
): Promise<Finding> =>
  onServers(scene, async (deployment) => {
    const api = await deployment.serve("api")
    const workers = [await deployment.serve("worker"), await deployment.serve("worker")]
    const posted = await attack(api, deployment, workers)
    const judged = await judge(api.client, posted, { withinMs: 90_000 })
    const ended = [api, ...workers].filter((each) => each.hasEnded()).length
    return {
      ...judged,
      checks: [
        { says: "messages were acknowledged", ok: posted.length >= 16, seen: `${posted.length}` },
        { says: "no process of the deployment ended", ok: ended === 0, seen: `${ended} ended` }
      ]
    }
  })

const redisCli = (url: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("redis-cli", ["-u", url, ...args], { encoding: "utf8" })

/** Every key becomes a text, whatever it was, and jobs that no one made are put into the queues. */
const poison = (url: string): number => {
  const keys = redisCli(url, "KEYS", "*").split("\n").filter(Boolean)
  for (const key of keys) redisCli(url, "SET", key, "poison")
  return keys.length
}

const poisonedRedis: Attack = {
  name: "poisoned-redis",
  item: 0,
  says: "every key of Redis is overwritten with a text, then all are removed, while messages come in",
  wants: lacking(["redis-cli"]),
  run: (scene) =>
    throughout(scene, async (api, { redis }, workers) => {
      const posted = [...(await sendMany(api, 8, "before", "hello", ["ann", "bob"]))]
      if (poison(redis) === 0) throw new Error("there was no key to poison")
      posted.push(...(await sendMany(api, 8, "poisoned", "hello", ["ann", "bob"])))
      await pause(2_000)
      redisCli(redis, "FLUSHALL")
      posted.push(...(await sendMany(api, 8, "emptied", "hello", ["ann", "bob", "cid"])))
      // The wake-ups of this one are given, and are gone before a worker has seen them: only its mail is left.
      for (const { pid } of workers) process.kill(pid, "SIGSTOP")
      posted.push(...(await sendMany(api, 4, "forgotten", "hello", ["dee"])))
      redisCli(redis, "FLUSHALL")
      for (const { pid } of workers) process.kill(pid, "SIGCONT")
      return posted
    })
}

/** Longer than the deadline of a statement. */
const LOCKED_SECONDS = 14

const lockedTables: Attack = {
  name: "locked-tables",
  item: 0,
  says: `someone locks the tables of PostgreSQL for ${LOCKED_SECONDS} s while messages come in`,
  wants: lacking(["psql"]),
  run: (scene) =>
    throughout(scene, async (api, { database }) => {
      const posted = [...(await sendMany(api, 8, "before"))]
      const sql = `BEGIN; LOCK TABLE ledger, assistants IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${LOCKED_SECONDS}); COMMIT`
      const locker = spawn("psql", [database, "-q", "-c", sql], { stdio: "ignore" })
      const unlocked = once(locker, "close") as Promise<[number | null]>
      await pause(500)
      const during = sendMany(api, 8, "locked")
      const [code] = await unlocked
      if (code !== 0) throw new Error(`psql ended with ${code}`)
      posted.push(...(await during), ...(await sendMany(api, 8, "after")))
      return posted
    })
}

export const hostileServers: ReadonlyArray<Attack> = [poisonedRedis, lockedTables]
