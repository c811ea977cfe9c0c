import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import {
  allocatePluggableId,
  getStaticComponent,
  getStaticComponents,
  isReservedId,
  isStaticId,
  orderedStaticIds,
  pluggableRange,
  promptRoles,
  RESERVED_COMPONENTS,
  roleProblem,
  staticBefore
} from "../src/layout/scheme.ts"
import { NoPlaceAfter, PlacesTaken } from "../src/errors.ts"

const idAfter = (existing: ReadonlyArray<number>, afterStatic: number): number =>
  Result.getOrThrow(allocatePluggableId(existing, afterStatic))

const rangeOf = (afterStatic: number) => Result.getOrThrow(pluggableRange(afterStatic))

/** All ids of the range behind a static one, reserved ones among them. */
const everyIdAfter = (afterStatic: number): ReadonlyArray<number> => {
  const { first, last } = rangeOf(afterStatic)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

describe("static components", () => {
  it("F16 nine, each with its id, key and role", () => {
    assert.deepStrictEqual(
      getStaticComponents().map(({ id, key, role }) => [id, key, role]),
      [
        [0, "system_prompt", "system"],
        [1000, "character_context", "system"],
        [1500, "entity_context", "system"],
        [2000, "semantic_memories", "system"],
        [3000, "context_buffer", "system"],
        [4000, "goals", "system"],
        [5000, "conversation_history", "mixed"],
        [6000, "pending_event", "user"],
        [7000, "tool_result", "tool"]
      ]
    )
  })

  it("F17 a component has eight parts, and one of five roles", () => {
    for (const component of getStaticComponents()) {
      assert.deepStrictEqual(Object.keys(component).toSorted(), [
        "content",
        "description",
        "enabled",
        "id",
        "isStatic",
        "key",
        "name",
        "role"
      ])
      assert.isTrue(component.isStatic && component.enabled)
      assert.include(promptRoles, component.role)
      for (const text of [component.name, component.description, component.content]) assert.isNotEmpty(text)
    }
    assert.deepStrictEqual([...promptRoles], ["system", "user", "assistant", "tool", "mixed"])
  })

  it("F17 A3 mixed is the role of the conversation history alone", () => {
    assert.isUndefined(roleProblem(5000, "mixed"))
    for (const id of [0, 1001, 4990, 5001, 6000]) assert.include(roleProblem(id, "mixed"), "conversation_history")
    for (const role of promptRoles) if (role !== "mixed") assert.isUndefined(roleProblem(1001, role))
  })

  it("F20 by key, in order, and told from other ids", () => {
    assert.strictEqual(getStaticComponent("goals")?.id, 4000)
    assert.isUndefined(getStaticComponent("tool_rules"))
    assert.isUndefined(getStaticComponent("constructor"))
    assert.deepStrictEqual(orderedStaticIds(), [0, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000])
    assert.deepStrictEqual([0, 1500, 7000].map(isStaticId), [true, true, true])
    assert.deepStrictEqual([1, 600, 1001, 8000, -1].map(isStaticId), [false, false, false, false, false])
  })

  it("F87 the reserved parts stand behind the base instructions in the order of a prompt", () => {
    assert.deepStrictEqual(
      RESERVED_COMPONENTS.map(({ id, key }) => [id, key]),
      [
        [600, "core_blocks"],
        [700, "working_blocks"],
        [800, "activity"],
        [900, "tool_rules"],
        [950, "plan_first"],
        [4990, "opening"]
      ]
    )
  })
})

describe("places", () => {
  it("F21 the lowest free id behind a static component", () => {
    assert.strictEqual(idAfter([], 1000), 1001)
    assert.strictEqual(idAfter([1001, 1002], 1000), 1003)
    assert.strictEqual(idAfter([1001, 1003], 1000), 1002)
    assert.strictEqual(idAfter([1001, 1002], 2000), 2001)
    assert.strictEqual(idAfter([], 0), 1)
  })

  it("F21 a full range is refused, and one free id in it is found", () => {
    const full = everyIdAfter(1000)
    assert.deepStrictEqual(
      Result.getOrThrow(Result.flip(allocatePluggableId(full, 1000))),
      new PlacesTaken({ afterStatic: 1000, first: 1001, last: 1499 })
    )
    assert.strictEqual(
      idAfter(
        full.filter((id) => id !== 1317),
        1000
      ),
      1317
    )
  })

  it("F21 A1 components stand behind static ones only", () => {
    for (const afterStatic of [1001, 600, -1, 8000, NaN]) {
      const refused = Result.getOrThrow(Result.flip(allocatePluggableId([], afterStatic)))
      assert.instanceOf(refused, NoPlaceAfter)
      assert.strictEqual(refused.recovery, "tell-owner")
    }
  })

  it("F21 A1 a range ends before the next static id, and holds 999 at most", () => {
    assert.deepStrictEqual(
      orderedStaticIds().map((id) => [rangeOf(id).first, rangeOf(id).last]),
      [
        [1, 999],
        [1001, 1499],
        [1501, 1999],
        [2001, 2999],
        [3001, 3999],
        [4001, 4999],
        [5001, 5999],
        [6001, 6999],
        [7001, 7999]
      ]
    )
  })

  it("F21 F87 what is handed out behind any static id is never static, reserved or in use, until none is left", () => {
    for (const afterStatic of orderedStaticIds()) {
      const given: Array<number> = []
      for (;;) {
        const answer = allocatePluggableId(given, afterStatic)
        if (Result.isFailure(answer)) break
        given.push(answer.success)
      }
      assert.deepStrictEqual(
        given,
        everyIdAfter(afterStatic).filter((id) => !isReservedId(id))
      )
    }
  })

  it("F21 whatever is in use, the id is free, in its range and the lowest such", () => {
    fc.assert(
      fc.property(fc.constantFrom(...orderedStaticIds()), fc.uniqueArray(fc.nat(8_000)), (afterStatic, existing) => {
        const id = idAfter(existing, afterStatic)
        assert.notInclude(existing, id)
        assert.strictEqual(staticBefore(id), afterStatic)
        for (let lower = afterStatic + 1; lower < id; lower++) {
          assert.isTrue(existing.includes(lower) || isReservedId(lower))
        }
      })
    )
  })
})
