// Replay: a replay from the ledger, one tick run again with something changed, and what the model was shown at a tick.
// Owns what is reported of frames, forks and prompts. Leaves replaying to the other side of the contract.
// P1  Nothing is called, sent or written by a replay.

import { defined, eventWords } from "@reverie/protocol"
import { readFile } from "node:fs/promises"
import { CommandFailed } from "../../failure.ts"
import { type ListOptions, tellList } from "../../texts/list.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { onOneLine, percent, plain, counted, table } from "../../texts/plain.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Stop } from "../../running/stop.ts"
import type { LookOptions } from "./agents.ts"
import { compareReports, type ContextReport } from "reverie"
import { contextText, differenceText } from "../../texts/context-text.ts"
import type { Backend } from "../../backend/backend.ts"

export interface ReplayOptions extends LookOptions, ListOptions {
  readonly json: boolean
  readonly from?: number
  readonly to?: number
  readonly untilState?: string
  readonly verify?: boolean
}

const verify = async (name: string, options: ReplayOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const verdict = await backend.within(backend.verify(id))
  const { commits, difference, differsAt, equal, modelCalls, toolCalls, unknown = [] } = verdict
  const spans = unknown.map(({ from, to, why }) => onOneLine(`events ${from} to ${to} are unknown: ${why}`, 400))
  const isDifferent = differsAt !== undefined || difference !== undefined
  if (!equal && !isDifferent && spans.length > 0) {
    const message = `${id} cannot be replayed to its end: ${spans.join("; ")}`
    throw new CommandFailed("conflict", message, { code: "replay-unknown" })
  }
  if (!equal) {
    const where = differsAt === undefined ? "" : ` at event ${differsAt}`
    const what = difference === undefined ? "" : `: ${onOneLine(difference, 200)}`
    throw new CommandFailed("conflict", `the replay of ${id} differs from what is stored${where}${what}`, {
      code: "replay-differs"
    })
  }
  if (options.json) sayJson({ ok: true, assistant: id, ...verdict })
  else {
    say(`${id}: ${counted(commits, "event")} replayed to the same snapshot, byte for byte`)
    say(`${counted(modelCalls, "model call")}, ${counted(toolCalls, "tool call")}`)
    for (const span of spans) say(plain(span))
  }
  return 0
}

/** `SetTimer after sleep`: of what a command names, the chart gives some names itself. */
const commandWords = (command: string): string => command.replace(/(?<= ).+$/, eventWords)

export const replay = async (name: string, options: ReplayOptions, stop: Stop): Promise<number> => {
  if (options.verify === true) return verify(name, options, stop)
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const { from, limit = 50, to, untilState } = options
  const cursor = options.cursor ?? (from === undefined ? undefined : String(from))
  const find = async () => {
    const { items, next } = await backend.frames(id, {
      limit,
      ...defined({ cursor, to, untilState })
    })
    const rows = items.map(({ after, before, cause, commands, event, no, tick }) => [
      String(no),
      String(tick),
      onOneLine(event === "" ? cause : eventWords(event), 30),
      onOneLine(before === after ? after : `${before} → ${after}`, 70),
      onOneLine(commands.map(commandWords).join(", "), 80)
    ])
    const text = table([["event", "run", "what happened", "state", "asked for"], ...rows])
    return { key: "frames", items, next, beside: { assistant: id }, text: plain(text) }
  }
  return await tellList(options, find, backend)
}

export interface ForkOptions extends LookOptions {
  readonly tick: number
  readonly promptFile?: string
  readonly stub: ReadonlyArray<string>
}

const stubsOf = (pairs: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=")
      if (at < 1) throw new CommandFailed("usage", `--stub must be tool=text, not "${pair}"`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    })
  )

export const fork = async (name: string, options: ForkOptions, stop: Stop): Promise<number> => {
  const { model, promptFile, tick } = options
  const stubs = stubsOf(options.stub)
  const prompt =
    promptFile === undefined
      ? undefined
      : await readFile(promptFile, "utf8").catch(() => {
          throw new CommandFailed("no-such-file", `there is no prompt file ${promptFile}`)
        })
  await using backend = await findBackend(options, "fork", stop)
  if (backend.kind === "store" && options.fleet === undefined) {
    throw new CommandFailed("no-fleet", "a fork needs the fleet: --fleet FILE is missing")
  }
  if (backend.kind === "store" && model !== undefined && model !== "offline" && model !== "recorded") {
    throw new CommandFailed("usage", "--model is offline or recorded here; another model is named by OPENAI_MODEL")
  }
  const { id } = await named(backend, name)
  const forked = await backend.within(
    backend.fork(id, {
      tick,
      ...defined({ prompt, model, stubs: Object.keys(stubs).length === 0 ? undefined : stubs })
    })
  )
  if (options.json) sayJson({ ok: true, assistant: id, tick, ...forked })
  else {
    const { differs } = forked
    say(plain(differs.length === 0 ? `run ${tick} of ${id} went the same way` : differs.join("\n")))
  }
  return 0
}

// Context: what an assistant's model was shown at a tick, and what has changed since another.
// Owns finding the two, and the sentence when there is none. Leaves the reports to the SDK, their form to context-text.ts.
// C1  It reads beside a running fleet and disturbs nothing.

export interface ContextOptions extends LookOptions {
  readonly tick?: number
  readonly iteration?: number
  readonly diff?: number
}

interface Whose {
  readonly id: string
  /** Ticks begun since creation. */
  readonly ticks: number
}

type Question = Pick<ContextOptions, "tick" | "iteration">

/** Why there is no such report; `last` is the last iteration of the tick that has one, 0 when none has. */
const absence = ({ id, ticks }: Whose, { iteration, tick }: Question, last: number): string => {
  if (ticks === 0) return `${id} has had no run yet`
  const there = `runs 1 to ${ticks} exist`
  if (tick !== undefined && (tick < 1 || tick > ticks)) return `${id} has no run ${tick}, ${there}`
  if (last > 0 && iteration !== undefined) {
    const where = tick === undefined ? "the newest run" : `run ${tick}`
    return `${where} of ${id} has no model call ${iteration}, 1 to ${last} exist`
  }
  return tick === undefined
    ? `no run of ${id} keeps the report of a prompt`
    : `run ${tick} of ${id} asked no model, ${there}`
}

const reportAt = async (backend: Backend, whose: Whose, question: Question): Promise<ContextReport> => {
  const report = await backend.contextReport(whose.id, question)
  if (report !== undefined) return report
  const { tick } = question
  const last = await backend.contextReport(whose.id, tick === undefined ? {} : { tick })
  throw new CommandFailed("unknown-tick", absence(whose, question, last?.iteration ?? 0))
}

export const context = async (name: string, options: ContextOptions, stop: Stop): Promise<number> => {
  const { diff, iteration, json, tick } = options
  await using backend = await findBackend(options, "look", stop)
  const whose = await named(backend, name)
  const report = await reportAt(backend, whose, defined({ tick, iteration }))
  const answer = { ok: true, assistant: whose.id, context: report }
  if (diff === undefined) {
    if (json) sayJson(answer)
    else say(contextText(whose.id, report))
    return 0
  }
  const before = await reportAt(backend, whose, { tick: diff })
  const difference = compareReports(before, report)
  if (json) sayJson({ ...answer, before, difference })
  else say(differenceText(whose.id, before, report, difference))
  return 0
}

// Cache: how much of each prompt a provider's prompt cache knows from the one before it.
// K1  What ended it before the conversation did is named: it is what made the rest of the prompt cost its full price.

type ContextPoint = Awaited<ReturnType<Backend["contextPoints"]>>["items"][number]

const endedBy = ({ prefix }: ContextPoint): string => {
  if (prefix === undefined) return "nothing before it to repeat"
  return prefix.broken === undefined ? "" : `${onOneLine(prefix.broken.key, 40)} (${prefix.broken.how})`
}

const cacheTable = (points: ReadonlyArray<ContextPoint>): string =>
  table([
    ["run", "model call", "kind", "tokens", "repeated", "share", "cached", "ended by"],
    ...points.map((point) => [
      String(point.tick),
      String(point.iteration),
      onOneLine(point.context ?? "", 20),
      String(point.tokens),
      point.prefix === undefined ? "" : String(point.prefix.tokens),
      point.prefix === undefined ? "" : percent(point.prefix.share),
      point.cachedTokens === undefined ? "" : String(point.cachedTokens),
      endedBy(point)
    ])
  ])

const cacheText = (id: string, points: ReadonlyArray<ContextPoint>): string => {
  if (points.length === 0) return `no run of ${id} keeps the report of a prompt`
  const compared = points.filter(({ prefix }) => prefix !== undefined)
  const total = compared.reduce((sum, { tokens }) => sum + tokens, 0)
  const repeated = compared.reduce((sum, { prefix }) => sum + (prefix?.tokens ?? 0), 0)
  const share = total === 0 ? "" : `, ${percent(repeated / total)} of their tokens repeat the one before`
  return `${cacheTable(points)}\n\n${counted(points.length, "prompt")}${share}`
}

export const cache = async (name: string, options: ListOptions & LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const { cursor, limit = 50 } = options
  const find = async () => {
    const { items, next } = await backend.contextPoints(id, { limit, ...defined({ cursor }) })
    return { key: "prompts", items, next, beside: { assistant: id }, text: plain(cacheText(id, items)) }
  }
  return await tellList(options, find, backend)
}
