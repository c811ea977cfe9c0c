import { assert, describe, it } from "@effect/vitest"
import { isBefore } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Ledger } from "@reverie/ledger"
import { readPast } from "../src/index.ts"
import { type Life, live } from "./rig.ts"

const past = (life: Life, ...range: Parameters<typeof readPast> extends [unknown, ...infer Rest] ? Rest : never) =>
  Effect.runSync(readPast(life.address(), ...range).pipe(Effect.provideService(Ledger, life.store.ledger)))

const BEGINNING = { no: 1, index: 0 }

describe("the past", () => {
  it("I1 is every committed message with its place, over any number of pages", () => {
    const life = live({ model: { text: "Aye." } })
    for (let at = 0; at < 120; at++) life.say(`Word ${at}.`, { id: `w${at}` })
    life.rest()
    const all = past(life, BEGINNING)
    assert.strictEqual(all.length, 240)
    assert.isAbove(all.at(-1)?.place.no ?? 0, 200, "more than one page")
    assert.deepStrictEqual(
      all.filter(({ message }) => message.role === "user").map(({ message }) => message.content),
      Array.from({ length: 120 }, (_, at) => `Word ${at}.`)
    )
    for (const [index, { place }] of all.entries()) {
      if (index > 0) assert.isTrue(isBefore(all[index - 1]?.place ?? BEGINNING, place))
    }
    const [first, last] = [all[10]?.place ?? BEGINNING, all[120]?.place ?? BEGINNING]
    assert.deepStrictEqual(past(life, first, { to: last }), all.slice(10, 121))
    assert.deepStrictEqual(past(life, first, { limit: 7 }), all.slice(10, 17))
    assert.deepStrictEqual(past(life, { no: 10_000, index: 0 }, { limit: 7 }), [])
  })
})
