// ForgettingLives: random lives with words in them that are forgotten, at any place where a fleet keeps its data.
// Owns the lives and what is asserted of them. Leaves the place, and finding a text in its bytes, to the test.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { zstdDecompressSync } from "node:zlib"
import type { Line } from "@reverie/testkit"
import * as fc from "fast-check"
import { assert } from "vitest"
import { exportFleet, type Fleet, sendMessage } from "../src/index.ts"
import { aDirectory, filesWith, openFleet } from "./rig.ts"

/** Where a desk and a clerk live, and no one else. */
export interface Home {
  readonly fleet: Fleet
  /** Where a text stands in what is kept, in words for who looks for the cause; empty where it does not. */
  readonly holds: (text: string) => Promise<string>
  readonly exported: () => Promise<string>
  readonly end: () => Promise<void>
}

/** A fresh home, whose model says these lines. */
export type Settling = (says: ReadonlyArray<Line>) => Promise<Home>

/** The older part of a life is archived early, and the one writes to the other. */
export const ARCHIVED_EARLY = { retention: { archiveAfter: 2 }, tools: [sendMessage] } as const

const isInSegments = (data: string, text: string): boolean => {
  const database = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
  try {
    const rows = database.prepare("SELECT body FROM segments WHERE codec = 'zstd' AND place_key IS NULL").all()
    return rows.some(({ body }) => zstdDecompressSync(body as Uint8Array).includes(text))
  } finally {
    database.close()
  }
}

/** Whether a text stands in any file of a directory of segments, also in one that nothing refers to. */
const isInDirectory = (directory: string, text: string): boolean =>
  existsSync(directory) &&
  readdirSync(directory, { recursive: true, withFileTypes: true }).some(
    (entry) => entry.isFile() && zstdDecompressSync(readFileSync(join(entry.parentPath, entry.name))).includes(text)
  )

let homes = 0

/** A home in a directory of its own; every other one has its segments in a second. */
export const settleInDirectory: Settling = async (says) => {
  const [data, directory] = [aDirectory(), aDirectory()]
  const apart = homes++ % 2 === 0 ? { segments: { directory } } : {}
  const fleet = await openFleet({ data, says, assistant: ARCHIVED_EARLY, ...apart })
  const holds = (text: string): string => {
    const places = [...filesWith(data, text)]
    if (isInSegments(data, text)) places.push("a segment in the store")
    if (isInDirectory(directory, text)) places.push("a segment apart")
    return places.join()
  }
  return {
    fleet,
    holds: (text) => Promise.resolve(holds(text)),
    exported: async () => (await Array.fromAsync(exportFleet({ from: { data, ...apart } }))).join("\n"),
    end: () => fleet.close()
  }
}

/** What every canary begins with: longer than what random ids of thousands of lives have in them by chance. */
export const CANARY_MARK = "zqk7wvxq"

const said = fc.constantFrom("none", "asked", "answered", "both", "block", "id")

const canaryLife = fc.record({
  word: fc.stringMatching(/^[a-z]{2,8}[-_. ]?[0-9]{3,6}$/),
  turns: fc.array(fc.record({ to: fc.constantFrom("desk", "clerk"), from: fc.constantFrom("ann", "ben"), said }), {
    minLength: 1,
    maxLength: 6
  }),
  whole: fc.boolean(),
  /** The older part lies in segments by then. */
  archived: fc.boolean()
})

type CanaryTurns = (typeof canaryLife extends fc.Arbitrary<infer A> ? A : never)["turns"]

const hear = async (fleet: Fleet, turns: CanaryTurns, canary: string): Promise<void> => {
  for (const [index, turn] of turns.entries()) {
    const { from, to } = turn
    const text = turn.said === "asked" || turn.said === "both" ? `Keep ${canary}, ${index}.` : `Hello ${index}.`
    await fleet.send(to, text, { from, id: turn.said === "id" ? `${canary}/${index}` : `m-${index}` })
    await fleet.idle()
    if (turn.said !== "block") continue
    await fleet.blocks.create({ owner: to, label: `b-${index}`, type: "core", content: `${canary} stands here` })
  }
}

/** None of a forgotten text is left, and every life replays. */
export const liveWithCanaries = (settle: Settling, numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(canaryLife, async ({ archived, turns, whole, word }) => {
      const canary = `${CANARY_MARK}${word}`
      const answers = turns.map((turn) =>
        turn.said === "answered" || turn.said === "both" ? `Aye, ${canary}!` : "Aye."
      )
      const { end, exported, fleet, holds } = await settle(answers.map((text) => ({ text })))
      await hear(fleet, turns, canary)
      if (turns.some((turn) => turn.said !== "none" && turn.said !== "answered"))
        assert.notStrictEqual(await holds(canary), "")
      if (archived) await fleet.vacuum()
      const versions = async () => [(await fleet.inspect("desk"))?.version, (await fleet.inspect("clerk"))?.version]
      const before = await versions()
      if (whole) await fleet.forget({ everything: true })
      else {
        await fleet.forget({ text: canary })
        assert.deepStrictEqual(await versions(), before)
      }
      assert.strictEqual(await holds(canary), "", canary)
      for (const id of ["desk", "clerk"]) assert.isTrue((await fleet.replay.verify(id)).equal, id)
      await end()
      assert.strictEqual(await holds(canary), "", canary)
      assert.notInclude(await exported(), canary)
    }),
    { numRuns }
  )

/** `handed`: the desk sends the words on to the clerk, who repeats them. */
const personTurn = fc.record({ from: fc.constantFrom("ann", "ben"), answered: fc.boolean(), handed: fc.boolean() })

const sending = (text: string): Line => ({
  calls: [{ tool: "send_message", arguments: { to: "clerk", text } }]
})

let lives = 0

/** What a word of someone looks like, in any life. */
export const wordsOf = (from: string): RegExp => new RegExp(`[zx]q\\d+k${from}\\d`)

/** Of who is forgotten no word is left, and of others all is. */
export const liveWithPeople = (settle: Settling, numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(personTurn, { minLength: 1, maxLength: 6 }), fc.boolean(), async (turns, archived) => {
      const life = ++lives
      const word = (of: string, from: string, index: number): string => `${of}q${life}k${from}${index}`
      const says = turns.flatMap(({ answered, from, handed }, index): ReadonlyArray<Line> => {
        const aye = { text: answered ? `Aye ${from}, ${word("x", from, index)}.` : "Aye." }
        return handed ? [sending(`They say ${word("z", from, index)} to me.`), aye, aye] : [aye]
      })
      const { end, fleet, holds } = await settle(says)
      for (const [index, { from }] of turns.entries()) {
        await fleet.send("desk", `Keep ${word("z", from, index)} for me.`, { from })
        await fleet.idle()
      }
      if (archived) await fleet.vacuum()
      const before = (await fleet.inspect("desk"))?.version
      await fleet.forget({ person: "ann" })
      for (const [index, { answered, from }] of turns.entries()) {
        for (const of of answered ? ["z", "x"] : ["z"]) {
          const place = await holds(word(of, from, index))
          assert.strictEqual(place !== "", from === "ben", place)
        }
      }
      assert.strictEqual((await fleet.inspect("desk"))?.version, before)
      for (const id of ["desk", "clerk"]) assert.isTrue((await fleet.replay.verify(id)).equal, id)
      await end()
    }),
    { numRuns }
  )
