// Counted: a fleet whose model and tools are counted, each call of them, and a course of events played on it.
// Owns the counters and what reached the model. Leaves what must hold to the tests.

import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import harbor from "@reverie/example-harbor"
import { offlineModel } from "@reverie/model-offline"
import * as Effect from "effect/Effect"
import {
  type AssistantDefinition,
  defineAssistant,
  defineFleet,
  Fleet,
  type FleetDefinition,
  type ModelChoice,
  play,
  readScript,
  type Tool
} from "reverie"
import { assert } from "vitest"

export interface Counted {
  readonly fleet: FleetDefinition
  readonly model: Exclude<ModelChoice, string>
  readonly calls: { model: number; tools: number }
  /** What reached the model, as JSON, in the order of the calls. */
  readonly prompts: ReadonlyArray<{ readonly prefix: string; readonly text: string }>
}

export const promptText = (messages: unknown, tools: unknown): string => JSON.stringify({ messages, tools })

type Toolkit = AssistantDefinition["toolkit"]

const counted = (fleet: FleetDefinition): Counted => {
  const calls = { model: 0, tools: 0 }
  const prompts: Array<Counted["prompts"][number]> = []
  const inner = offlineModel()
  const count = (tool: Tool): Tool => ({
    ...tool,
    effect: (args, run) =>
      Effect.suspend(() => {
        calls.tools++
        return tool.effect(args, run)
      })
  })
  const kit = (toolkit: Toolkit): Toolkit => ({
    ...toolkit,
    get: (name) => {
      const tool = toolkit.get(name)
      return tool === undefined ? undefined : count(tool)
    }
  })
  return {
    calls,
    prompts,
    fleet: { ...fleet, assistants: fleet.assistants.map((each) => ({ ...each, toolkit: kit(each.toolkit) })) },
    model: {
      infer: (prompt, options) =>
        Effect.suspend(() => {
          calls.model++
          prompts.push({ prefix: prompt.callPrefix, text: promptText(prompt.messages, prompt.tools) })
          return inner.infer(prompt, options)
        })
    }
  }
}

/** How long to wait for what happens by itself: an approval that runs out, a short sleep. */
const PATIENCE_MILLIS = 5_000

export interface Played extends Counted {
  readonly data: string
  /** The counts when the fleet had come to rest. */
  readonly told: Counted["calls"]
}

/** Plays a script on a fleet in a directory of its own, and closes it. */
const played = async (fleet: FleetDefinition, script: string): Promise<Played> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-replay-"))
  const all = counted(fleet)
  const { letters, problems } = readScript(script, all.fleet)
  assert.deepStrictEqual(problems, [])
  await using opened = await Fleet.open({ fleet: all.fleet, data, model: all.model, durability: "normal" })
  await play(opened, letters)
  await opened.idle({ patienceMs: PATIENCE_MILLIS })
  return { ...all, data, told: { ...all.calls } }
}

const root = resolve(import.meta.dirname, "../..")

export const playedDay = async (): Promise<Played> =>
  played(harbor, await readFile(join(root, "examples/harbor/day.jsonl"), "utf8"))

// Real conversations stand beside the checkout, never in it. Without them what needs one says so and does not run.
export const conversation = resolve(root, "../shared/data/locomo-dev/conv-26.jsonl")
export const isConversationHere = existsSync(conversation)
if (!isConversationHere) console.warn(`a real conversation is not at ${conversation}: what needs it does not run`)

/** A real conversation, overheard by one assistant with a window of this size. */
export const playedConversation = async (maxContextTokens: number): Promise<Played> => {
  const friend = defineAssistant({ id: "friend", instructions: "You know both of them well.", maxContextTokens })
  return played(defineFleet({ assistants: [friend] }), await readFile(conversation, "utf8"))
}

export const removed = ({ data }: Played): Promise<void> => rm(data, { recursive: true, force: true })
