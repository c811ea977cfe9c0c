// Guidance: an assistant learns which of its tools is for what.

import { assert, describe, test } from "vitest"
import type { Prompt } from "@reverie/model"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { blockTools, memoryTools, selfTools } from "../src/index.ts"
import { openFleet } from "./rig.ts"

/** What each situation asks for, as the source documents have it, by the tool that serves it. */
const guidance: ReadonlyArray<readonly [tool: string, when: RegExp]> = [
  ["create_project", /work over several sessions.*a single simple request needs neither/],
  ["add_goal", /an outcome to follow in steps.*belongs in a project/],
  ["add_session_memory", /what someone prefers.*for your decisions/],
  ["add_session_memory", /kept for good/],
  ["add_journal_entry", /kept for good.*belong in session memory/],
  ["update_entity_observation", /what concerns one of them/],
  ["store_memory", /knowledge of the world.*belongs in session memory/],
  ["block", /core: who you are\. working: what you are at\. log: .* archival: /]
]

describe("what a model learns of its tools", () => {
  test("F120 for each situation and each tier of memory it reads which tool is for it", async () => {
    const prompts: Array<Prompt> = []
    const says: Script = (prompt) =>
      Effect.sync(() => {
        prompts.push(prompt)
        return { text: "Good." }
      })
    await using fleet = await openFleet({ says, tools: [...selfTools, ...memoryTools, ...blockTools] })
    await fleet.answer("desk", "Hello?")
    const told = new Map(prompts[0]?.tools.map((offer) => [offer.name, JSON.stringify(offer)]))
    for (const [tool, when] of guidance) assert.match(told.get(tool) ?? "", when, tool)
  })
})
