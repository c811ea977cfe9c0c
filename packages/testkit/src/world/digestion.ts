// Digestion: what the model of a simulated world answers when it is asked for memory's sake.
// Owns the answers, in the form that each task asks for. Leaves the ticks of the day to outside.ts.
// D1  Each thing that is to be consolidated becomes exactly one fact, in words that no other one has: so that what was
//     lost or doubled can be counted.
// D2  Everything else is drawn from fate: routes, links, attributes, how long an extraction goes on, and what is called before
//     an answer is given while a dream consolidates.

import type { Prompt, Reply } from "@reverie/model"
import { type Json, type Task, taskOf } from "@reverie/protocol"
import type { Fate } from "./fate.ts"

/** The task of a prompt; undefined for a tick of the day. */
export const taskIn = ({ messages }: Prompt): Task | undefined => {
  for (const { content, role } of messages.toReversed()) {
    const task = role === "system" || role === "user" ? taskOf(content) : undefined
    if (task !== undefined) return task
  }
  return undefined
}

const asked = ({ messages }: Prompt): string => messages.findLast(({ role }) => role === "user")?.content ?? ""

/** Ids at the beginning of lines. */
const idsIn = (data: string): ReadonlyArray<string> => Array.from(data.matchAll(/^\[([^\]]+)\]/gm), ([, id = ""]) => id)

/** The first line of each group with its neighbours: ids of facts. */
const groupsIn = (data: string): ReadonlyArray<{ readonly id: string; readonly neighbours: ReadonlyArray<string> }> =>
  data
    .split(/^(?=\[)/m)
    .map((group) => Array.from(group.matchAll(/^ *\[([^\]]+)\]/gm), ([, id = ""]) => id))
    .flatMap(([id, ...neighbours]) => (id === undefined ? [] : [{ id, neighbours }]))

const consolidated = (data: string, fate: Fate): Json =>
  idsIn(data).map((id) => ({
    id,
    importance: fate.between(1, 10),
    facts: [{ text: `Something was said at ${id.replaceAll("/", " ")}`, entities: [`Guest ${fate.between(1, 3)}`] }]
  }))

const routed = (data: string, fate: Fate): Json =>
  groupsIn(data).flatMap(({ id, neighbours }) =>
    neighbours.length > 0 && fate.chance(0.3)
      ? [{ fact: id, action: fate.pick(["UPDATE", "IGNORE"]), target: fate.pick(neighbours) }]
      : []
  )

const linked = (data: string, fate: Fate): Json =>
  groupsIn(data).flatMap(({ id, neighbours }) =>
    neighbours.length > 0 && fate.chance(0.5) ? [{ fact: id, links: [{ to: fate.pick(neighbours), why: "near" }] }] : []
  )

const profiled = (data: string, fate: Fate): Json => {
  const [evidence] = idsIn(data.split(/^New:/m)[1] ?? "")
  return evidence === undefined || fate.chance(0.5)
    ? []
    : [{ action: "ADD", target: null, attribute: `They were spoken of in ${evidence}`, evidence: [evidence] }]
}

const answerTo = (task: Task, data: string, fate: Fate): string => {
  switch (task) {
    case "consolidate":
      return JSON.stringify(consolidated(data, fate))
    case "route":
      return JSON.stringify(routed(data, fate))
    case "link":
      return JSON.stringify(linked(data, fate))
    case "profile":
      return JSON.stringify(profiled(data, fate))
    case "reflect":
      return JSON.stringify([{ insight: "Much was said.", evidence: idsIn(data).slice(0, 2) }])
    case "summarize":
      return fate.chance(0.05) ? "" : `They said ${fate.between(1, 99)} things.`
    case "extract":
      return ""
  }
}

/** Writes something into the journal, or has done with it; calls a tool that is not to be called now and then. */
const extraction = ({ callPrefix }: Prompt, fate: Fate): Reply["calls"] => {
  const count = fate.chance(0.5) ? fate.between(1, 3) : 0
  const entries = Array.from({ length: count }, (_, index) => ({
    id: `${callPrefix}.${index}`,
    tool: fate.chance(0.05) ? "look" : "add_journal_entry",
    arguments: { content: `Saved by ${callPrefix}.${index}`, importance: 10 }
  }))
  return count === 0 ? [{ id: `${callPrefix}.0`, tool: "noop", arguments: {} }] : entries
}

/** What a call of a dream writes begins so, and says which call it was. */
export const CONCLUDED = "Concluded by "

/** Calls tools of a dream now and then, and one that is none of it. */
const lookingUp = ({ callPrefix, tools }: Prompt, fate: Fate): Reply["calls"] => {
  if (tools.length === 0 || fate.chance(0.7)) return []
  return Array.from({ length: fate.between(1, 3) }, (_, index) => {
    const id = `${callPrefix}.${index}`
    const tool = fate.pick(["add_journal_entry", "store_memory", "review_journal", "look", "noop"])
    const args = tool === "store_memory" ? { text: `Kept by ${id}` } : { content: `${CONCLUDED}${id}` }
    return { id, tool, arguments: tool === "add_journal_entry" || tool === "store_memory" ? args : {} }
  })
}

const callsOf = (task: Task, prompt: Prompt, fate: Fate): Reply["calls"] => {
  if (task === "extract") return extraction(prompt, fate)
  return task === "consolidate" ? lookingUp(prompt, fate) : []
}

export const digest = (task: Task, prompt: Prompt, fate: Fate): Reply => {
  const calls = callsOf(task, prompt, fate)
  return {
    text: answerTo(task, asked(prompt), fate),
    calls,
    finish: calls.length === 0 ? "stop" : "tool-calls",
    usage: { inputTokens: 1, outputTokens: 1, source: "counted" },
    model: "scripted"
  }
}
