// Rig: a live fleet behind a real server, with the page in front.
// Owns its assistants and their model. Leaves looking and asserting to the tests.
// H1  The model is a script; everything else, from the mailbox to the event stream, is the product.

import { ModelUnavailable } from "@reverie/model"
import { taskOf } from "@reverie/protocol"
import { openServer, type RunningServer } from "@reverie/server"
import { scriptedModel, type Line, type Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineAssistant, defineFleet, defineTool, Fleet, memoryTools, selfTools } from "reverie"
import { builtPage } from "../browser.ts"
import { Steps } from "./steps.ts"

/** Texts that would be more than text on a page that took them for markup. */
const hostile = [
  "<script>window.__owned = 1</script>",
  '<img src=x onerror="window.__owned = 1">',
  "<svg/onload=window.__owned=1>",
  "javascript:window.__owned=1",
  '"><iframe srcdoc="<script>parent.__owned=1</script>">',
  "{{constructor.constructor('window.__owned=1')()}}",
  "]]><!--<script>window.__owned=1</script>-->",
  "\u202Eexe.tpircs\u200B\u2066",
  "<style>body{display:none}</style>",
  "[x](javascript:window.__owned=1) ![y](https://example.com/track.png)"
] as const
const attack = hostile.join("\n")

const text = (content: string): Line => ({ text: content })
const call = (tool: string, args: object = {}): Line => ({ calls: [{ tool, arguments: args as never }] })

/** A day of assignments in one tick: a failure of the model, a look, something dangerous, something that answers later. */
const assignments: ReadonlyArray<Line | "away"> = [
  // The first call assesses the task.
  text('{"complexity": 4, "event_class": "unknown", "recommended_mode": "react_loop", "recommended_iterations": 8}'),
  "away",
  call("look"),
  call("sink", { ship: `Birch ${attack}` }),
  call("ask_harbour"),
  text(`That is done. ${attack}`)
]

const isAway = (): Effect.Effect<never, ModelUnavailable> =>
  Effect.fail(new ModelUnavailable({ provider: "scripted", kind: "network", message: `away ${attack}` }))

const script = (): Script => {
  let assignment = 0
  let compactions = 0
  return ({ messages }) => {
    const isCompacting = messages.some(({ content, role }) => role === "system" && taskOf(content) === "summarize")
    if (isCompacting && compactions++ === 0) return isAway()
    const said = messages.findLast(({ role }) => role === "user")?.content ?? ""
    if (!said.includes("assignments") && !messages.some(({ role }) => role === "tool")) {
      return Effect.succeed(text(`Noted: ${said.slice(0, 60)}`))
    }
    const line = assignments[assignment] ?? text("Nothing is left to do.")
    assignment += 1
    return line === "away" ? isAway() : Effect.succeed(line)
  }
}

const tools = {
  look: defineTool({ name: "look", description: `Looks. ${attack}`, run: () => `Two ships. ${attack}` }),
  sink: (runs: Array<unknown>) =>
    defineTool({
      name: "sink",
      description: "Sinks a ship.",
      needsApproval: true,
      input: { type: "object", properties: { ship: { type: "string" } }, required: ["ship"] },
      run: (args) => {
        runs.push(args)
        return "sunk"
      }
    }),
  ask_harbour: defineTool({
    name: "ask_harbour",
    description: "Asks the harbour, which answers later.",
    background: true,
    run: () => "asked"
  })
}

export interface Rig {
  readonly fleet: Fleet
  readonly steps: Steps
  /** With what the dangerous tool was run. */
  readonly sunk: ReadonlyArray<unknown>
  url: string
  /** Closes the server and opens another one at the same place. */
  readonly away: () => Promise<void>
  readonly back: () => Promise<void>
  readonly close: () => Promise<void>
}

const walker = (sunk: Array<unknown>) =>
  defineAssistant({
    id: "walker",
    instructions: `You walk through every state. ${attack}`,
    tools: [...selfTools, ...memoryTools, tools.look, tools.sink(sunk), tools.ask_harbour],
    assessWith: "model",
    subAgents: { budget: { tokens: 50_000 } },
    contexts: {
      planning: {
        description: `Plans first. ${attack}`,
        mode: "plan_execute",
        maxSteps: 2,
        overrides: { system_prompt: `You plan before you act. ${attack}` },
        tools: ["look"]
      }
    },
    blocks: [{ label: "rules", type: "core", content: `Be kind. ${attack}` }],
    maxContextTokens: 6_000,
    reservedResponseTokens: 500,
    compaction: { compactPreserveWindow: 4, preCompactMaxIterations: 1 },
    settings: {
      assessTask: true,
      retryMinMs: 1_500,
      compactEnabled: true,
      compactSleepRatio: 0.02,
      dreamPauseMs: 1_500
    }
  })

export const openRig = async (): Promise<Rig> => {
  const page = await builtPage()
  const data = mkdtempSync(join(tmpdir(), "reverie-walk-"))
  const steps = new Steps()
  const sunk: Array<unknown> = []
  const fleet = await Fleet.open({
    data,
    model: scriptedModel(script()).model,
    prices: { "*": { inputMicros: 1_000_000, outputMicros: 2_000_000 } },
    faults: steps.faults,
    fleet: defineFleet({ assistants: [walker(sunk), defineAssistant({ id: "crowd", instructions: "You are many." })] })
  })
  let server: RunningServer | undefined
  const serve = (port: number) => openServer({ fleet, role: "all", tokens: [], page, port })
  server = await serve(0)
  const { port, url } = server
  return {
    fleet,
    steps,
    sunk,
    url,
    away: async () => {
      await server?.close()
      server = undefined
    },
    back: async () => {
      server = await serve(port)
    },
    close: async () => {
      steps.of = undefined
      steps.go()
      await server?.close()
      await fleet.close()
      rmSync(data, { recursive: true, force: true })
    }
  }
}
