import { assert, describe, it } from "@effect/vitest"
import { getContextType } from "@reverie/context"
import type { Prompt } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import type { Line } from "@reverie/testkit"
import { selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { dataOf, dreamer, echoed, facts, journal, report, rowsOf, sleep, wake } from "./dreamer.ts"
import { folder, opened, shownNext, small, talkUntilCompacted } from "./folder.ts"
import { aTool, type Life, live, type LifeOptions } from "./rig.ts"
import { dying } from "./dying.ts"

const note = (content: string) => ({ tool: "add_journal_entry", arguments: { content } })
const keep = (text: string) => ({ tool: "store_memory", arguments: { text } })
const review = { tool: "review_journal", arguments: {} }
const NOOP = { tool: "noop", arguments: {} }

const answer = (prompt: Prompt): Line => ({ text: JSON.stringify(echoed(dataOf(prompt))) })

/** Answers over one batch, in their order; the last one is given again. */
const rounds = (...lines: ReadonlyArray<(prompt: Prompt) => Line>) => {
  const asked: Array<Prompt> = []
  const consolidate = (prompt: Prompt): Line => {
    const at = Math.min(asked.push(prompt), lines.length) - 1
    return lines[at]?.(prompt) ?? {}
  }
  return { asked, consolidate }
}

const said = "The basin is nine metres deep."

const lived = (consolidate: (prompt: Prompt) => Line, options: LifeOptions = {}): Life => {
  const life = live({ model: dreamer({ consolidate }), tools: selfTools, ...options })
  life.say(said, { from: "Ann" })
  life.rest()
  return life
}

const steps = (life: Life) =>
  life
    .entries()
    .flatMap(({ records = [], step }) =>
      step?.name === "dream consolidating" ? [{ detail: step.detail ?? {}, records }] : []
    )

const underWay = (life: Life): ReadonlyArray<Json> =>
  rowsOf(life, "state").filter((value) => JSON.stringify(value).includes('"rounds"'))

const texts = (life: Life) => facts(life).map(({ text }) => text)

describe("consolidating is a context of its own", () => {
  it("F4 F7 F11 F13: its tools are offered and run, and what they say is committed before the next answer goes by it", () => {
    const model = rounds(() => ({ calls: [note("The basin is deep."), review] }), answer)
    const life = sleep(lived(model.consolidate))
    const [first, second, ...others] = model.asked
    assert.deepStrictEqual(
      first?.tools.map(({ name }) => name),
      ["noop", "add_journal_entry", "review_journal", "recall_memories", "store_memory"]
    )
    assert.deepStrictEqual(
      first?.messages.map(({ role }) => role),
      ["system", "user"]
    )
    assert.notInclude(first?.messages[0]?.content, "You are under test.")
    assert.deepStrictEqual(
      second?.messages.map(({ role }) => role),
      ["system", "user", "assistant", "tool", "tool"]
    )
    assert.include(second?.messages[4]?.content, "The basin is deep.")
    assert.lengthOf(others, 0)
    assert.deepStrictEqual(texts(life), [said])
    const [called, read] = steps(life)
    assert.isTrue(called?.records.some(({ kind, value }) => kind === "journal" && value !== null))
    assert.deepInclude(called?.detail, { proposed: 2, accepted: 2, note: "called add_journal_entry, review_journal" })
    assert.deepInclude(read?.detail, { read: 1, accepted: 1 })
    assert.deepStrictEqual(underWay(life), [])
    assert.deepInclude(report(life).get("consolidating"), { read: 1, steps: 2 })
  })

  it("F4: a model that calls for ever is asked ten times, the last time without tools, ten times more in another night, and no more", () => {
    const model = rounds(() => ({ calls: [review] }))
    const life = sleep(lived(model.consolidate))
    assert.deepStrictEqual(
      model.asked.map(({ tools }) => tools.length),
      [5, 5, 5, 5, 5, 5, 5, 5, 5, 0]
    )
    assert.strictEqual(life.status(), "dreaming.resting")
    for (const asked of [20, 20]) {
      wake(life)
      sleep(life)
      assert.lengthOf(model.asked, asked)
    }
  })

  it("L2: over one batch run at most twenty calls", () => {
    const model = rounds(() => ({ calls: Array.from({ length: 15 }, (_, index) => note(`Boat ${index} is blue.`)) }))
    const life = sleep(lived(model.consolidate))
    assert.lengthOf(journal(life), 20)
    assert.lengthOf(model.asked, 3)
  })

  it("L4: a tool that the context does not have is not run, and the model learns it", () => {
    let ran = 0
    const horn = aTool("sound_horn", { idempotent: true, effect: () => Effect.sync(() => `${++ran}`) })
    const model = rounds(() => ({ calls: [{ tool: "sound_horn" }, { tool: "go_to_sleep" }] }), answer)
    const life = sleep(lived(model.consolidate, { tools: [...selfTools, horn] }))
    assert.strictEqual(ran, 0)
    const told = model.asked[1]?.messages.filter(({ role }) => role === "tool") ?? []
    assert.lengthOf(told, 2)
    for (const { content } of told) assert.include(content, "It is no tool of a dream.")
    assert.deepStrictEqual(texts(life), [said])
  })

  it("F11: store_memory keeps a text with the commit of its call, and its report is its result", () => {
    const model = rounds(() => ({ calls: [keep("The basin was dug in 1902.")] }), answer)
    const life = sleep(lived(model.consolidate))
    assert.deepStrictEqual(
      rowsOf(life, "passage").map((value) => (value as { readonly text: string }).text),
      ["The basin was dug in 1902."]
    )
    assert.include(model.asked[1]?.messages.at(-1)?.content, '"success":true')
    assert.isFalse(life.settled().some(({ id }) => id.includes("#report")))
  })

  it("K1: noop ends it with what was answered last, in the same commit", () => {
    const model = rounds(
      (prompt) => ({ ...answer(prompt), calls: [note("The basin is deep.")] }),
      () => ({ calls: [NOOP] })
    )
    const life = sleep(lived(model.consolidate))
    assert.lengthOf(model.asked, 2)
    assert.deepStrictEqual(texts(life), [said])
  })

  it("what a dream wrote is read by the next one, once", () => {
    const model = rounds(() => ({ calls: [note("The basin is deep.")] }), answer, answer)
    const life = sleep(lived(model.consolidate))
    assert.deepStrictEqual(texts(life), [said])
    sleep(wake(life))
    assert.deepStrictEqual(texts(life).toSorted(), ["The basin is deep.", said])
    sleep(wake(life))
    assert.lengthOf(model.asked, 3)
  })

  it("L6: a model that always writes lets the journal of one that no one talks to grow for a night, and no longer", () => {
    const model = rounds((prompt) => {
      const round = prompt.messages.filter(({ role }) => role === "assistant").length
      const calls = [note(`The basin is deep, says ${model.asked.length}.`), keep(`Kept by ${model.asked.length}.`)]
      return round === 0 ? { ...answer(prompt), calls } : answer(prompt)
    })
    const life = lived(model.consolidate)
    const sizes = Array.from({ length: 6 }, () => {
      wake(sleep(life))
      return [journal(life).length, rowsOf(life, "passage").length]
    })
    for (const size of sizes) assert.deepStrictEqual(size, [1, 1])
    assert.lengthOf(texts(life), 2)
    const second = model.asked[2]
    assert.deepStrictEqual(
      second?.tools.map(({ name }) => name),
      ["noop", "review_journal", "recall_memories"]
    )
    assert.notInclude(second?.messages[0]?.content, "add_journal_entry")
    assert.lengthOf(model.asked, 4)
  })

  it("L5: of what the calls said the model reads what fits into its window", () => {
    const long = Array.from({ length: 8 }, (_, index) => note(`${index} ${"The basin is deep. ".repeat(50)}`))
    const model = rounds(
      () => ({ calls: long }),
      () => ({ calls: [review] }),
      answer
    )
    const life = lived(model.consolidate, { definition: { maxContextTokens: 2_500, reservedResponseTokens: 300 } })
    sleep(life)
    assert.deepStrictEqual(texts(life), [said])
    for (const { messages } of model.asked) {
      const tokens = messages.reduce((sum, { content }) => sum + content.length / 4, 0)
      assert.isAtMost(tokens, 2_500)
    }
  })
})

const isConsolidating = (life: Life): boolean => life.status() === "dreaming.consolidating"

describe("a crash in the middle of a consolidation", () => {
  const points = ["after-model", "before-commit", "after-commit"] as const
  const deaths = points.flatMap((point) => [1, 2, 3].map((passing) => [point, passing] as const))

  /** Two rounds of calls and an answer, by the rounds that the model is shown. Keeps which of them it was asked for. */
  const inRounds = () => {
    const asked: Array<number> = []
    const consolidate = (prompt: Prompt): Line => {
      const round = prompt.messages.filter(({ role }) => role === "assistant").length
      asked.push(round)
      if (round === 0) return { calls: [note("One."), keep("A text.")] }
      return round === 1 ? { calls: [note("Two.")] } : answer(prompt)
    }
    return { asked, consolidate }
  }

  it.each(deaths)("L1 %s %i: nothing is lost, and nothing that was committed is asked for again", (point, passing) => {
    const model = inRounds()
    const first = lived(model.consolidate, dying(point, passing, isConsolidating))
    first.post({ type: "sleep", forMs: 3_600_000 })
    first.until(() => first.dead)
    const second = live({
      disk: first.disk,
      startAt: first.time.now + 60_000,
      model: dreamer({ consolidate: model.consolidate }),
      tools: selfTools,
      worker: { worker: "another" }
    })
    second.rest()
    assert.strictEqual(second.status(), "dreaming.resting")
    assert.deepStrictEqual(texts(second), [said])
    assert.deepStrictEqual(
      journal(second).map(({ content }) => content),
      ["One.", "Two."]
    )
    assert.lengthOf(rowsOf(second, "passage"), 1)
    assert.deepStrictEqual([...new Set(model.asked)], [0, 1, 2])
    // What was not committed is asked for once more: one round, whichever it was.
    assert.lengthOf(model.asked, point === "after-commit" ? 3 : 4)
    assert.deepStrictEqual(underWay(second), [])
  })
})

describe("the signal pre_compaction", () => {
  const tasked = (prompt: Prompt): boolean => prompt.messages.some(({ content }) => content.startsWith("Task: extract"))
  const persona = "You are patient and exact."
  const isShown = ({ messages }: Prompt): boolean => messages.some(({ content }) => content.includes(persona))

  it.each([undefined, "extract"] as const)(
    "F9 F12 F63: it chooses the parts and tools of an extraction, and is over with it; failing: %s",
    (failing) => {
      const model = folder({
        extract: [{ calls: [note("Something.")] }, { calls: [NOOP] }],
        ...(failing && { failing })
      })
      const wary = getContextType("pre_compaction")
      const life = opened(model.script, {
        definition: {
          ...small,
          persona,
          contexts: { pre_compaction: { ...wary, toolFilter: ["noop", "add_journal_entry"] } }
        }
      })
      talkUntilCompacted(life)
      shownNext(life)
      const extractions = life.scripted.prompts.filter(tasked)
      const before = life.scripted.prompts.slice(0, life.scripted.prompts.findIndex(tasked))
      assert.isNotEmpty(extractions)
      assert.isFalse(extractions.some(isShown))
      assert.isTrue(before.every(isShown))
      assert.deepStrictEqual(
        extractions.map(({ tools }) => tools.map(({ name }) => name).toSorted()),
        extractions.map(() => ["add_journal_entry", "noop"])
      )
      const last = life.scripted.prompts.at(-1)
      assert.isTrue(last !== undefined && isShown(last))
      const signals = life.entries().flatMap(({ step }) => step?.detail?.["context_signals"] ?? [])
      assert.deepStrictEqual(
        signals,
        (failing === undefined ? extractions : []).map(() => ({ pre_compaction: true }))
      )
    }
  )
})
