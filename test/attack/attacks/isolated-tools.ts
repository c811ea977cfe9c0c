// Isolated tools that loop for ever, use up memory, exit and kill themselves, while neighbours are answered.

import { readdirSync, readFileSync } from "node:fs"
import type { Attack, Check } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { NEIGHBOURS, until, wordsOf } from "../neighbours.ts"
import type { Server } from "../scene.ts"

const harms: ReadonlyArray<readonly [harm: string, told: RegExp]> = [
  ["add", /two and two are four, says desk/],
  ["spin", /"harm" gave no answer within 3 s and was stopped/],
  ["hog_heap", /"harm" failed: its process (broke off|was ended).* 64 MB/],
  ["hog_buffers", /"harm" failed: its process was ended: it used more than the 64 MB/],
  ["leave", /"harm" failed: its process ended with exit code 0 before it had answered/],
  ["kill", /"harm" failed: its process was ended by SIGKILL before it had answered/]
]

/** Processes of isolated tools that this server has started and that still live. */
const livingTools = (server: Server): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
      return Number(parent) === server.pid ? [Number(pid)] : []
    } catch {
      return []
    }
  })

/** A process that has ended and that no one has asked about yet is a line in a table only. */
const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** What should not be there any more is not left behind either. */
const end = (pids: ReadonlyArray<number>): void => {
  for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL")
}

/** Messages to neighbours while the harm is done, each with how long it took to be acknowledged. */
const talkOn = async (server: Server, round: string, isOver: () => boolean) => {
  const posted: Array<Posted> = []
  let longestMillis = 0
  for (let index = 0; !isOver() && index < 200; index++) {
    const one = { assistant: NEIGHBOURS[index % NEIGHBOURS.length] ?? "ann", id: `${round}-${index}` }
    const begun = performance.now()
    if (await server.client.post(one, "hello")) posted.push(one)
    longestMillis = Math.max(longestMillis, performance.now() - begun)
    await pause(50)
  }
  return { posted, longestMillis }
}

const harmful: Attack = {
  name: "isolated-tools",
  item: 3,
  says: "an isolated tool loops for ever, hogs memory, exits and kills itself; neighbours are answered meanwhile",
  isShort: true,
  run: async (scene) => {
    const server = await scene.serve({ fleet: "isolated.ts" })
    const checks: Array<Check> = []
    const all: Array<Posted> = []
    let longestMillis = 0
    for (const [harm, told] of harms) {
      let isOver = false
      const order = { assistant: "desk", id: harm }
      if (await server.client.post(order, `!harm {"harm":"${harm}"}`)) all.push(order)
      const talking = talkOn(server, harm, () => isOver)
      const ok = await until(server, 20_000, async () => told.test(await wordsOf(server, "desk")))
      isOver = true
      const talked = await talking
      all.push(...talked.posted)
      longestMillis = Math.max(longestMillis, talked.longestMillis)
      const seen = ok ? `${talked.posted.length} messages meanwhile` : (await wordsOf(server, "desk")).slice(-300)
      checks.push({
        says: `${harm} ends with its reason, and neighbours were heard`,
        ok: ok && talked.posted.length > 0,
        seen
      })
    }
    const isQuiet = await until(server, 3_000, () => Promise.resolve(livingTools(server).length === 0))
    checks.push(
      { says: "nothing of it runs on", ok: isQuiet, seen: livingTools(server).join(", ") },
      // A loop in the process of the server would hold everyone for the three seconds that the tool has.
      { says: "no one waited for the loop", ok: longestMillis < 2_500, seen: `${Math.round(longestMillis)} ms` },
      { says: "the server is the one that was started", ok: !server.hasEnded(), seen: server.said().slice(-300) }
    )
    end(livingTools(server))
    const judged = await judge(server.client, all)
    await server.stop()
    return { ...judged, holdMillis: Math.round(longestMillis), checks }
  }
}

const orphaned: Attack = {
  name: "isolated-orphan",
  item: 3,
  says: "the server is killed while an isolated tool loops for ever: its process ends too, and the call is made again",
  run: async (scene) => {
    const server = await scene.serve({ fleet: "isolated.ts" })
    const order = { assistant: "desk", id: "spin" }
    const given = (await server.client.post(order, '!harm {"harm":"spin"}')) ? [order] : []
    await until(server, 10_000, () => Promise.resolve(livingTools(server).length > 0))
    const before = livingTools(server)
    await server.kill()
    await pause(1_500)
    const after = before.filter(isAlive)
    end(after)
    const again = await scene.serve({ fleet: "isolated.ts" })
    const told = await until(again, 20_000, async () => /gave no answer within 3 s/.test(await wordsOf(again, "desk")))
    const judged = await judge(again.client, given)
    await again.stop()
    return {
      ...judged,
      checks: [
        { says: "it was running", ok: before.length > 0 },
        { says: "it has ended with its server", ok: after.length === 0, seen: after.join(", ") },
        { says: "the call was made again and ended at its deadline", ok: told }
      ]
    }
  }
}

export const isolatedTools: ReadonlyArray<Attack> = [harmful, orphaned]
