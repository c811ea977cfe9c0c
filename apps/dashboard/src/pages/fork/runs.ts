// Runs: a tick, or several, run again: how far that has come, and what came of each.
// Owns how many run at once, stopping, and what a list of them comes to in numbers. Leaves what is asked to draft.ts.
// R1  At most AT_ONCE run at the same time. Once it is stopped none begins, and those in flight are ended, with what they ask of a
//     model; results that were there count.
// R2  One that fails is a line that says why, and the others go on.
// R3  What is begun anew takes the place of what was there: no result of an older list comes into a newer one.

import { useEffect, useRef, useState } from "react"
import { ask, change, freshKey, type Trouble, troubleOf } from "../../api/client.ts"
import type { Payload, TickView } from "./draft.ts"
import { type Difference, differenceOf, type Fork } from "./digest.ts"

export const AT_ONCE = 2
const MOST_TICKS = 20

export interface Run {
  readonly tick: number
  readonly payload: Payload
  readonly state: "waiting" | "running" | "done" | "failed" | "stopped"
  readonly fork?: Fork
  readonly trouble?: Trouble
}

export interface Batch {
  readonly kind: "one" | "five" | "last"
  readonly runs: ReadonlyArray<Run>
  readonly isStopped: boolean
}

interface Running {
  readonly payloads: ReadonlyArray<Payload>
  readonly run: (payload: Payload, stopped: AbortSignal) => Promise<Fork>
  readonly stopped: AbortSignal
  readonly onChange: (runs: ReadonlyArray<Run>) => void
}

/** Runs all of them, AT_ONCE at the same time, and tells of every change. */
export const runAll = async ({ onChange, payloads, run, stopped }: Running): Promise<void> => {
  const runs: Array<Run> = payloads.map((payload) => ({ tick: payload.tick, payload, state: "waiting" }))
  const set = (at: number, next: Partial<Run>): void => {
    const before = runs[at]
    if (before !== undefined) runs[at] = { ...before, ...next }
    onChange([...runs])
  }
  let next = 0
  const work = async (): Promise<void> => {
    while (next < runs.length && !stopped.aborted) {
      const at = next++
      const payload = payloads[at]
      if (payload === undefined) return
      set(at, { state: "running" })
      await run(payload, stopped).then(
        (fork) => set(at, { state: "done", fork }),
        (error: unknown) =>
          set(at, stopped.aborted ? { state: "stopped" } : { state: "failed", trouble: troubleOf(error) })
      )
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, runs.length) }, work))
  for (const [at, { state }] of runs.entries()) if (state === "waiting") set(at, { state: "stopped" })
}

const isRunnable = ({ endedAt, kind, models }: TickView): boolean =>
  kind === "tick" && endedAt !== undefined && models.length > 0

/** The newest ticks that asked a model and have ended, the newest first. */
export const lastTicks = async (id: string, most: number = MOST_TICKS): Promise<ReadonlyArray<number>> => {
  const found: Array<number> = []
  let before: number | undefined
  do {
    const query = before === undefined ? { limit: 100 } : { limit: 100, before }
    const { items, next } = await ask("GET /v1/assistants/:id/ticks", { params: { id }, query })
    found.push(...items.filter(isRunnable).map(({ tick }) => tick))
    before = next ?? undefined
  } while (before !== undefined && found.length < most)
  return found.slice(0, most)
}

export interface Runs {
  readonly batch: Batch | undefined
  readonly isBusy: boolean
  /** Why the list itself could not be made. */
  readonly trouble: Trouble | undefined
  readonly start: (kind: Batch["kind"], payloads: () => Promise<ReadonlyArray<Payload>>) => void
  readonly stop: () => void
}

export const useRuns = (id: string): Runs => {
  const [batch, setBatch] = useState<Batch>()
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<Trouble>()
  const current = useRef(new AbortController())
  // Who leaves the page pays for no more runs.
  useEffect(() => () => current.current.abort(), [])
  const run: Running["run"] = (payload, stopped) =>
    change("POST /v1/assistants/:id/forks", { params: { id }, payload }, freshKey(), stopped)
  const start: Runs["start"] = (kind, payloads) => {
    current.current.abort()
    const mine = new AbortController()
    current.current = mine
    const isMine = () => current.current === mine
    setBusy(true)
    setTrouble(undefined)
    setBatch({ kind, runs: [], isStopped: false })
    const onChange = (runs: ReadonlyArray<Run>) =>
      isMine() ? setBatch({ kind, runs, isStopped: mine.signal.aborted }) : undefined
    payloads()
      .then((asked) => runAll({ payloads: asked, run, onChange, stopped: mine.signal }))
      .catch((error: unknown) => (isMine() ? setTrouble(troubleOf(error)) : undefined))
      .finally(() => (isMine() ? setBusy(false) : undefined))
  }
  const stop = () => {
    current.current.abort()
    setBatch((before) => (before === undefined ? undefined : { ...before, isStopped: true }))
  }
  return { batch, isBusy, trouble, start, stop }
}

export interface Sums {
  readonly done: number
  readonly same: number
  readonly changed: number
  readonly failed: number
  /** Answers that are unlike each other. */
  readonly answers: number
  readonly input: number
  readonly output: number
  readonly costMicros: number
  /** Of models, and those of them whose price no one knows. */
  readonly calls: number
  readonly unpricedCalls: number
}

const differencesIn = (runs: ReadonlyArray<Run>): ReadonlyArray<Difference> =>
  runs.flatMap(({ fork }) => (fork === undefined ? [] : [differenceOf(fork)]))

export const sumsOf = (runs: ReadonlyArray<Run>): Sums => {
  const found = differencesIn(runs)
  const same = found.filter(({ isAnswerSame }) => isAnswerSame).length
  return {
    done: found.length,
    same,
    changed: found.length - same,
    failed: runs.filter(({ state }) => state === "failed").length,
    answers: new Set(found.map(({ other }) => other.reply)).size,
    input: found.reduce((sum, { other }) => sum + other.tokens.input, 0),
    output: found.reduce((sum, { other }) => sum + other.tokens.output, 0),
    costMicros: found.reduce((sum, { other }) => sum + other.costMicros, 0),
    calls: found.reduce((sum, { other }) => sum + other.modelCalls - other.failures.length, 0),
    unpricedCalls: found.reduce((sum, { other }) => sum + other.unpricedCalls, 0)
  }
}
