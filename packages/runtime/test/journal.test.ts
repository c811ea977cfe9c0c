import { assert, describe, it } from "@effect/vitest"
import { recallFor } from "@reverie/runtime"
import { inTurn, type Script } from "@reverie/testkit"
import { selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { daysLater, dreamer, echoed, facts, idsIn, dataOf, journal, rowsOf, sleep, wake } from "./dreamer.ts"
import { folder, opened, settings, small, talkUntilCompacted } from "./folder.ts"
import { aTool, type Life, live } from "./rig.ts"

const note = (content: string, importance?: number) => ({
  tool: "add_journal_entry",
  arguments: { content, ...(importance === undefined ? {} : { importance }) }
})

const noted = (life: Life): ReadonlyArray<string> =>
  [...journal(life), ...journal(life, "episode")].map(({ content }) => content)

const recalled = (life: Life, question: string): ReadonlyArray<string> =>
  life
    .run(Effect.provide(recallFor(life.address(), question, { kinds: ["episode"] }), life.services()))
    .hits.map(({ entry }) => entry.text)

/** Writes 14 entries when it hears of a day, and says a word to everything else. */
const diarist: Script = ({ messages }) => {
  const { content = "", role } = messages.at(-1) ?? {}
  const [, day] = /^Day (\d+)\.$/m.exec(role === "user" ? content : "") ?? []
  const calls = Array.from({ length: 14 }, (_, index) => note(`Barge d${day}n${index} passed the lock.`, 1))
  if (day !== undefined) return Effect.succeed({ calls })
  return Effect.succeed({ text: "Aye." })
}

describe("the journal of a running assistant", () => {
  it("F115 F83: entries that no dream has read stay, a dream reads every one, and none is ever lost", () => {
    const life = live({
      tools: selfTools,
      definition: { maxContextTokens: 500_000 },
      model: dreamer({}, diarist)
    })
    for (let day = 0; day < 10; day++) life.say(`Day ${day}.`)
    life.rest()
    assert.strictEqual(journal(life).length, 140)
    wake(sleep(life))
    const sources = new Set(facts(life).flatMap((fact) => fact.sources.filter((id) => id.startsWith("j/"))))
    assert.strictEqual(sources.size, 140)
    for (let day = 10; day < 12; day++) life.say(`Day ${day}.`)
    life.rest()
    assert.strictEqual(journal(life).length, 100)
    assert.strictEqual(journal(life, "episode").length, 68)
    assert.strictEqual(new Set(noted(life)).size, 168)
    const away = journal(life, "episode").map(({ content }) => content)
    assert.include(away, "Barge d0n3 passed the lock.")
    assert.include(recalled(life, "barge d0n3 lock"), "Barge d0n3 passed the lock.")
  })

  it("F49 F83: what a dream prunes is found no more, and its words stay for good", () => {
    const model = dreamer(
      { consolidate: (prompt) => ({ text: JSON.stringify(echoed(dataOf(prompt), 2)) }) },
      inTurn({ calls: [note("A gull sat on the mast.")] }, { text: "Noted." }, { text: "Aye." })
    )
    const options = { tools: selfTools, model }
    const first = live(options)
    first.say("Good evening.")
    first.rest()
    wake(sleep(first))
    assert.deepInclude(journal(first)[0], { importance: 2, importance_method: "llm" })
    assert.include(recalled(first, "gull on the mast"), "A gull sat on the mast.")
    const later = daysLater(first, 8, options)
    sleep(later)
    assert.deepStrictEqual(journal(later), [])
    const [pruned] = journal(later, "episode")
    assert.deepInclude(pruned, { content: "A gull sat on the mast.", importance: 2 })
    assert.isString(pruned?.pruned_at)
    assert.deepStrictEqual(recalled(later, "gull on the mast"), [])
  })

  it("F55 F115: what a compaction archived is consolidated to its end, and keeps its importance of 7", () => {
    const harbour = Array.from({ length: 90 }, (_, index) => `Ann paid for berth ${index} of the old harbour.`)
    const model = folder({ summarize: harbour.join(" ") })
    const night = dreamer({
      consolidate: (prompt) => ({
        text: JSON.stringify(idsIn(dataOf(prompt)).map((id) => ({ id, importance: 2 })))
      })
    })
    const read: Array<string> = []
    const life = opened(
      (prompt, call) => {
        const isConsolidation = prompt.messages[0]?.content.startsWith("Task: consolidate") === true
        if (isConsolidation) read.push(dataOf(prompt))
        return isConsolidation ? night(prompt, call) : model.script(prompt, call)
      },
      {
        definition: { ...small, maxContextTokens: 20_000 },
        settings: { ...settings, compactSleepRatio: 0.99 }
      }
    )
    talkUntilCompacted(life, 200)
    const archive = journal(life)[0] ?? assert.fail("there is no archive")
    assert.isAbove(archive.content.length, 3_000)
    sleep(life)
    const lines = read.flatMap((data) => data.split("\n")).filter((line) => line.startsWith(`[j/${archive.id}`))
    assert.isAbove(lines.length, 1)
    const shown = lines.join(" ")
    for (const index of Array.from({ length: 90 }, (_, each) => each)) {
      if (archive.content.includes(`berth ${index} `)) assert.include(shown, `berth ${index} `)
    }
    assert.deepInclude(journal(life)[0], {
      id: archive.id,
      importance: 7,
      importance_method: "heuristic"
    })
    const consolidated = rowsOf(life, "state").find((value) => Array.isArray(value) && value.includes(archive.id))
    assert.isDefined(consolidated)
  })

  it("F55: a fact that was drawn from an archive names the archive as its source", () => {
    const model = folder({ summarize: "Bea bought the tug Aurora." })
    const night = dreamer()
    const life = opened((prompt, call) =>
      prompt.messages[0]?.content.startsWith("Task: consolidate") === true
        ? night(prompt, call)
        : model.script(prompt, call)
    )
    talkUntilCompacted(life)
    sleep(life)
    const [archive] = journal(life)
    const drawn = facts(life).filter(({ sources }) => sources.includes(`j/${archive?.id}`))
    assert.deepStrictEqual(
      drawn.map(({ trust }) => trust),
      [0.6]
    )
    assert.include(drawn[0]?.text, "Bea bought the tug Aurora.")
  })

  it("journal I4: what a person weighed keeps its importance, what a model weighed is weighed again at night", () => {
    const person = aTool("weigh", {
      usesRecords: true,
      idempotent: true,
      effect: (_, { records }) =>
        Effect.sync(() => {
          const [[id, entry] = ["", {}]] = records.read("journal")
          records.write("journal", id, {
            ...(entry as object),
            importance: 9,
            importance_method: "manual"
          })
          return "weighed"
        })
    })
    const model = dreamer(
      { consolidate: (prompt) => ({ text: JSON.stringify(echoed(dataOf(prompt), 2)) }) },
      inTurn(
        { calls: [note("Ludwig sold the tug.")] },
        { calls: [{ tool: "weigh" }, note("The pier is closed.", 9)] },
        { text: "Noted." }
      )
    )
    const life = live({ tools: [...selfTools, person], model })
    life.say("Evening.")
    life.rest()
    const told = () => journal(life).map((each) => [each.content, each.importance, each.importance_method])
    assert.deepStrictEqual(told(), [
      ["Ludwig sold the tug.", 9, "manual"],
      ["The pier is closed.", 9, "llm"]
    ])
    sleep(life)
    assert.deepStrictEqual(told(), [
      ["Ludwig sold the tug.", 9, "manual"],
      ["The pier is closed.", 2, "llm"]
    ])
  })
})
