// A real conversation compacted again and again in a running fleet, by the offline model. Without it, an invented one of the
// same length: the rules are the same, and nothing is skipped.

import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Compaction, defineAssistant, defineFleet, Fleet, play, readScript, type ScriptLine } from "reverie"
import { conversation, isConversationHere } from "./counted.ts"

const LIMIT = { timeout: 240_000 }
const TIMES = 7
const WINDOW = 20
const AT_ONCE = 10
/** Small enough that one conversation fills it TIMES times. */
const maxContextTokens = 5_500

const friend = defineAssistant({ id: "friend", instructions: "You know both of them well.", maxContextTokens })
const definition = defineFleet({ assistants: [friend] })

interface Place {
  readonly no: number
  readonly index: number
}

const isBefore = (one: Place, other: Place): boolean =>
  one.no < other.no || (one.no === other.no && one.index < other.index)

/** What was lived through: what was said and when, and which commit made which compaction. */
const livedBy = async (fleet: Fleet) => {
  const rows = await fleet.history.entries("friend", 1, (await fleet.inspect("friend"))?.version ?? 0)
  const said = rows.flatMap(({ entry: { messages, no } }) =>
    messages.map(({ calls, role }, index) => ({ no, index, role, tools: (calls ?? []).map(({ tool }) => tool) }))
  )
  const commits = new Map<string, number>()
  for (const { entry } of rows) {
    for (const { key, kind } of entry.records ?? []) if (kind === "compaction") commits.set(key, entry.no)
  }
  const triggers = rows.filter(({ entry }) => entry.status === "compacting.extracting").map(({ entry }) => entry.tick)
  return { said, commits, ticks: new Set(triggers) }
}

type Lived = Awaited<ReturnType<typeof livedBy>>

/** How many of the newest messages that there were before a compaction it has kept. */
const keptOf = ({ after, id }: Compaction, { commits, said }: Lived): number =>
  said
    .filter(({ no }) => no < (commits.get(id) ?? 0))
    .slice(-WINDOW)
    .filter((place) => !isBefore(place, after.from)).length

const SHRED = /[{}]|":|\\"|language model|Refused:|result of |\[calls /

const compactedBy = async (letters: ReadonlyArray<ScriptLine>) => {
  const data = await mkdtemp(join(tmpdir(), "reverie-compacting-"))
  try {
    await using fleet = await Fleet.open({ fleet: definition, data, model: "offline", durability: "normal" })
    const made = () => fleet.compactions.list("friend")
    for (let at = 0; at < letters.length && (await made()).length < TIMES; at += AT_ONCE) {
      await play(fleet, letters.slice(at, at + AT_ONCE))
      await fleet.idle()
    }
    return { made: await made(), lived: await livedBy(fleet), verified: await fleet.replay.verify("friend") }
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

const assertKept = (
  { lived, made, verified }: Awaited<ReturnType<typeof compactedBy>>,
  speakers: ReadonlyArray<string>
): void => {
  assert.strictEqual(made.length, TIMES)
  assert.strictEqual(lived.ticks.size, TIMES, "no trigger is met again in the tick after a compaction")
  for (const each of made) {
    const { above_aim, after, extraction, preserved_count, summary, threshold } = each
    assert.isAtLeast(keptOf(each, lived), 18, each.id)
    assert.isAtLeast(preserved_count, WINDOW)
    assert.isUndefined(above_aim)
    assert.isAtMost(after.tokens / maxContextTokens, threshold - 0.1)
    assert.isAtMost(extraction?.calls_made ?? 0, 10)
    assert.notMatch(summary, SHRED)
    const [head = "", heading, ...lines] = summary.split("\n")
    assert.match(head, / spoke (?:on|from) /)
    assert.strictEqual(heading, "What was said, word for word:")
    for (const line of lines.filter((text) => text !== "[…]")) {
      const speaker = /^- (.+?) \(\d{1,2} \w+ \d{4}\): \S/.exec(line)?.[1] ?? line
      assert.include(speakers, speaker)
    }
  }
  assert.isFalse(lived.said.some(({ role, tools }) => role === "assistant" && tools.includes("noop")))
  assert.isTrue(verified.equal)
}

const berths = ["Birch", "Alder", "Willow", "Rowan"]

/** Two harbour masters, who tell each other of ships. */
const invented = Array.from({ length: 420 }, (_, at) => {
  const from = at % 2 === 0 ? "Nora" : "Ivo"
  const ship = `the ${berths[at % 4]} ${at}`
  const text = `I saw ${ship} yesterday, and she paid ${100 + at} crowns for ${2 + (at % 5)} nights. Her mate told me that they sail to Oslo with ${at % 40} crates of tea. I sold them ${at % 7} ropes and wrote ${200 + at} into the book of the harbour.`
  return JSON.stringify({ id: `line-${at}`, at: Date.UTC(2023, 4, 8) + at * 3_600_000, from, text })
}).join("\n")

describe("a conversation, compacted seven times", () => {
  it(
    "F51 F113 F114 S5 keeps the newest messages, gets under its threshold, and becomes prose of who said what",
    LIMIT,
    async () => {
      const run = await compactedBy(readScript(invented, definition).letters)
      assertKept(run, ["Nora", "Ivo"])
      assert.match(run.made[0]?.summary ?? "", /^Nora, Ivo spoke from 8 May 2023 to \d+ May 2023\.\n/)
    }
  )
})

describe.runIf(isConversationHere)("a real conversation, compacted seven times", () => {
  it(
    "F51 F113 F114 S5 keeps its newest messages, gets under its threshold, and becomes prose of who said what",
    LIMIT,
    async () => {
      const script = readScript(await readFile(conversation, "utf8"), definition)
      const run = await compactedBy(script.letters)
      assertKept(run, ["Caroline", "Melanie"])
      assert.match(run.made[0]?.summary ?? "", /^Caroline, Melanie spoke from 8 May 2023 to \d+ \w+ 2023\.\n/)
    }
  )
})
