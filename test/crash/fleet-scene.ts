// FleetScene: who lives in the crash lane of a fleet, what they hear, and what they answer.
// Owns assistants, events and the stand-in for a model, all of them pure functions of a number. Leaves posting and
// working to fleet-child.ts.
// C1  The same number is the same event, no matter who posts it; its sender's events for one assistant have growing numbers.
// C2  The same prompt is answered the same way, but for a model that is out of order: it fails once in each process.

import { type Prompt, ModelUnavailable, type Reply } from "@reverie/model"
import type { Event } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, type FleetDefinition } from "reverie"
import { laneTools, type NoteRun } from "./lane-tools.ts"

export interface Letter {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly event: Event
}

export const assistantId = (index: number): string => `a-${index}`

/** What an event makes its assistant do. `unheard` passes by, `flaky` meets a model that fails first. */
const assignments = [
  "plain",
  "note",
  "plain",
  "ring",
  "plain",
  "pass",
  "plain",
  "timer",
  "plain",
  "note-ring",
  "plain",
  "ring-say",
  "plain",
  "flaky",
  "plain",
  "pass-note",
  "plain",
  "unheard",
  "plain",
  "note"
] as const
export type AssignmentKind = (typeof assignments)[number] | "delegate"

/** Every so many-th event is handed on to a sub-agent. */
const DELEGATED_EVERY = 61

/** Seven and twenty have no common divisor: every assistant gets every kind. */
export const assignmentOf = (index: number, assistants: number): AssignmentKind =>
  index % DELEGATED_EVERY === DELEGATED_EVERY - 1
    ? "delegate"
    : assignments[(index * 7 + Math.floor(index / assistants) * 3) % assignments.length]!

const eventOf = (index: number, kind: AssignmentKind): Event => {
  const text = `do ${index} ${kind}`
  if (kind === "timer") return { type: "timer", name: `timer-${index}`, note: text }
  return kind === "unheard" ? { type: "message", text, channel: "elsewhere" } : { type: "message", text }
}

/** Lanes of one assistant each are dealt to the producers, so that a sender's events have an order. */
export const producerOf = (index: number, assistants: number, producers: number): number =>
  (index % assistants) % producers

export const letterOf = (index: number, assistants: number, producers: number): Letter => ({
  id: `event-${index}`,
  from: `producer-${producerOf(index, assistants, producers)}`,
  to: assistantId(index % assistants),
  event: eventOf(index, assignmentOf(index, assistants))
})

/** Whether it is one of those that events are for, and no sub-agent. */
export const isPosted = (assistant: string): boolean => /^a-\d+$/.test(assistant)

/** The number of an event by its id; undefined for what assistants told each other. */
export const numberOf = (id: string): number | undefined => {
  const number = /^event-(\d+)$/.exec(id)?.[1]
  return number === undefined ? undefined : Number(number)
}

const nextTo = (assistants: number) => (assistant: string) => assistantId((Number(assistant.slice(2)) + 1) % assistants)

const TASK = "do 0 note-ring"

const toolsByAssignment: Readonly<Record<AssignmentKind, ReadonlyArray<string>>> = {
  plain: [],
  note: ["note"],
  ring: ["ring"],
  pass: ["pass"],
  timer: [],
  "note-ring": ["note", "ring"],
  "ring-say": ["ring", "say"],
  flaky: [],
  "pass-note": ["pass", "note"],
  unheard: [],
  delegate: ["delegate_task"]
}

/** Long enough that a kill finds work in every stage. */
const MODEL_MILLIS = 15

const replyTo = (prompt: Prompt): Reply => {
  const usage = { inputTokens: 1, outputTokens: 1, source: "counted" as const }
  const heard = prompt.messages.findLast(({ role }) => role === "user")?.content ?? ""
  const kind = /do \d+ ([a-z-]+)/.exec(heard)?.[1] as AssignmentKind | undefined
  const tools = kind === undefined ? [] : (toolsByAssignment[kind] ?? [])
  if (prompt.messages.at(-1)?.role === "tool" || tools.length === 0) {
    return { text: "done", calls: [], finish: "stop", usage, model: "lane" }
  }
  const calls = tools.map((tool, index) => ({
    id: `${prompt.callPrefix}.${index}`,
    tool,
    arguments: tool === "delegate_task" ? { task: TASK } : {}
  }))
  return { text: "", calls, finish: "tool-calls", usage, model: "lane" }
}

/** Answers at once, and for a flaky event only when asked again. */
export const laneModel = () => {
  const failed = new Set<string>()
  return {
    infer: (prompt: Prompt): Effect.Effect<Reply, ModelUnavailable> => {
      const flaky = /do (\d+) flaky/.exec(prompt.messages.findLast(({ role }) => role === "user")?.content ?? "")?.[1]
      if (flaky !== undefined && !failed.has(flaky)) {
        failed.add(flaky)
        return Effect.fail(new ModelUnavailable({ provider: "lane", message: "out of order", kind: "network" }))
      }
      return Effect.delay(
        Effect.sync(() => replyTo(prompt)),
        MODEL_MILLIS
      )
    }
  }
}

export const laneFleet = (assistants: number, ran: NoteRun = () => {}): FleetDefinition => {
  const tools = laneTools(ran, nextTo(assistants))
  return defineFleet({
    assistants: Array.from({ length: assistants }, (_, index) =>
      defineAssistant({
        id: assistantId(index),
        instructions: "You work in the crash lane.",
        tools,
        listening: { otherwise: "ignore" },
        memory: { recall: "off" },
        maxContextTokens: 3_000,
        subAgents: { budget: { calls: 6, tokens: 60_000, timeoutMs: 60_000 } },
        budget: { calls: 10_000, tokens: 50_000_000 },
        settings: {
          requireApproval: false,
          compactEnabled: false,
          retryMinMs: 200,
          retryMaxMs: 400,
          maxErrors: 100
        }
      })
    )
  })
}
