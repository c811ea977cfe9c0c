// A million characters of every kind for two workers on PostgreSQL, whose leases last 5 s and whose model takes longer than
// that: a lease that is not renewed in time moves the work to the other worker, and a message is processed twice.

import { execFile } from "node:child_process"
import { promisify } from "node:util"
import type { ModelRequest, ScriptedReply } from "@reverie/testkit/model-server"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { cpuSeconds, tornTicks, untilRest } from "../measures.ts"
import { sendMany } from "../moves.ts"
import type { Scene, Server } from "../scene.ts"
import { type Deployment, lacking, onServers } from "../servers.ts"
import { spokenScript } from "../spoken.ts"
import { CHARACTERS, kinds } from "../texts.ts"

/** Longer than the lease of a worker that is one of many. */
const MODEL_MILLIS = 7_000
const AT_ONCE = 3
const TRIES = 3
const LOOK_MILLIS = 500
const REST_MILLIS = 180_000

const MARK = /#(a\d+)#/

const run = promisify(execFile)

/** Answers late, and counts how often each text was asked about. */
const slowCounting =
  (asked: Map<string, number>) =>
  (request: ModelRequest): ScriptedReply => {
    const last = request.messages.findLast(({ role }) => role === "user")
    const mark = MARK.exec(JSON.stringify(last?.content ?? ""))?.[1]
    if (mark !== undefined) asked.set(mark, (asked.get(mark) ?? 0) + 1)
    return { ...spokenScript(request), afterMillis: MODEL_MILLIS }
  }

/** Assistants seen with more than one claim since their last commit or release, while something runs. */
const lostLeases = async (database: string, during: Promise<unknown>) => {
  let isOver = false
  const over = during.finally(() => {
    isOver = true
  })
  const begun = performance.now()
  const found = new Map<string, string>()
  let looks = 0
  for (; !isOver; await pause(LOOK_MILLIS)) {
    const { stdout } = await run("psql", [database, "-Atqc", "SELECT id FROM assistants WHERE attempts > 1"])
    looks++
    for (const id of stdout.split("\n").filter(Boolean)) {
      if (!found.has(id)) found.set(id, `${id} after ${Math.round((performance.now() - begun) / 1_000)} s`)
    }
  }
  await over
  return { looks, found: [...found.values()] }
}

/** Sends one text of each kind, a few at once; answers what was acknowledged. */
const sendLong = async ({ client }: Server): Promise<ReadonlyArray<Posted>> => {
  const left = Object.values(kinds).map((text, index) => ({ assistant: `a${index}`, id: `long-${index}`, text }))
  const acknowledged: Array<Posted> = []
  const send = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { assistant, id, text } = next
      const said = `#${assistant}# ${text()}`.slice(0, CHARACTERS)
      // As clients do: under its id a message is accepted once, however often it is sent.
      for (let tries = 0, isSent = false; tries < TRIES && !isSent; tries++) {
        isSent = await client.post({ assistant, id }, said)
        if (isSent) acknowledged.push({ assistant, id })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  return acknowledged
}

const attack = async (scene: Scene, { database, serve }: Deployment): Promise<Finding> => {
  const asked = new Map<string, number>()
  scene.model.become({ script: slowCounting(asked) })
  const api = await serve("api")
  const workers = [await serve("worker"), await serve("worker")]
  const acknowledged = [...(await sendMany(api, 4, "before"))]
  const working = async (): Promise<number | undefined> => {
    acknowledged.push(...(await sendLong(api)), ...(await sendMany(api, 4, "after")))
    return untilRest(api.client, REST_MILLIS)
  }
  const begun = performance.now()
  const rest = working()
  const { found, looks } = await lostLeases(database, rest)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  const atRest = await rest
  const judged = await judge(api.client, acknowledged, { withinMs: 10_000 })
  const torn: Array<string> = []
  for (const { assistant, id } of acknowledged) {
    if (!id.startsWith("long")) continue
    if ((await tornTicks(api.client, assistant)) > 0) torn.push(assistant)
  }
  const count = Object.keys(kinds).length
  const again = [...asked].filter(([, calls]) => calls > 1).map(([mark, calls]) => `${mark}: ${calls}`)
  const cpu = workers.map(({ pid }) => Math.round(cpuSeconds(pid)))
  const spent = cpu.reduce((sum, each) => sum + each, 0)
  const checks: ReadonlyArray<Check> = [
    {
      says: "every text is acknowledged",
      ok: acknowledged.length === count + 8,
      seen: `${acknowledged.length} of ${count + 8}`
    },
    { says: "all come to rest", ok: atRest !== undefined, seen: `${seconds} s` },
    { says: "no lease is lost", ok: looks > 0 && found.length === 0, seen: `${found.join(", ")}; ${looks} looks` },
    { says: "no tick has changed hands in the middle", ok: torn.length === 0, seen: torn.join() },
    {
      says: "the model is asked once about each text",
      ok: asked.size === count && again.length === 0,
      seen: `${asked.size} of ${count}; ${again.join(", ")}`
    },
    {
      // A share, and not seconds: what a text costs changes with the code and the machine.
      says: "both workers have worked to the end, each at least a quarter",
      ok: spent >= 5 && cpu.every((each) => each >= spent / 4) && !workers.some((each) => each.hasEnded()),
      seen: `${cpu.join(" and ")} s of CPU`
    }
  ]
  return { ...judged, checks }
}

export const longTextsWorkers: ReadonlyArray<Attack> = [
  {
    name: "long-texts-workers",
    item: 6,
    says: `${CHARACTERS.toLocaleString("en")} characters of ${Object.keys(kinds).length} kinds for two workers on PostgreSQL whose model takes longer than their leases`,
    wants: lacking(["psql"]),
    run: (scene) => onServers(scene, (deployment) => attack(scene, deployment), { fleet: "crowd.ts" })
  }
]
