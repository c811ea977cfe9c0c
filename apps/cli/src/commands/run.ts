// Run: a fleet file and events, or one prompt, without a person present.
// Owns the choice between the two. Leaves the course to course.ts.
// R1  A prompt is answered on stdout with the reply alone, so that it can be piped on.

import { noAnswer } from "../chat.ts"
import { runCourse } from "../course.ts"
import { CommandFailed } from "../failure.ts"
import { loadFleet } from "../fleet-file.ts"
import { Host, unfinished } from "../host.ts"
import { note, painted, say, sayJson } from "../output.ts"
import { plain } from "../plain.ts"
import { tellNotice } from "../progress.ts"
import type { Stop } from "../stop.ts"

export interface RunOptions {
  readonly fleet: string
  readonly data: string | undefined
  readonly model: string
  readonly events?: string
  readonly prompt?: string
  readonly agent?: string
  readonly exit: boolean
  readonly json: boolean
  readonly jsonl: boolean
  readonly quiet: boolean
  readonly resume: boolean
  readonly patience: number
  readonly timeout?: number
}

const SECOND_MILLIS = 1_000

export const run = async (options: RunOptions, stop: Stop): Promise<number> => {
  if (options.prompt !== undefined && options.events !== undefined) {
    throw new CommandFailed("usage", "-p and --events exclude each other")
  }
  return options.prompt === undefined ? runEvents(options, stop) : runPrompt(options, options.prompt, stop)
}

const modelOf = ({ model }: RunOptions) => (model === "offline" ? { model: "offline" as const } : {})

const timeoutOf = ({ timeout }: RunOptions) => (timeout === undefined ? {} : { timeoutMillis: timeout * SECOND_MILLIS })

const runEvents = async (options: RunOptions, stop: Stop): Promise<number> =>
  runCourse({
    fleet: await loadFleet(options.fleet),
    data: options.data,
    ...(options.events === undefined ? {} : { events: options.events }),
    ...modelOf(options),
    exit: options.exit,
    json: options.json,
    jsonl: options.jsonl,
    quiet: options.quiet,
    resume: options.resume,
    patienceMillis: options.patience * SECOND_MILLIS,
    ...timeoutOf(options),
    stop
  })

interface Answer {
  readonly reply: string
  readonly outcome: string
}

const answerOf = async ({ fleet }: Host, to: string, prompt: string, jsonl: boolean): Promise<Answer> => {
  for await (const part of fleet.ask(to, prompt)) {
    if (jsonl) sayJson(part)
    if (part.type === "done") return { reply: part.reply, outcome: part.outcome }
    if (part.type === "failed") throw noAnswer(to, part.reason)
    if (part.type === "approval") {
      throw new CommandFailed("approval-needed", `${to} waits for approval of ${part.tool} (${part.approval})`)
    }
    if (part.type === "halted") {
      throw unfinished(await fleet.views()) ?? new CommandFailed("assistant-halted", `${to} is halted`)
    }
  }
  throw noAnswer(to, "the fleet was closed")
}

const runPrompt = async (options: RunOptions, prompt: string, stop: Stop): Promise<number> => {
  const fleet = await loadFleet(options.fleet)
  const to = options.agent ?? fleet.reception
  if (!fleet.assistants.some(({ id }) => id === to)) {
    throw new CommandFailed("unknown-assistant", `there is no assistant "${to}" in ${options.fleet}`)
  }
  await using host = await Host.open({ fleet, data: options.data, ...modelOf(options), stop })
  if (!options.quiet && !options.json && !options.jsonl) host.fleet.on("*", tellNotice)
  const isHalted = (await host.fleet.views()).some(({ id, state }) => id === to && state === "halted")
  if (isHalted && !options.resume) throw new CommandFailed("assistant-halted", `${to} is halted`)
  if (isHalted) await host.fleet.resume(to)
  const { outcome, reply } = await host.within(
    answerOf(host, to, prompt, options.jsonl),
    timeoutOf(options).timeoutMillis
  )
  if (options.json) sayJson({ ok: true, agent: to, reply, outcome })
  else if (!options.jsonl) say(plain(reply))
  if (outcome === "max-iterations") note(painted("yellow", "it ran out of iterations"))
  return 0
}
