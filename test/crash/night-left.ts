// NightLeft: everything that stands in a directory after a night, in lines that can be compared.
// Owns what counts: records, messages, steps, settlements, and what the index finds. Leaves comparing to night.ts.
// N6  It is read by a fleet that was opened anew. Everything is reported, the order of commits included, but what depends on
//     the conversations that a process held in mind, since another process holds none of them: how many there were, what
//     was shown of them beside an event, and the share of the window that this took.

import { isJsonObject, type Json } from "@reverie/protocol"
import { Fleet, type FleetOptions } from "reverie"
import { nightFleet, SLEEPER } from "./night-life.ts"

export interface Left {
  readonly lines: ReadonlyArray<string>
  /** Records by kind. */
  readonly kept: Readonly<Record<string, number>>
  /** Commits of dreams and compactions. */
  readonly steps: number
}

const withoutConversations = (text: string): string =>
  text
    .replace(
      /("operation":"pruning","steps":3|"name":"dream pruning","ok":true,.*?"detail":{)(.*?)"read":\d+/,
      '$1$2"read":0'
    )
    .replace(/^(compaction .*"threshold":[\d.]+,"ratio":)[\d.]+/, "$10")

/** What was shown of a conversation held in mind, and of nothing else. */
const isOfConversations = (kind: string, value: Json): boolean =>
  kind === "shown" &&
  isJsonObject(value) &&
  Array.isArray(value["parts"]) &&
  value["parts"].every((part: Json) => isJsonObject(part) && part["key"] === "entity_context")

const QUESTIONS = [
  "Where is the Aurora?",
  "Who found the anchor of the Borealis?",
  "Where does the harbour book stand?"
]

/** More than any night has. */
const PAGE = 100_000

export const leftIn = async (place: Pick<FleetOptions, "data" | "deployment" | "worker">): Promise<Left> => {
  await using fleet = await Fleet.open({ ...place, fleet: nightFleet, model: "offline" })
  const kept: Record<string, number> = {}
  const lines: Array<string> = []
  let steps = 0
  const line = (kind: string, value: Json): void => {
    lines.push(withoutConversations(`${kind} ${JSON.stringify(value)}`))
  }
  for (const { key, kind, value } of await fleet.memory.records(SLEEPER)) {
    if (isOfConversations(kind, value)) continue
    kept[kind] = (kept[kind] ?? 0) + 1
    line(`${kind} ${key}`, value)
  }
  for (const { entry } of await fleet.history.entries(SLEEPER, 1, PAGE)) {
    const { messages, no, settled = [], status, step } = entry
    for (const message of messages) line(`message in ${no}`, message as unknown as Json)
    for (const { id, outcome } of settled) line(`settled in ${no}`, { id, outcome })
    if (step?.kind !== "dream" && step?.kind !== "compact") continue
    steps++
    line(`step in ${no}`, { name: step.name, ok: step.ok, status, detail: step.detail ?? null })
  }
  for (const question of QUESTIONS) {
    const { hits } = await fleet.memory.recall(SLEEPER, question, { limit: 50 })
    line(`found for ${question}`, hits.map(({ entry }) => `${entry.id} ${entry.text}`).toSorted())
  }
  line("state", (await fleet.inspect(SLEEPER))?.state.status ?? "")
  return { lines, kept, steps }
}
