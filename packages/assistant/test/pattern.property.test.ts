import { assert, describe, it } from "@effect/vitest"
import { toolCategories } from "@reverie/protocol"
import * as fc from "fast-check"
import { admit, type CallRequest } from "../src/events.ts"
import {
  changedSettings,
  DEFAULT_SETTINGS,
  executionModes,
  patternOf,
  restrict,
  type Settings,
  settingsOf
} from "../src/index.ts"
import { anySettings, aRequest, aRestriction, RUNS } from "./arbitraries.ts"
import { type ExecutionPattern } from "../src/patterns/select-pattern.ts"

/** True when whatever `inner` allows, `outer` allows as well. */
const isWithin = (inner: ExecutionPattern, outer: ExecutionPattern): boolean =>
  inner.maxIterations <= outer.maxIterations &&
  inner.maxIterations >= 1 &&
  Number.isInteger(inner.maxIterations) &&
  inner.categories.every((category) => outer.categories.includes(category)) &&
  (inner.confirmDangerous || !outer.confirmDangerous) &&
  (!inner.multiTool || outer.multiTool) &&
  executionModes.indexOf(inner.mode) <= executionModes.indexOf(outer.mode) &&
  (inner.terminalEndsLoop || !outer.terminalEndsLoop) &&
  (!inner.subAgents || outer.subAgents)

describe("patterns", () => {
  it("F32 pattern I1: a restriction never widens, however many are laid on one another", () => {
    fc.assert(
      fc.property(anySettings, fc.array(aRestriction, { maxLength: 6 }), (settings, restrictions) => {
        let pattern = patternOf(settingsOf(settings))
        for (const restriction of restrictions) {
          const narrowed = restrict(pattern, restriction)
          assert.isTrue(isWithin(narrowed, pattern), JSON.stringify({ pattern, restriction, narrowed }))
          pattern = narrowed
        }
      }),
      RUNS
    )
  })

  it("pattern I1: restrictions commute, and one laid twice does no more than once", () => {
    fc.assert(
      fc.property(anySettings, aRestriction, aRestriction, (settings, one, other) => {
        const pattern = patternOf(settingsOf(settings))
        assert.deepStrictEqual(restrict(restrict(pattern, one), other), restrict(restrict(pattern, other), one))
        assert.deepStrictEqual(restrict(restrict(pattern, one), one), restrict(pattern, one))
      }),
      RUNS
    )
  })

  it("pattern I1: what is asked for within the pattern is what one gets", () => {
    const pattern = patternOf(DEFAULT_SETTINGS)
    assert.deepStrictEqual(restrict(pattern, {}), pattern)
    assert.deepStrictEqual(restrict(pattern, { maxIterations: 2, categories: ["terminal"], confirmDangerous: false }), {
      ...pattern,
      maxIterations: 2,
      categories: ["terminal"]
    })
    assert.deepStrictEqual(restrict(pattern, { mode: "single_action" }), {
      ...pattern,
      mode: "single_action",
      maxIterations: 1,
      multiTool: false
    })
  })
})

describe("calls", () => {
  const requests = fc.array(aRequest, { maxLength: 16 })
  const patterns = fc
    .tuple(anySettings, aRestriction)
    .map(([settings, restriction]) => restrict(patternOf(settingsOf(settings)), restriction))

  const admitting = (check: (admission: ReturnType<typeof admit>, inputs: Inputs) => void) =>
    fc.assert(
      fc.property(requests, patterns, fc.integer({ min: 0, max: 1 }), (calls, pattern, used) => {
        check(admit(calls, pattern, used), { calls, pattern, used })
      }),
      RUNS
    )

  interface Inputs {
    readonly calls: ReadonlyArray<CallRequest>
    readonly pattern: ExecutionPattern
    readonly used: number
  }

  it("calls I1: at most one dangerous call is let through a tick", () => {
    admitting(({ calls, dangerousUsed }, { used }) => {
      const dangerous = calls.filter(({ category, phase }) => category === "dangerous" && phase !== "refused").length
      assert.isAtMost(used + dangerous, 1)
      assert.strictEqual(dangerousUsed, used + dangerous)
    })
  })

  it("calls I2: a call outside the pattern is refused", () => {
    admitting(({ calls }, { pattern }) => {
      calls.forEach(({ category, phase }, index) => {
        const allowed = pattern.categories.includes(category) && (pattern.multiTool || index === 0)
        if (!allowed) assert.strictEqual(phase, "refused")
        else if (category !== "dangerous") assert.strictEqual(phase, "ready")
      })
    })
  })

  it("calls I3: a dangerous call is ready without approval only when the pattern asks for none", () => {
    admitting(({ calls }, { pattern }) => {
      for (const { category, phase } of calls) {
        if (category !== "dangerous" || phase === "refused") continue
        assert.strictEqual(phase, pattern.confirmDangerous ? "asking" : "ready")
      }
    })
  })

  it("calls I4: every refused call has exactly one reason, every other none, and no call is lost or moved", () => {
    admitting(({ calls, refusals }, { calls: asked }) => {
      assert.deepStrictEqual(
        calls.map(({ phase: _, ...request }) => request),
        asked
      )
      assert.deepStrictEqual(
        refusals.map(({ index }) => index),
        calls.flatMap(({ phase }, index) => (phase === "refused" ? [index] : []))
      )
      for (const { reason } of refusals) assert.isNotEmpty(reason)
    })
  })
})

describe("settings", () => {
  const isWithinLimits = (settings: Settings): void => {
    for (const [key, value] of Object.entries(settings)) {
      assert.strictEqual(typeof value, typeof DEFAULT_SETTINGS[key as keyof Settings], key)
      if (typeof value === "number") assert.isTrue(Number.isFinite(value) && value >= 0, `${key} = ${value}`)
    }
    assert.isTrue(settings.maxIterations >= 1 && settings.maxIterations <= 100)
    assert.isTrue(settings.maxErrors >= 1)
    assert.isTrue(settings.compactSleepRatio <= 1 && settings.compactEmergencyRatio <= 1)
  }

  it("settings I1: any number is brought into its range", () => {
    fc.assert(
      fc.property(anySettings, (chosen) => isWithinLimits(settingsOf(chosen))),
      RUNS
    )
  })

  it("settings I1: what is too large becomes the largest, what is too small the smallest", () => {
    assert.strictEqual(settingsOf({ approvalMs: Infinity }).approvalMs, Number.MAX_SAFE_INTEGER)
    assert.strictEqual(settingsOf({ maxIterations: Infinity }).maxIterations, 100)
    assert.strictEqual(settingsOf({ maxIterations: -Infinity }).maxIterations, 1)
    assert.strictEqual(settingsOf({ compactSleepRatio: Infinity }).compactSleepRatio, 1)
  })

  it("what has changed, laid over the defaults, gives the settings back, and is JSON", () => {
    fc.assert(
      fc.property(anySettings, (chosen) => {
        const changed = changedSettings(settingsOf(chosen))
        assert.deepStrictEqual(settingsOf(changed), settingsOf(chosen))
        assert.deepStrictEqual(changedSettings(settingsOf(changed)), changed)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(changed)), changed)
        assert.includeMembers(Object.keys(DEFAULT_SETTINGS), Object.keys(changed))
      }),
      RUNS
    )
  })

  it("what is no setting is left out", () => {
    assert.deepStrictEqual(changedSettings(settingsOf({ ...DEFAULT_SETTINGS, maxItrations: 3 } as Settings)), {})
  })
})

it("the arbitraries reach every category", () => {
  const seen = new Set(fc.sample(aRequest, { numRuns: 200, seed: 1 }).map(({ category }) => category))
  assert.strictEqual(seen.size, toolCategories.length)
})
