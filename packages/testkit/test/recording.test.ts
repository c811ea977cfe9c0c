import { assert, it } from "@effect/vitest"
import { collectSpans } from "@reverie/testkit"
import * as Effect from "effect/Effect"

it.effect("records spans in the order of their beginning, with parent, attributes and end", () =>
  Effect.gen(function* () {
    const recording = collectSpans()
    const walk = Effect.gen(function* () {
      yield* Effect.annotateCurrentSpan({ tick: 3 })
      yield* Effect.withSpan(Effect.void, "mailbox.claim")
      yield* Effect.ignore(Effect.withSpan(Effect.fail("cut"), "model.infer"))
    })
    yield* Effect.provide(Effect.withSpan(walk, "runtime.tick"), recording.layer)
    assert.deepStrictEqual(recording.names(), ["runtime.tick", "mailbox.claim", "model.infer"])
    assert.deepStrictEqual(
      recording.spans.map(({ parent, ok }) => [parent, ok]),
      [
        [undefined, true],
        ["runtime.tick", true],
        ["runtime.tick", false]
      ]
    )
    assert.strictEqual(recording.spans[0]?.attributes.get("tick"), 3)
  })
)
