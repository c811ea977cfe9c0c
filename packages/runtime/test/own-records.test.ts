import { assert, describe, it } from "@effect/vitest"
import { recordKinds } from "@reverie/protocol"
import { inTurn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aTool, calling, type Life, live } from "./rig.ts"

const keep = (millis: number) =>
  aTool("keep", {
    usesRecords: true,
    effect: (_, { call, records }) =>
      Effect.delay(
        Effect.sync(() => {
          records.write("session", "kept", call)
          return "kept"
        }),
        millis
      )
  })

const recall = aTool("recall", {
  usesRecords: true,
  effect: (_, { records }) => Effect.sync(() => JSON.stringify([...records.read("session")]))
})

const onDisk = (life: Life): string =>
  JSON.stringify(
    life
      .run(life.store.ledger.records(life.address(), recordKinds))
      .flatMap(({ key, kind, value }) => (kind === "session" ? [[key, value]] : []))
  )

describe("the own records", () => {
  it("what a run has changed the next one of the same reply reads, and the commits carry it", () => {
    const life = live({ tools: [keep(1_000), recall], model: inTurn(calling("keep", "recall"), { text: "Done." }) })
    life.say("Keep it.")
    life.rest()
    assert.include(['[["kept","1.1.0"]]', "[]"], life.answerTo("1.1.1"))
    assert.strictEqual(onDisk(life), '[["kept","1.1.0"]]')
    assert.strictEqual(life.entries().flatMap(({ records = [] }) => records).length, 1)
  })

  it("I1 of the session: a change whose result came too late is kept nowhere, neither in memory nor on disk", () => {
    let held = false
    const life = live({
      tools: [aTool("look", { effect: () => Effect.delay(Effect.succeed("seen"), 1_000) }), keep(1_500), recall],
      model: inTurn(calling("look", "keep"), calling("recall"), { text: "Done." }),
      // The first result is being written while the second one and an order to halt come in.
      faults: {
        at: (point) =>
          Effect.suspend(() => {
            if (point !== "before-commit" || life.status() !== "awake.acting.running" || held) return Effect.void
            held = true
            return Effect.sleep(1_000)
          })
      }
    })
    life.say("Look and keep.")
    life.pass(1_700)
    life.post({ type: "halt" })
    life.pass(1_000)
    assert.match(life.answerTo("1.1.1"), /halted/)
    life.post({ type: "resume" })
    life.rest()
    assert.strictEqual(onDisk(life), "[]")
    assert.strictEqual(life.answerTo("1.2.0"), "[]")
  })
})
