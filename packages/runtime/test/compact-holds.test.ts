import { assert, describe, it } from "@effect/vitest"
import type { Script } from "@reverie/testkit"
import { defineTool } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { compactions, folder, opened, rowsOf, settings, ship, small, talk, talkUntilCompacted } from "./folder.ts"
import type { Life } from "./rig.ts"

describe("what holds the triggers back", () => {
  const half = { settings: { ...settings, compactEmergencyRatio: 0.5, compactSleepRatio: 0.5 } }

  const sayUntil = (life: Life, isDone: () => boolean, from: number): number => {
    let at = from
    for (; at < from + 60 && !isDone(); at++) {
      life.say(ship(at), { id: `s-${at}` })
      life.rest()
    }
    return at
  }

  it("H1 an undo holds through messages and nights, until the window overflows, and then the record says so", () => {
    const life = opened(folder().script, half)
    const at = sayUntil(life, () => compactions(life).length === 1, 0)
    const id = compactions(life)[0]?.id ?? ""
    life.post({ type: "undoCompaction", compaction: id })
    life.rest()
    const said = sayUntil(life, () => compactions(life).length === 2, at)
    assert.isAtLeast(said - at, 8, "the same trigger is not met again")
    const second = compactions(life).find((each) => each.id !== id)
    assert.deepInclude(second?.ended_hold, { compaction: id })
    assert.match(
      second?.ended_hold?.reason ?? "",
      /^the window overflowed: the conversation took \d+% of it, more than a prompt has room for$/
    )
    assert.isAtLeast(second?.ratio ?? 0, 0.9)
    assert.isFalse(
      rowsOf(life, "state").some((row) => isHold(row)),
      "it holds no more"
    )
  })

  it("H1 released, or by order, it is compacted again; asleep the hold counts too", () => {
    for (const way of ["release", "order", "sleep"] as const) {
      const life = opened(folder().script, half)
      const at = sayUntil(life, () => compactions(life).length === 1, 0)
      life.post({ type: "undoCompaction", compaction: compactions(life)[0]?.id ?? "" })
      life.say(ship(at), { id: "held" })
      life.rest()
      assert.strictEqual(compactions(life).length, 1, way)
      if (way === "release") life.post({ type: "releaseHistory" }, { id: "release" })
      if (way === "order") life.post({ type: "compact" })
      if (way === "sleep") life.post({ type: "sleep" })
      life.rest()
      if (way === "release") {
        life.post({ type: "releaseHistory" }, { id: "again" })
        life.say(ship(at + 1), { id: "released" })
        life.rest()
        const outcomes = life.settled().filter((each) => ["again", "release"].includes(each.id))
        assert.deepStrictEqual(
          outcomes.map(({ id, outcome }) => [id, outcome]),
          [
            ["release", "handled"],
            ["again", "ignored"]
          ]
        )
      }
      assert.strictEqual(compactions(life).length, way === "sleep" ? 1 : 2, way)
      const last = compactions(life).find(({ undone_at }) => undone_at === undefined)
      assert.strictEqual(last?.ended_hold?.reason, way === "order" ? "a person ordered a compaction" : undefined)
    }
  })

  it("K6 F113 what can not be brought down says why, and no trigger is met again before there is more of it", () => {
    const life = opened(folder().script, {
      ...half,
      definition: { ...small, compaction: { compactPreserveWindow: 40 } }
    })
    const skips = () => life.told("step-skipped").filter(({ step }) => step === "compact extracting").length
    const first = sayUntil(life, () => skips() === 1, 0)
    const at = sayUntil(life, () => compactions(life).length === 1, first)
    assert.deepStrictEqual([skips(), at - first >= 3], [1, true], "what is within the window is not tried each tick")
    const [compaction] = compactions(life)
    assert.strictEqual(compaction?.preserved_count, 40)
    assert.match(
      compaction?.above_aim ?? "",
      /^the 40 newest messages stay, as compactPreserveWindow says: they take 5\d% of the window, \d\d% with the marker; the aim is 40%$/
    )
    const again = sayUntil(life, () => compactions(life).length === 2, at)
    assert.isAtLeast(again - at, 3)
  })

  it("F113 where there is room, what stays is ten points under the threshold, and a whole turn gives way to that", () => {
    const life = opened(folder().script)
    talkUntilCompacted(life)
    const [compaction] = compactions(life)
    assert.deepStrictEqual([compaction?.aim, compaction?.above_aim], [0.8 - 0.1, undefined])
    assert.isBelow(compaction?.after.tokens ?? Infinity, 0.7 * small.maxContextTokens)
  })

  it("F113 a turn that would stay whole in half of the window is cut where the aim has no room for it", () => {
    const read = defineTool({ name: "read", description: "Reads.", run: () => "Her papers are in order. ".repeat(130) })
    const looks = [{ calls: [{ tool: "read" }] }, { calls: [{ tool: "read" }] }, { calls: [{ tool: "read" }] }]
    const { script } = folder()
    let at = -1
    const model: Script = (prompt, call) => {
      const isAsked = prompt.messages.some(({ content }) => content === "Read it all.")
      const line = isAsked && prompt.tools.some(({ name }) => name === "read") ? looks[++at] : undefined
      return line === undefined ? script(prompt, call) : Effect.succeed(line)
    }
    const life = opened(model, {
      tools: [read],
      definition: { ...small, compaction: { compactPreserveWindow: 5, preCompactExtractionEnabled: false } },
      settings: { ...settings, compactEmergencyRatio: 0.95, compactSleepRatio: 0.5 }
    })
    talk(life, 12)
    life.say("Read it all.", { id: "read" })
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    const [compaction] = compactions(life)
    assert.deepInclude(compaction, { trigger: "sleep", threshold: 0.5 })
    assert.isUndefined(compaction?.above_aim)
    assert.isAtMost(compaction?.after.tokens ?? Infinity, 0.4 * small.maxContextTokens)
  })
})

describe("what the triggers measure", () => {
  it("F65 awake and asleep it is the whole conversation, with what the prompt at hand had no room for", () => {
    // Half of each prompt is no conversation, so that the oldest of what was said leaves it.
    const definition = { ...small, persona: "You are patient and exact. ".repeat(350) }
    for (const trigger of ["emergency", "sleep"] as const) {
      const compactEmergencyRatio = trigger === "sleep" ? 0.9 : 0.6
      const life = opened(folder().script, { definition, settings: { ...settings, compactEmergencyRatio } })
      talk(life, 30)
      if (trigger === "sleep") life.post({ type: "sleep" })
      life.rest()
      const first = compactions(life).toSorted((a, b) => a.at - b.at)[0]
      assert.strictEqual(first?.trigger, trigger)
      assert.isAtLeast(
        Math.round((first?.ratio ?? 0) * small.maxContextTokens),
        first?.before.tokens ?? Infinity,
        trigger
      )
    }
  })
})

const isHold = (row: unknown): boolean =>
  typeof row === "object" && row !== null && "compaction" in row && !("from" in row)
