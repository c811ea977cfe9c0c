// Away: models whose servers do not answer: how they are reported, and how long a command waits for one.
// Owns the words and the watch. Leaves waiting for anything else to the command.
// A1  The wait is reported when it begins. It ends with an answer of the model, or with its time: then the command fails, and what
//     was accepted is kept.

import { CommandFailed } from "../failure.ts"
import { note, painted, paintedResult } from "../output.ts"
import type { ListedView } from "../backend/backend.ts"
import { defined } from "@reverie/protocol"
import type { OutageView } from "reverie"
import { onOneLine, counted } from "../texts/plain.ts"

/** Without another request. */
export const AWAY_SECONDS = 30

const LOOK_MILLIS = 500

export interface AwayRequest {
  /** Those whose model matters. */
  readonly look: () => Promise<ReadonlyArray<Pick<ListedView, "outage">>>
  readonly waitMs: number
  readonly isQuiet: boolean
}

export interface AwayWatch {
  /** Resolves with the failure when the model was away for so long; else never. */
  readonly passed: Promise<CommandFailed>
  readonly release: () => void
}

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

/** Fails a command that something waits for a model in; undefined when nothing does. */
export const modelAway = (views: ReadonlyArray<Pick<ListedView, "outage">>): CommandFailed | undefined => {
  const [line] = outageLines(views)
  return line === undefined ? undefined : new CommandFailed("model-unavailable", line)
}

export const watchAway = ({ isQuiet, look, waitMs }: AwayRequest): AwayWatch => {
  const passed = Promise.withResolvers<CommandFailed>()
  let timer: NodeJS.Timeout | undefined
  let since: number | undefined
  let isOver = false
  const again = (): void => {
    // A look that failed says nothing: what is wrong is reported by whatever else the command waits for.
    if (!isOver) timer = setTimeout(() => void see().catch(again), LOOK_MILLIS)
  }
  const see = async (): Promise<void> => {
    const failure = modelAway(await look())
    const now = performance.now()
    if (failure === undefined) since = undefined
    else if (since === undefined) {
      since = now
      if (!isQuiet) note(painted("yellow", `${failure.message}; waits for ${seconds(waitMs)} at most`))
    }
    if (failure !== undefined && now - (since ?? now) >= waitMs) passed.resolve(failure)
    else again()
  }
  again()
  return {
    passed: passed.promise,
    release: () => {
      isOver = true
      clearTimeout(timer)
    }
  }
}

// Waits: models whose servers are away, as a person learns of them.
// Owns the words. Leaves which assistants there are to the backend.
// W1  Each says the server, since when, why, and when it is tried again, in one line.

const time = (at: number): string => new Date(at).toISOString().slice(11, 19)
const day = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

const nextOf = ({ nextTry }: Pick<OutageView, "nextTry">): string =>
  nextTry === undefined ? "it is being tried now" : `tried again by ${time(nextTry)} UTC`

const serversOf = ({ others = [], server }: OutageView): ReadonlyArray<string> => [server, ...others]

/** What one waits for. */
export const waitText = (outage: OutageView): string =>
  onOneLine(
    `waits for the model at ${serversOf(outage).join(" or ")}, away since ${day(outage.since)} UTC; ${nextOf(outage)}; ${outage.reason}`,
    300
  )

/** The colours of what needs a person, and of the modes. */
const styles = [
  [/^halted/, "red"],
  [/awaitingApproval/, "yellow"],
  [/^(dreaming|compacting)/, "magenta"],
  [/^retired/, "dim"],
  [/^awake\.(?!idle)/, "green"]
] as const

/** The state of one, for a table. */
export const stateText = ({
  haltReason,
  outage,
  state
}: Pick<ListedView, "haltReason" | "outage" | "state">): string => {
  if (outage !== undefined && haltReason === undefined)
    return paintedResult("yellow", onOneLine(`${state}: waits for ${serversOf(outage).join(" or ")}`, 80))
  const text = onOneLine(haltReason === undefined ? state : `${state}: ${haltReason}`, 60)
  const style = styles.find(([form]) => form.test(state))?.[1]
  return style === undefined ? text : paintedResult(style, text)
}

/** A server that is away, and how many wait for it. */
type Away = Pick<OutageView, "nextTry" | "reason" | "server" | "since"> & { readonly assistants: number }

/** One line for a server that is away. */
export const awayLine = ({ assistants, nextTry, reason, server, since }: Away): string => {
  const who = `${counted(assistants, "assistant")} ${assistants === 1 ? "waits" : "wait"}`
  const next = nextOf(defined({ nextTry }))
  return onOneLine(`the model at ${server} has not answered since ${day(since)} UTC: ${reason}; ${who}, ${next}`, 300)
}

/** The servers that are away by the word of those that wait for them, the one that most wait for first. */
export const outageLines = (views: ReadonlyArray<Pick<ListedView, "outage">>): ReadonlyArray<string> => {
  const byServer = new Map<string, Array<OutageView>>()
  for (const { outage } of views) {
    if (outage === undefined) continue
    for (const server of serversOf(outage)) byServer.set(server, [...(byServer.get(server) ?? []), outage])
  }
  return [...byServer]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([server, waits]) => {
      const nextTry = Math.min(...waits.map((wait) => wait.nextTry ?? Infinity))
      return awayLine({
        server,
        since: Math.min(...waits.map((wait) => wait.since)),
        reason: waits[0]?.reason ?? "",
        assistants: waits.length,
        ...defined({ nextTry: nextTry === Infinity ? undefined : nextTry })
      })
    })
}
