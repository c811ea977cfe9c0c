import { assert, describe, it } from "@effect/vitest"
import { LoopWatch } from "../../src/loop-watch.ts"

/** A watch that is looked after by hand: each look says how long the loop was held, and how much of it was computed. */
const steered = () => {
  let wall = 1_000_000
  let cpu = 0
  const watch = new LoopWatch({ wall, cpu })
  return {
    watch,
    now: () => ({ wall, cpu }),
    held: (millis: number, computed: number) => {
      wall += 10 + millis
      cpu += computed
      watch.look({ wall, cpu })
    },
    pass: (millis: number) => {
      for (let passed = 0; passed < millis; passed += 10) {
        wall += 10
        watch.look({ wall, cpu })
      }
    }
  }
}

describe("loop watch", () => {
  it("K1 tells the longest hold of a window to all who ask, until the window is over", () => {
    const { held, now, pass, watch } = steered()
    held(700, 650)
    pass(3_000)
    held(40, 40)
    for (let asked = 0; asked < 3; asked++)
      assert.deepStrictEqual(watch.longest(10_000, now()), { wall: 700, cpu: 650 })
    pass(8_000)
    assert.deepStrictEqual(watch.longest(10_000, now()), { wall: 40, cpu: 40 })
    assert.deepStrictEqual(watch.longest(60_000, now()), { wall: 700, cpu: 650 })
  })

  it("K1 a hold that has not ended counts already", () => {
    const { now, watch } = steered()
    const { cpu, wall } = now()
    assert.deepStrictEqual(watch.longest(10_000, { wall: wall + 6_010, cpu: cpu + 5_000 }), { wall: 6_000, cpu: 5_000 })
  })

  it("K2 what a busy machine took away is no computing", () => {
    const { held, now, watch } = steered()
    held(900, 20)
    assert.deepStrictEqual(watch.longest(10_000, now()), { wall: 900, cpu: 20 })
  })

  it("a short piece now and then is no hold, and old minutes are forgotten", () => {
    const { held, now, pass, watch } = steered()
    held(500, 500)
    pass(61_000)
    assert.deepStrictEqual(watch.longest(60_000, now()), { wall: 0, cpu: 0 })
  })

  it("K1 K2 its figures say how many were how long", () => {
    const { held, now, watch } = steered()
    held(30, 30)
    held(300, 60)
    const text = watch.format(now())
    assert.include(text, 'reverie_event_loop_hold_seconds_bucket{clock="wall",le="0.05"} 1')
    assert.include(text, 'reverie_event_loop_hold_seconds_bucket{clock="wall",le="0.5"} 2')
    assert.include(text, 'reverie_event_loop_hold_seconds_bucket{clock="cpu",le="0.1"} 2')
    assert.include(text, 'reverie_event_loop_hold_max_seconds{clock="wall"} 0.3')
    assert.include(text, 'reverie_event_loop_hold_max_seconds{clock="cpu"} 0.06')
  })
})
