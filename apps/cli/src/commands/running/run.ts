// Run: a fleet file and events, or one prompt, without a person present.
// Owns the choice between the two, and the bounds of a prompt. Leaves the course to course.ts.
// R1  A prompt is answered on stdout with the reply alone, so that it can be piped on.

import { readFile } from "node:fs/promises"
import { type ContentPart, defined, isJsonObject, type Json, parseJson, textWithParts } from "@reverie/protocol"
import * as Result from "effect/Result"
import { AWAY_SECONDS, watchAway } from "../../running/away.ts"
import { noAnswer } from "../../conversation.ts"
import { runCourse } from "../../running/course.ts"
import { CommandFailed } from "../../failure.ts"
import { loadFleet } from "../../running/fleet-file.ts"
import { unfinished } from "../../host.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { attached, saidOrPiped } from "../../consent.ts"
import { counted, jsonLine, plain } from "../../texts/plain.ts"
import { findBackend, serverFor, type Where } from "../../backend/find-backend.ts"
import type { Backend, View } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import { watching } from "../agents/orders.ts"

export interface RunOptions extends Where, Bounds {
  readonly model: string
  readonly force?: boolean
  readonly events?: string
  readonly prompt?: string
  readonly agent?: string
  readonly exit: boolean
  readonly json: boolean
  readonly jsonl: boolean
  readonly output?: "text" | "json" | "jsonl"
  readonly quiet: boolean
  readonly resume: boolean
  readonly patience: number
  readonly timeout?: number
  /** Seconds. */
  readonly waitModel?: number
  readonly id?: string
  /** The file of a JSON Schema. */
  readonly form?: string
  /** Files that go with the prompt. */
  readonly attach?: ReadonlyArray<string>
  /** The kind of context that the prompt is handled in. */
  readonly context?: string
}

const SECOND_MILLIS = 1_000

export const needsFleet = (fleet: string | undefined, what: string): string => {
  if (fleet === undefined) throw new CommandFailed("no-fleet", `${what} needs the fleet: --fleet FILE is missing`)
  return fleet
}

export const run = async (given: RunOptions, stop: Stop): Promise<number> => {
  const { output } = given
  const options = { ...given, json: given.json || output === "json", jsonl: given.jsonl || output === "jsonl" }
  if (options.prompt !== undefined && options.events !== undefined) {
    throw new CommandFailed("usage", "-p and --events exclude each other")
  }
  if (options.prompt === undefined) return runEvents(options, stop)
  return runPrompt(options, await saidOrPiped(options.prompt, "the prompt"), stop)
}

const timeoutOf = ({ timeout }: RunOptions) => (timeout === undefined ? {} : { timeoutMs: timeout * SECOND_MILLIS })

const awayMillisOf = ({ waitModel = AWAY_SECONDS }: Pick<RunOptions, "waitModel">): number => waitModel * SECOND_MILLIS

const runEvents = async (options: RunOptions, stop: Stop): Promise<number> => {
  if (options.maxTurns !== undefined || options.maxCost !== undefined) {
    throw new CommandFailed("usage", "--max-turns and --max-cost bound one prompt (-p); budgets bound a fleet")
  }
  if (options.form !== undefined) throw new CommandFailed("usage", "--form is the form of one answer: it needs -p")
  if (options.context !== undefined) throw new CommandFailed("usage", "--context is that of one prompt: it needs -p")
  return runCourse({
    fleet: await loadFleet(needsFleet(options.fleet, "run")),
    data: options.data,
    ...defined({ events: options.events, model: options.model === "offline" ? ("offline" as const) : undefined }),
    force: options.force === true,
    exit: options.exit,
    json: options.json,
    jsonl: options.jsonl,
    quiet: options.quiet,
    resume: options.resume,
    patienceMillis: options.patience * SECOND_MILLIS,
    awayMillis: awayMillisOf(options),
    ...timeoutOf(options),
    stop
  })
}

interface Answer {
  readonly reply: string
  readonly outcome: string
  /** Where the answer must have a form. */
  readonly output?: Json
  readonly parts?: ReadonlyArray<ContentPart>
}

const formIn = async (file: string): Promise<{ readonly [key: string]: Json }> => {
  const text = await readFile(file, "utf8").catch(() => {
    throw new CommandFailed("no-such-file", `there is no form ${file}`)
  })
  const form = Result.getOrElse(parseJson(text), () => undefined)
  if (isJsonObject(form)) return form
  throw new CommandFailed("usage", `${file} is no JSON Schema: it must be one JSON object`)
}

const haltOf = async (backend: Backend, to: string): Promise<CommandFailed> => {
  const views = backend.kind === "store" ? (await backend.page({ limit: 1_000 })).items : [await backend.view(to)]
  return unfinished(views.flatMap((view) => view ?? [])) ?? new CommandFailed("assistant-halted", `${to} is halted`)
}

const answerOf = async (
  backend: Backend,
  to: string,
  prompt: string,
  { attach, context, form, id, json, jsonl }: Pick<RunOptions, "attach" | "context" | "form" | "id" | "json" | "jsonl">
): Promise<Answer> => {
  const output = form === undefined ? undefined : await formIn(form)
  const parts = await attached(attach)
  for await (const part of backend.ask(to, prompt, defined({ id, output, parts, context }))) {
    if (jsonl) sayJson(part)
    if (part.type === "done") {
      // A tool that ends a tick speaks for the assistant, and a server does not look at its words.
      if (output !== undefined && part.output === undefined) throw noAnswer(to, "its answer has not the form")
      return { reply: part.reply, outcome: part.outcome, ...defined({ output: part.output, parts: part.parts }) }
    }
    if (part.type === "stopped") {
      // What reads an answer of a form reads nothing else.
      if (!jsonl && !json && part.reply !== "" && part.outcome !== "misshapen") say(plain(part.reply))
      throw new CommandFailed("answer-failed", `${to} was not done: ${part.error.message}`)
    }
    if (part.type === "failed") throw noAnswer(to, part.error.message)
    if (part.type === "approval") {
      throw new CommandFailed("approval-needed", `${to} waits for approval of ${part.tool} (${part.approval})`)
    }
    if (part.type === "halted") throw await haltOf(backend, to)
  }
  throw noAnswer(to, "the fleet was closed")
}

/** Whom it is for: a stranger is refused before anything is opened. */
const addresseeOf = async (options: RunOptions): Promise<string> => {
  const { agent, fleet } = options
  if ((await serverFor(options)) !== undefined) {
    if (agent === undefined) throw new CommandFailed("usage", "a server has no default assistant: say --agent ID")
    return agent
  }
  const file = needsFleet(fleet, "run")
  const { assistants, defaultAssistant } = await loadFleet(file)
  const to = agent ?? defaultAssistant
  await assertLives(to, { ...options, fleet: file }, assistants)
  return to
}

/** Fails when no one of that id is in the fleet file, nor in the store. */
export const assertLives = async (
  to: string,
  { data, fleet }: Where,
  assistants: ReadonlyArray<{ readonly id: string }>
): Promise<void> => {
  if (assistants.some(({ id }) => id.startsWith(to) && to !== "")) return
  const { FleetReader } = await import("reverie")
  const opened = await FleetReader.open(data).catch(() => undefined)
  const ids = opened === undefined ? [] : (await opened.views()).map(({ id }) => id)
  await opened?.[Symbol.asyncDispose]()
  if (ids.some((id) => id.startsWith(to) && to !== "")) return
  throw new CommandFailed("unknown-assistant", `there is no assistant "${to}" in ${fleet ?? "the fleet"}`)
}

const POLL_MILLIS = 50

/** Lets it go on, and waits until it does: what is asked of someone halted is answered with that. */
const resumed = async (backend: Backend, to: string): Promise<void> => {
  await backend.order(to, "resume", {})
  while ((await backend.view(to))?.activity === "halted")
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
}

/** Says one thing to one assistant of an opened reach, and tells its answer. */
export const askOnce = async (backend: Backend, name: string, prompt: string, options: RunOptions): Promise<number> => {
  const { json, jsonl, quiet, resume } = options
  const { activity, id: to } = await named(backend, name)
  watching(backend, to, quiet || json || jsonl)
  if (activity === "halted" && !resume) throw new CommandFailed("assistant-halted", `${to} is halted`)
  if (activity === "halted") await backend.within(resumed(backend, to))
  const { because, passed, release } = await bounded(backend, to, options)
  const away = watchAway({
    look: async () => [(await backend.view(to)) ?? []].flat(),
    waitMs: awayMillisOf(options),
    isQuiet: quiet || json || jsonl
  })
  const gone = away.passed.then((failure) => Promise.reject(failure))
  gone.catch(() => {})
  try {
    const work = Promise.race([answerOf(backend, to, prompt, options), passed, gone])
    const { outcome, output, parts, reply } = await backend.within(work, timeoutOf(options).timeoutMs)
    if (json) sayJson({ ok: true, agent: to, reply, outcome, ...defined({ output, parts }) })
    else if (!jsonl) say(output === undefined ? plain(textWithParts(reply, parts)) : jsonLine(output))
    return 0
  } catch (error) {
    const bound = because()
    if (bound === undefined) throw error
    return await passed
  } finally {
    away.release()
    release()
  }
}

const runPrompt = async (options: RunOptions, prompt: string, stop: Stop): Promise<number> => {
  const to = await addresseeOf(options)
  await using backend = await findBackend(options, "order", stop)
  return await askOnce(backend, to, prompt, options)
}

// Bounds: how much one prompt may take before it is stopped.
// Owns counting model calls and money of one assistant. Leaves budgets that hold across processes to the fleet.
// B1  Who passes a bound is halted, so that nothing more is spent; what it did is kept, and --resume lets it go on.

export interface Bounds {
  /** Model calls. */
  readonly maxTurns?: number
  /** In money, as the prices of the fleet count it. */
  readonly maxCost?: number
}

const MICROS = 1_000_000

const isGoingOn = (view: View | undefined): boolean =>
  view !== undefined && !view.tags.includes("halted") && !view.tags.includes("retired")

const spentMicros = async (backend: Backend, id: string): Promise<number> =>
  (await backend.usage({ assistant: id, from: 0, limit: 1 })).total.costMicros

interface Bounded {
  /** Rejects when a bound is passed; never resolves. */
  readonly passed: Promise<never>
  /** Why it was halted; the halt itself may be heard of first. */
  readonly because: () => CommandFailed | undefined
  /** Stops counting. */
  readonly release: () => void
}

/** Counts from now on. */
export const bounded = async (backend: Backend, id: string, { maxCost, maxTurns }: Bounds): Promise<Bounded> => {
  const passed = Promise.withResolvers<never>()
  passed.promise.catch(() => {})
  if (maxTurns === undefined && maxCost === undefined) {
    return { passed: passed.promise, because: () => undefined, release: () => {} }
  }
  const before = maxCost === undefined ? 0 : await spentMicros(backend, id)
  let turns = 0
  let because: CommandFailed | undefined
  const end = async (failure: CommandFailed): Promise<void> => {
    because = failure
    await backend.order(id, "halt", { reason: failure.message })
    // Told and not yet heard, it would go on with the next start.
    while (isGoingOn(await backend.view(id))) await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
    passed.reject(failure)
  }
  const judge = async (isLast: boolean): Promise<void> => {
    turns++
    if (isLast) return
    if (maxTurns !== undefined && turns >= maxTurns) {
      await end(new CommandFailed("turns-spent", `${id} is halted after ${counted(turns, "model call")}`))
    } else if (maxCost !== undefined && (await spentMicros(backend, id)) - before >= maxCost * MICROS) {
      await end(new CommandFailed("cost-spent", `${id} is halted: it has spent ${maxCost}`))
    }
  }
  const release = backend.listen((notice) => {
    if (notice.address.assistant !== id || notice.type !== "model-replied") return
    judge(notice.calls.length === 0).catch(passed.reject)
  })
  return { passed: passed.promise, because: () => because, release }
}
