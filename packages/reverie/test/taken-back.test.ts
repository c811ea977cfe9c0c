// TakenBack: lives of many days and nights, some of which a person takes back. REVERIE_NIGHTS says how many (12 when not said).
// N1  A night that is taken back leaves what is found as it was before it: hits, order, facts and reasons to the byte, scores to the
//     fifth digit (an index adds up in single precision, in the order in which its lists came to be).
// N2  What is said again every day makes a memory grow with the logarithm of the days, and no faster.

import { assert, describe, test } from "vitest"
import { defineAssistant, type Fact, memoryTools } from "../src/index.ts"
import { testFleet } from "../src/testing/index.ts"

const NIGHTS = Number(process.env["REVERIE_NIGHTS"] ?? 12)

/** A stream of numbers from 0 to 1, the same for the same seed. */
const dice = (seed: number) => () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
  return seed / 0x80_00_00_00
}

const names = ["Ann", "Bob", "Cleo", "Dora"]
const towns = ["Bergen", "Oslo", "Kiel", "Riga", "Turku", "Gdansk"]
const things = ["dog", "boat", "bicycle", "piano", "garden", "telescope"]
const kinds = ["fact", "profile", "episode", "message", "passage"] as const
const questions = ["Where does Ann live?", "Who has a boat?", "What did Bob adopt?", "Dora", "telescope in Riga"]

const definition = defineAssistant({ id: "desk", instructions: "You only listen.", tools: [...memoryTools] })

const opened = () => testFleet(definition, { model: "offline", data: "temporary" })
type Opened = Awaited<ReturnType<typeof opened>>

const say = async (fleet: Opened, from: string, text: string): Promise<void> => {
  await fleet.post("desk", { type: "message", text, at: fleet.clock.now() }, { from })
}

const sleep = async (fleet: Opened): Promise<string> => {
  await fleet.sleep("desk")
  await fleet.idle()
  return (await fleet.memory.dreams("desk"))[0]?.id ?? ""
}

const wakeUp = async (fleet: Opened): Promise<void> => {
  await fleet.wake("desk")
  await fleet.clock.advance("1d")
}

/** All that is found of the questions, with scores and reasons. */
const found = async (fleet: Opened): Promise<string> => {
  const all = []
  for (const question of questions) {
    for (const some of [undefined, ...kinds.map((kind) => [kind])] as const) {
      const options = some === undefined ? { limit: 40 } : { limit: 40, kinds: some }
      all.push(await fleet.memory.recall("desk", question, options))
    }
  }
  return JSON.stringify(all).replaceAll(/(\d\.\d{4})\d+/g, "$1")
}

/** All that is found, with the facts that it is found by; an index that is made anew weighs some words a little otherwise. */
const attached = async (fleet: Opened): Promise<ReadonlyArray<string>> => {
  const { hits } = await fleet.memory.recall("desk", questions.join(" "), { limit: 10_000, kinds: [...kinds] })
  return hits.map(({ entry, why }) => `${entry.id} ${why.facts.toSorted().join(" ")}`).toSorted()
}

const holding = (facts: ReadonlyArray<Fact>): ReadonlyArray<string> =>
  facts.flatMap(({ sources, state, text }) => (state === "active" ? [`${text} (${sources.join(" ")})`] : [])).toSorted()

describe(`${NIGHTS} nights`, () => {
  test(
    "N1 a night that is taken back leaves hits, order, facts and reasons as they were, to the byte",
    { timeout: 600_000 },
    async () => {
      const fleet = await opened()
      const roll = dice(7)
      const one = (some: ReadonlyArray<string>): string => some[Math.floor(roll() * some.length)] ?? ""
      let undone = 0
      let mattered = 0
      for (let night = 0; night < NIGHTS; night++) {
        for (let said = 0; said < 4; said++) {
          const [thing, town] = [one(things), one(towns)]
          const lines = [
            `I live in ${town} now.`,
            `I adopted a ${thing} in ${town} last year.`,
            `My ${thing} is called ${one(names)}.`,
            `${one(names)} sold the ${thing} to ${one(names)}.`
          ]
          await say(fleet, one(names), one(lines))
        }
        await fleet.idle()
        const before = { found: await found(fleet), facts: holding(await fleet.memory.facts("desk")) }
        const dream = await sleep(fleet)
        const after = await found(fleet)
        if (roll() < 0.5) {
          await fleet.memory.undoDream("desk", dream)
          await fleet.idle()
          assert.strictEqual(await found(fleet), before.found, `night ${night}`)
          assert.deepStrictEqual(holding(await fleet.memory.facts("desk")), before.facts)
          undone++
          if (after !== before.found) mattered++
        }
        await wakeUp(fleet)
      }
      assert.isAbove(undone, 0)
      assert.isAbove(mattered, undone / 2)
      assert.isAbove(holding(await fleet.memory.facts("desk")).length, 3)
      const index = await attached(fleet)
      await fleet.memory.rebuild("desk")
      assert.deepStrictEqual(await attached(fleet), index)
      assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
      await fleet.close()
    }
  )

  test(
    "N2 what is said every day again makes a memory grow with the logarithm of the days",
    { timeout: 600_000 },
    async () => {
      const fleet = await opened()
      const bytes: Array<number> = []
      const counts: Array<number> = []
      for (let night = 0; night < NIGHTS; night++) {
        await say(fleet, "Ann", "I live in Bergen now.")
        await say(fleet, "Bob", "I adopted a dog in Oslo last year.")
        await fleet.idle()
        await sleep(fleet)
        const records = await fleet.memory.records("desk", ["fact", "entity", "journal", "passage", "observation"])
        bytes.push(JSON.stringify(records).length)
        counts.push(records.length)
        await wakeUp(fleet)
      }
      const [first = 0] = counts
      assert.isAbove(first, 1)
      assert.isAtMost(counts.at(-1) ?? 0, first + Math.log2(NIGHTS))
      const [one = 0] = bytes
      assert.isAtMost(bytes.at(-1) ?? 0, one * (1 + Math.log2(NIGHTS)))
      console.log(`records ${first} -> ${counts.at(-1)}, bytes ${one} -> ${bytes.at(-1)}`)
      await fleet.close()
    }
  )
})
