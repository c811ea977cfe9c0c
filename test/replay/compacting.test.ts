// A real conversation compacted again and again in a running fleet, by the offline model.

import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Compaction, defineAssistant, defineFleet, Fleet, play, readScript } from "reverie"
import { conversation, isConversationHere } from "./counted.ts"

const TIMES = 7
const WINDOW = 20
/** Small enough that a third of the conversation fills it TIMES times. */
const maxContextTokens = 6_000

const friend = defineAssistant({ id: "friend", instructions: "You know both of them well.", maxContextTokens })
const definition = defineFleet({ assistants: [friend] })

type Place = { readonly no: number; readonly index: number }
const isBefore = (one: Place, other: Place): boolean =>
  one.no < other.no || (one.no === other.no && one.index < other.index)

interface Real {
  readonly place: Place
  readonly content: string
}

/** Everything that was said, by people and by the assistant; what an extraction leaves is none of it. */
const saidIn = async (fleet: Fleet, id: string): Promise<ReadonlyArray<Real>> => {
  const version = (await fleet.inspect(id))?.version ?? 0
  const rows = await fleet.history.entries(id, 1, version)
  return rows.flatMap(({ entry: { messages, no } }) =>
    messages.flatMap(({ content, meta }, index) =>
      meta?.["type"] === "extraction" ? [] : [{ place: { no, index }, content }]
    )
  )
}

/** Of the newest messages that a compaction saw, those that it kept. */
const keptOf = ({ after, range }: Compaction, said: ReadonlyArray<Real>, made: Compaction): number => {
  const seen = said.filter(({ place }) => !isBefore(place, range.from) && place.no < madeAt(made))
  return seen.slice(-WINDOW).filter(({ place }) => !isBefore(place, after.from)).length
}

let commits: ReadonlyMap<string, number> = new Map()
const madeAt = ({ id }: Compaction): number => commits.get(id) ?? 0

describe.runIf(isConversationHere)("a real conversation, compacted seven times", () => {
  it("F51 F113 F114", { timeout: 240_000 }, async () => {
    const data = await mkdtemp(join(tmpdir(), "reverie-compacting-"))
    try {
      await using fleet = await Fleet.open({ fleet: definition, data, model: "offline", durability: "normal" })
      const { letters } = readScript(await readFile(conversation, "utf8"), definition)
      const t0 = performance.now()
      let at = 0
      for (; at < letters.length && (await fleet.compactions.list("friend")).length < TIMES; at += 10) {
        await play(fleet, letters.slice(at, at + 10))
        await fleet.idle()
      }
      const made = await fleet.compactions.list("friend")
      const said = await saidIn(fleet, "friend")
      const rows = await fleet.history.entries("friend", 1, (await fleet.inspect("friend"))?.version ?? 0)
      commits = new Map(
        rows.flatMap(({ entry: { no, records = [] } }) =>
          records.filter(({ kind }) => kind === "compaction").map(({ key }) => [key, no] as const)
        )
      )
      console.log("letters", at, "ms", performance.now() - t0)
      for (const each of made) {
        console.log(
          each.trigger,
          each.ratio.toFixed(2),
          each.threshold,
          "kept",
          keptOf(each, said, each),
          "of 20; preserved",
          each.preserved_count,
          "after",
          (each.after.tokens / maxContextTokens).toFixed(2),
          "calls",
          JSON.stringify(each.extraction)
        )
      }
      console.log(made.at(-1)?.summary)
      assert.strictEqual(made.length, TIMES)
      for (const each of made) assert.isAtLeast(keptOf(each, said, each), 18)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})
