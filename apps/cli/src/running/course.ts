// Course: a fleet is opened, given events, worked to rest, reported on, and perhaps kept up.
// Owns that order, which `start`, `run` and `dev` share. Leaves each part to its module.
// C1  Nothing is opened or accepted before the fleet file and the whole events file have been found right.
// C2  With --json stdout is one object: the report, with the error in it when something is left undone.

import type { FleetDefinition, ModelChoice, Notice, Played, ScriptLine } from "reverie"
import { watchAway } from "./away.ts"
import { stayUp } from "../conversation.ts"
import { failureOf } from "../failure.ts"
import { readEvents } from "./fleet-file.ts"
import { Host, unfinished } from "../host.ts"
import { failureEnvelope, note, painted, say, sayJson, tellFailure } from "../output.ts"
import { sparingly, tellNotice } from "../texts/progress.ts"
import { hosting } from "../backend/in-process.ts"
import { Counter, type Report, reportOf, reportText } from "../texts/report.ts"
import type { Stop } from "./stop.ts"

export interface CourseOptions {
  readonly fleet: FleetDefinition
  /** None: what the environment names. */
  readonly data: string | undefined
  readonly events?: string
  readonly model?: ModelChoice
  /** Open a directory though it holds less than was acknowledged. */
  readonly force: boolean
  /** End after the report. */
  readonly exit: boolean
  readonly json: boolean
  /** Every notice as a line of JSON on stdout, the report last. */
  readonly jsonl: boolean
  readonly quiet: boolean
  /** Let halted assistants go on first. */
  readonly resume: boolean
  /** How long to wait for what happens by itself. */
  readonly patienceMillis: number
  readonly timeoutMs?: number
  /** How long a model that does not answer is waited for; for ever when not said. */
  readonly awayMillis?: number
  /** Where it listens while it is up; nowhere when not said. */
  readonly server?: { readonly port?: number; readonly withPage: boolean }
  /** What one may try, line by line, told last where it stays up. */
  readonly hints?: ReadonlyArray<string>
  readonly stop: Stop
}

/** Up to so many events each notable thing gets its line. */
const FEW_EVENTS = 100

const tellerOf = ({ jsonl, quiet }: CourseOptions, events: number): ((notice: Notice) => void) => {
  if (jsonl) return (notice) => sayJson(notice)
  if (quiet) return () => {}
  return events <= FEW_EVENTS ? tellNotice : sparingly()
}

const resumeAll = async ({ fleet }: Host): Promise<void> => {
  for (const { id, state } of await fleet.views()) if (state === "halted") await fleet.resume(id)
}

/** Whether someone may wait for a model is reported by notices, so that a large fleet is looked at only then. */
interface Away {
  isTold: boolean
}

/** Plays the letters and waits for rest, or until the model has been away for too long: the report will say so. */
const playAll = async (
  { fleet }: Host,
  { awayMillis, patienceMillis, quiet }: CourseOptions,
  letters: ReadonlyArray<ScriptLine>,
  away: Away
): Promise<Played> => {
  const { play } = await import("reverie")
  const look = async () => {
    if (!away.isTold) return []
    const views = await fleet.views()
    away.isTold = views.some(({ outage }) => outage !== undefined)
    return views
  }
  const watch = awayMillis === undefined ? undefined : watchAway({ look, waitMs: awayMillis, isQuiet: quiet })
  const ending = new AbortController()
  const passed = watch?.passed.then(() => ending.abort()) ?? new Promise<never>(() => {})
  try {
    const played = await play(fleet, letters, { signal: ending.signal })
    const rest = fleet.idle({ patienceMs: patienceMillis })
    rest.catch(() => {})
    await Promise.race([rest, passed])
    return played
  } finally {
    watch?.release()
  }
}

const tellReport = (report: Report, options: CourseOptions): number => {
  const failure = unfinished(report.assistants)
  if (failure === undefined) {
    if (options.json || options.jsonl) sayJson(options.jsonl ? { type: "report", ...report } : report)
    else say(`\n${reportText(report)}`)
    return 0
  }
  const whole = { ...report, ...failureEnvelope(failureOf(failure)) }
  if (options.json || options.jsonl) sayJson(options.jsonl ? { type: "report", ...whole } : whole)
  else say(`\n${reportText(report)}`)
  // Who stays up has read in the report how many calls wait, and is asked for each in the chat.
  if (!options.exit && failure.failure.code === "approval-needed") return failure.failure.exit
  return tellFailure(failure, false)
}

/** Opens the HTTP face while the fleet is up. */
const openFace = async ({ fleet }: Host, { data, server }: CourseOptions) => {
  if (server === undefined) return undefined
  const { openFleetServer } = await import("./fleet-server.ts")
  const page = server.withPage ? "fresh" : "none"
  const port = server.port === undefined ? {} : { port: server.port }
  const opened = await openFleetServer({ fleet, role: "all", data, page, ...port })
  note(`${server.withPage ? "page and API" : "API"}: ${painted("bold", opened.url)}`)
  return opened
}

/** The last lines before someone may speak: what scrolled by above is not read again. */
const tellBox = (lines: ReadonlyArray<string>): void => {
  for (const line of ["", ...lines.map((line) => `${painted("dim", "│")} ${line}`), ""]) note(line)
}

/** Runs the whole course and answers the exit code. */
export const runCourse = async (options: CourseOptions): Promise<number> => {
  const began = performance.now()
  const { describeModel } = await import("reverie")
  const { events, fleet, stop } = options
  const letters = events === undefined ? [] : await readEvents(events, fleet)
  const model = await describeModel(options.model, fleet)
  const counter = new Counter()
  let tell = tellerOf(options, letters.length)
  const away = { isTold: true }
  const onNotice = (notice: Notice) => {
    counter.hear(notice)
    away.isTold ||= notice.type === "emitted" && notice.event.type === "model-away"
    tell(notice)
  }
  await using host = await Host.open({ ...options, onNotice })
  await using face = await openFace(host, options)
  const before = await host.fleet.monitor.totals()
  const count = letters.length === 0 ? "" : `, ${letters.length} events`
  note(painted("dim", `ready: ${host.fleet.profile}, ${model}${count}`))
  if (options.resume) await host.within(resumeAll(host))
  const played = await host.within(playAll(host, options, letters, away), options.timeoutMs)
  const elapsedMs = performance.now() - began
  const report = await reportOf(host.fleet, { counter, before, played, elapsedMs, model, data: host.fleet.profile })
  const exit = tellReport(report, options)
  if (options.exit) return exit
  if (!options.quiet && face !== undefined)
    tellBox([`page      ${painted("bold", face.url)}`, ...(options.hints ?? [])])
  // In a conversation its own answers are printed by it; what the others do is still told.
  let spokenWith: string = fleet.defaultAssistant
  tell = options.quiet
    ? () => {}
    : (notice) => {
        if (notice.address.assistant !== spokenWith) tellNotice(notice)
      }
  const turned = (to: string) => {
    spokenWith = to
  }
  await stayUp({ backend: hosting(host, stop), stop, to: spokenWith, turned })
  return 0
}
