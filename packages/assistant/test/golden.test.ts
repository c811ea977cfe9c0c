import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { type Json, STATE_VERSION, stateText } from "@reverie/protocol"
import { contextOf, decide, restingStates, statusOf } from "../src/index.ts"
import { type Golden, goldenOf, sceneOf } from "./golden/scenes.ts"
import { restored, stored } from "./rig.ts"

const root = new URL("./golden/", import.meta.url)

const goldens = readdirSync(root)
  .filter((name) => /^v\d+$/.test(name))
  .flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root)).map((file) => ({
      file: `${folder}/${file}`,
      golden: JSON.parse(readFileSync(new URL(`${folder}/${file}`, root), "utf8")) as Golden
    }))
  )

interface Stored {
  readonly context: object
  readonly children: object
}

describe("golden snapshots", () => {
  it("there is one of format 1 for every state at rest", () => {
    const states = goldens.flatMap(({ golden }) => (golden.format === 1 ? [golden.status] : []))
    assert.sameMembers(states, [...restingStates])
  })

  it.each(goldens)("$file is restored to the same state, with all that it held", ({ file, golden }) => {
    assert.strictEqual(file, `v${golden.format}/${golden.status}.json`)
    const before = golden.snapshot as Stored
    const decoded = restored(golden.snapshot as Json)
    assert.strictEqual(statusOf(decoded), golden.status)
    assert.deepInclude(contextOf(decoded), before.context)
    const after = stored(decoded) as unknown as Stored
    assert.deepStrictEqual(after.children, before.children)
    // And it lives on: every state but the last receives a halt.
    const { next } = decide(decoded, { type: "halt", reason: "fire drill" })
    assert.strictEqual(statusOf(next), golden.status === "retired" ? "retired" : "halted")
  })

  // A new field of the context makes rows twice as long, until packed-state.ts has a form with it; see P3 there.
  it.each(restingStates.map((state) => ({ state })))(
    "a row says the state of $state without the names in it",
    ({ state }) => {
      const { snapshot, status } = goldenOf(state)
      const kept = stateText({
        v: STATE_VERSION,
        snapshot: snapshot as Json,
        jobs: [],
        timers: [],
        receives: [],
        status,
        definition: "desk"
      })
      for (const name of ["context", "compactingFrom", "repairs", "syncSnapshot"]) assert.notInclude(kept, `"${name}"`)
    }
  )

  it.each(restingStates.map((state) => ({ state })))("the scene of $state leads there today", ({ state }) => {
    assert.strictEqual(sceneOf(state).status, state)
    assert.strictEqual(goldenOf(state).status, state)
  })
})
