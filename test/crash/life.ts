// Life: what one child process of the crash lane does until it is killed.
// Owns the fleet it runs and the two files it leaves behind. Leaves killing and judging to lane.ts.
// K1  An acknowledgement is in the file only after `post` returned; an effect is in the file before its tool returns.
// K2  Anyone who runs this again on the same directory goes on where it was: every event is posted again until acknowledged.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { Prompt, Reply } from "@reverie/model"
import type { FaultPoint } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, Fleet, type ModelChoice, viewOf } from "reverie"
import { laneTools } from "./lane-tools.ts"

export interface LifeOptions {
  readonly data: string
  readonly events: number
  /** Where this process kills itself, and at which passing of that point. */
  readonly killAt?: { readonly point: FaultPoint; readonly passing: number }
  /** Who answers; a model within the process when not said. */
  readonly model?: ModelChoice
  /**
   * A person lets go on whom the last life found halted: three holders that were lost over one result halt its assistant, and a lane
   * of many kills at one moment meets that.
   */
  readonly resumes?: boolean
  /** A person stops a tick in progress now and then. */
  readonly stops?: boolean
}

export const ASSISTANTS = ["ada", "bo", "cy", "dee"] as const

/** The events of the lane: numbered texts, spread over the assistants. */
export const eventOf = (index: number) => ({
  id: `event-${index}`,
  to: ASSISTANTS[index % ASSISTANTS.length]!,
  text: `do ${index}`
})

export const ACKS_FILE = "acknowledged.txt"
export const EFFECTS_FILE = "effects.txt"
/** One line for each assistant that a person let go on. */
export const RESUMED_FILE = "resumed.txt"

/** Long enough that a kill finds work in every stage. */
const MODEL_MILLIS = 10

/** Appends lines that are on the disk when `append` returns. */
const durableFile = (path: string) => {
  const file = openSync(path, "a")
  return {
    append: (line: string) => {
      writeSync(file, `${line}\n`)
      fsyncSync(file)
    },
    close: () => closeSync(file)
  }
}

export const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : []

const nextTo = (assistant: string): string =>
  ASSISTANTS[(ASSISTANTS.indexOf(assistant as (typeof ASSISTANTS)[number]) + 1) % ASSISTANTS.length]!

/** What is done about a text of the lane: the same for the same event, whenever it is asked. */
export const toolsFor = (heard: string): ReadonlyArray<string> => {
  const number = Number(/do (\d+)/.exec(heard)?.[1] ?? -1)
  return number < 0 ? [] : ([["note", "ring"], ["ring"], ["pass", "note"], ["ring", "say"]][number % 4] ?? [])
}

/** Tools, then an answer. */
const replyTo = (prompt: Prompt): Reply => {
  const last = prompt.messages.at(-1)
  const usage = { inputTokens: 1, outputTokens: 1, source: "counted" as const }
  const heard = prompt.messages.findLast((message) => message.role === "user")?.content ?? ""
  const tools = last?.role === "tool" ? [] : toolsFor(heard)
  if (tools.length === 0) return { text: `done with ${heard}`, calls: [], finish: "stop", usage, model: "lane" }
  const calls = tools.map((tool, index) => ({ id: `${prompt.callPrefix}.${index}`, tool, arguments: {} }))
  return { text: "", calls, finish: "tool-calls", usage, model: "lane" }
}

const withinTheProcess: ModelChoice = {
  infer: (prompt) =>
    Effect.delay(
      Effect.sync(() => replyTo(prompt)),
      MODEL_MILLIS
    )
}

/** Of so many events one is followed by an order to stop what its assistant is at work on. */
const EVENTS_PER_STOP = 3

/** The order names the tick, so that one which is given again after a kill is the same order or a late one. */
const stopNow = async (fleet: Fleet, to: string): Promise<void> => {
  const record = await fleet.inspect(to)
  if (record === undefined) return
  const { tick } = viewOf(record)
  if (tick > 0) await fleet.stop(to, { tick, id: `stop-${to}-${tick}` })
}

/** Lives until everything is settled, or until killed. */
export const live = async (
  { data, events, killAt, model = withinTheProcess, resumes = false, stops = false }: LifeOptions,
  ready: () => void
): Promise<void> => {
  const effects = durableFile(join(data, EFFECTS_FILE))
  const acks = durableFile(join(data, ACKS_FILE))
  const tools = laneTools((tool, _, key) => effects.append(`${tool} ${key}`), nextTo, stops)
  let passed = 0
  await using fleet = await Fleet.open({
    data: join(data, "store"),
    fleet: defineFleet({
      assistants: ASSISTANTS.map((id) =>
        defineAssistant({
          id,
          instructions: "You work in the crash lane.",
          tools,
          maxContextTokens: 4_000,
          settings: { requireApproval: false }
        })
      )
    }),
    model,
    faults: {
      at: (point) =>
        Effect.sync(() => {
          if (point === killAt?.point && ++passed >= killAt.passing) process.kill(process.pid, "SIGKILL")
        })
    }
  })
  if (resumes) {
    const resumed = durableFile(join(data, RESUMED_FILE))
    for (let left = await fleet.resumeAll(); left > 0; left--) resumed.append("resumed")
    resumed.close()
  }
  ready()
  const known = new Set(linesOf(join(data, ACKS_FILE)))
  for (let index = 0; index < events; index++) {
    const { id, text, to } = eventOf(index)
    if (known.has(id)) continue
    await fleet.send(to, text, { id })
    acks.append(id)
    if (stops && index % EVENTS_PER_STOP === 0) await stopNow(fleet, to)
  }
  await fleet.idle()
  effects.close()
  acks.close()
}
