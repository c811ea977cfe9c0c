// Processes that end again and again, by a tool or from outside, while neighbours wait for a slow model.

import type { Attack, Check } from "../attack.ts"
import { judge, pause } from "../judge.ts"
import { allAnswered, askNeighbours, restarted, supervise, until, wordsOf } from "../neighbours.ts"
import type { ServerOptions } from "../scene.ts"
import { slowScript } from "../slow-model.ts"

const FLEET: ServerOptions = { fleet: "crashing.ts" }

const crashLoopWith = (tool: string, mostEnds: number, told: RegExp, slowMillis: number): Attack => ({
  name: `crash-loop-${tool.replaceAll("_", "-")}`,
  item: 3,
  says: `the tool ${tool} kills its process; five neighbours wait ${slowMillis / 1_000} s for their model; a supervisor restarts`,
  run: async (scene) => {
    scene.model.become({ script: slowScript })
    const first = await scene.serve(FLEET)
    const asked = await askNeighbours(first, slowMillis)
    const order = { assistant: "desk", id: "order" }
    const ordered = (await first.client.post(order, `!${tool} {}`)) ? [order] : []
    const { codes, server } = await supervise(scene, FLEET, first, {
      restarts: 30,
      millis: 60_000 + 4 * slowMillis,
      holds: allAnswered
    })
    const ends: Check = {
      says: `the process ended, and at most ${mostEnds} times`,
      ok: codes.length > 0 && codes.length <= mostEnds,
      seen: codes.join(", ")
    }
    if (server === undefined) {
      return { acknowledged: asked.length + ordered.length, lost: 0, duplicated: 0, innocents: 0, checks: [ends] }
    }
    const words = await wordsOf(server, "desk")
    const everyone = await allAnswered(server)
    const judged = await judge(server.client, [...asked, ...ordered], { guilty: new Set([order.id]) })
    const dead = await server.client.deadLetters()
    await server.stop()
    const checks: ReadonlyArray<Check> = [
      { says: "all five neighbours were answered", ok: everyone, seen: judged.remarks.join("; ") },
      ends,
      { says: "its model was told what had happened", ok: told.test(words), seen: words.slice(-300) },
      { says: "its own message went on", ok: dead.length === 0, seen: JSON.stringify(dead) }
    ]
    return { ...judged, checks }
  }
})

const KILLS = 30

const burst: Attack = {
  name: "kill-burst",
  item: 3,
  says: `${KILLS} kills of the server while five assistants wait for slow models, and two messages wait behind each`,
  run: async (scene) => {
    scene.model.become({ script: slowScript })
    let server = await scene.serve(FLEET)
    const asked = [...(await askNeighbours(server, 20_000))]
    for (const assistant of ["ann", "bob"]) {
      const behind = { assistant, id: `behind-${assistant}` }
      if (await server.client.post(behind, "hello")) asked.push(behind)
    }
    for (let kill = 0; kill < KILLS; kill++) {
      // At no fixed place in its life: at once, while it starts to work, and in the middle of calls.
      await pause((kill % 4) * 400)
      await server.kill()
      server = await restarted(scene, FLEET, [])
    }
    const everyone = await until(server, 120_000, () => allAnswered(server))
    const judged = await judge(server.client, asked)
    const halted = (await server.client.json("/v1/assistants?state=halted")) as {
      readonly items: ReadonlyArray<unknown>
    }
    await server.stop()
    return {
      ...judged,
      checks: [
        { says: "all were answered in the end", ok: everyone, seen: judged.remarks.join("; ") },
        { says: "no one was halted", ok: halted.items.length === 0, seen: JSON.stringify(halted.items).slice(0, 200) }
      ]
    }
  }
}

export const crashingTools: ReadonlyArray<Attack> = [
  crashLoopWith("kill_from_outside", 3, /The process ended 3 times while the tool "kill_from_outside" ran/, 20_000),
  crashLoopWith("kill_once_more", 1, /was started before a crash/, 20_000),
  burst
]
