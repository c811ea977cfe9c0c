// Tools that throw where no one waits for it, or want to end the process, or answer after their time.

import type { Attack, Check } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { allAnswered, askNeighbours, NEIGHBOURS, until, wordsOf } from "../neighbours.ts"
import type { Server } from "../scene.ts"
import { slowScript } from "../slow-model.ts"

interface Order {
  readonly tool: string
  /** What its model has to be told. */
  readonly told: RegExp
}

/** What each of them does, and why its call has to fail. */
const orders: ReadonlyArray<Order> = [
  { tool: "reject_stray", told: /"reject_stray" failed: a promise .* rejected: a stray rejection/ },
  { tool: "reject_and_return", told: /"reject_and_return" failed: a promise .* rejected: left behind/ },
  { tool: "throw_in_timer", told: /"throw_in_timer" failed: it threw in a timer or a callback: thrown in a timer/ },
  { tool: "exit_zero", told: /"exit_zero" failed: (it called )?process\.exit\(0\)/ },
  { tool: "exit_by_name", told: /"exit_by_name" failed: (it called )?process\.exit\(0\)/ },
  { tool: "abort_process", told: /"abort_process" failed: (it called )?process\.abort\(\)/ },
  { tool: "kill_itself", told: /"kill_itself" failed: (it called )?process\.kill\(process\.pid, "SIGKILL"\)/ },
  { tool: "block_loop", told: /"block_loop" gave no answer within 500 ms/ }
]

const give = async (server: Server, { told, tool }: Order): Promise<Check> => {
  await server.client.post({ assistant: "desk", id: tool }, `!${tool} {}`)
  const ok = await until(server, 15_000, async () => told.test(await wordsOf(server, "desk")))
  const seen = `${(await wordsOf(server, "desk")).slice(-200)} / ${server.said().slice(-200)}`
  return { says: `${tool} fails its own call, and says why`, ok: ok && !server.hasEnded(), ...(ok ? {} : { seen }) }
}

const late = async (server: Server): Promise<Check> => {
  await server.client.post({ assistant: "desk", id: "late" }, "!reject_late {}")
  const line = /^reverie: the call \S+ of the tool "reject_late" of default\/desk had ended when .*: a late rejection$/m
  const ok = await until(server, 15_000, () => Promise.resolve(line.test(server.said())))
  const lines = server
    .said()
    .split("\n")
    .filter((each) => each.includes("a late rejection"))
  return {
    says: "what comes after the call is one line of the log",
    ok: ok && lines.length === 1,
    seen: lines.join("\n")
  }
}

const all: Attack = {
  name: "stray-tools",
  item: 3,
  says: "tools leave rejections and timers behind that throw, call process.exit, abort and kill, and answer too late",
  isShort: true,
  run: async (scene, { isShort }) => {
    scene.model.become({ script: slowScript })
    const server = await scene.serve({ fleet: "crashing.ts" })
    const asked = await askNeighbours(server, isShort ? 2_000 : 10_000)
    const checks: Array<Check> = []
    const given: Array<Posted> = []
    for (const order of orders) {
      if (server.hasEnded()) break
      checks.push(await give(server, order))
      given.push({ assistant: "desk", id: order.tool })
    }
    if (!server.hasEnded()) checks.push(await late(server))
    const everyone = await until(server, 30_000, () => allAnswered(server))
    checks.push(
      { says: "the server is the one that was started", ok: !server.hasEnded(), seen: server.said().slice(-300) },
      {
        says: "all five neighbours were acknowledged",
        ok: asked.length === NEIGHBOURS.length,
        seen: `${asked.length}`
      },
      { says: "all five neighbours were answered", ok: everyone }
    )
    if (server.hasEnded()) return { acknowledged: asked.length, lost: 0, duplicated: 0, innocents: 0, checks }
    const judged = await judge(server.client, [...asked, ...given])
    await server.stop()
    return { ...judged, checks }
  }
}

const unowned: Attack = {
  name: "strays-of-nobody",
  item: 3,
  says: "a rejection that belongs to no tool is one line and ends nothing; an exception ends the server, not with 0",
  isShort: true,
  isTimed: true,
  run: async (scene) => {
    const env = { REVERIE_ATTACK_STRAY: "rejection" }
    const server = await scene.serve({ fleet: "strays.ts", env })
    const posted = { assistant: "ann", id: "m-1" }
    const isTaken = await server.client.post(posted, "hello")
    await until(server, 15_000, () => Promise.resolve(server.said().includes("no one asked for this")))
    await pause(300)
    const judged = await judge(server.client, isTaken ? [posted] : [])
    const lines = server
      .said()
      .split("\n")
      .filter((line) => line.includes("no one asked for this"))
    const goesOn = !server.hasEnded()
    await server.stop()
    const other = await scene.serve({ fleet: "strays.ts", env: { REVERIE_ATTACK_STRAY: "exception" } })
    await until(other, 15_000, () => Promise.resolve(false))
    const code = other.hasEnded() ? await other.ended : -1
    const checks: ReadonlyArray<Check> = [
      {
        says: "the rejection is one clear line",
        ok: lines.length === 1 && (lines[0] ?? "").startsWith("reverie:"),
        seen: lines.join()
      },
      { says: "the server goes on after the rejection", ok: goesOn },
      {
        says: "the exception ends the server with code 1",
        ok: code === 1,
        seen: `${code}: ${other.said().slice(-200)}`
      }
    ]
    return { ...judged, checks }
  }
}

export const strayTools: ReadonlyArray<Attack> = [all, unowned]
