// ServersAway: servers of models that are away when a test wants it, and assistants that wait for them.

import { assert } from "@effect/vitest"
import { contextOf, restore } from "@reverie/assistant"
import { CallWithheld, type Model, type ModelError, ModelUnavailable, type Prompt, type Reply } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Life, live, type LifeOptions } from "./rig.ts"

export const SERVER = "models.example:8443"
export const MINUTE_MILLIS = 60_000

export const down = new ModelUnavailable({ provider: SERVER, kind: "network", message: "ECONNREFUSED" })

const reply = (text = "Here."): Reply => ({
  text,
  calls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1, source: "counted" },
  model: "scripted"
})

interface Call {
  readonly at: number
  readonly who: string
}

export interface ServerOptions {
  /** SERVER when not said. */
  readonly name?: string
  /** Why a call of this moment fails; undefined when it is answered. */
  readonly failing: (at: number, prompt: Prompt) => ModelError | undefined
  /** With a circuit: after a failure calls are withheld for so long, and one tries at a time. */
  readonly coolDownMs?: number
  readonly thinkMillis?: number
}

/** The assistant whose prompt this is: what it was told last names it. */
export const whoIn = ({ messages }: Prompt): string =>
  messages.findLast(({ role }) => role === "user")?.content.slice(0, 4) ?? ""

/** A server that is away when it is asked to be, and what reached it. */
export const serverOf = ({ coolDownMs, failing, name = SERVER, thinkMillis = 20 }: ServerOptions) => {
  const calls: Array<Call> = []
  let openUntil = 0
  let trying = 0
  let most = 0
  const withheldMillis = () =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (coolDownMs === undefined || openUntil === 0) return 0
      return now < openUntil ? openUntil - now : trying > 0 ? coolDownMs : 0
    })
  const model: Model["Service"] = {
    serves: { provider: "example", model: "scripted", server: name },
    infer: Effect.fnUntraced(function* (prompt) {
      const retryAfterMs = yield* withheldMillis()
      if (retryAfterMs > 0) return yield* new CallWithheld({ provider: name, message: "shut", retryAfterMs })
      const at = yield* Clock.currentTimeMillis
      calls.push({ at, who: whoIn(prompt) })
      most = Math.max(most, openUntil === 0 ? 0 : ++trying)
      yield* Effect.sleep(thinkMillis)
      trying = 0
      const error = failing(yield* Clock.currentTimeMillis, prompt)
      openUntil = error === undefined || coolDownMs === undefined ? 0 : at + thinkMillis + coolDownMs
      return error === undefined ? reply() : yield* error
    }),
    ...(coolDownMs === undefined
      ? {}
      : { circuit: { withheldMillis, tryNow: Effect.sync(() => (openUntil = Math.min(openUntil, 1))) } })
  }
  return { model, calls, mostTries: () => most }
}

export const crowd = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => `a-${String(at).padStart(2, "0")}`)

export const sayAll = (life: Life, all: ReadonlyArray<string>): void => {
  for (const to of all) life.say(to, { to })
}

export const isAllAnswered = (life: Life, all: ReadonlyArray<string>) => () =>
  all.every((name) => life.ends(name).some(({ outcome }) => outcome === "answered"))

export const outageOf = (life: Life, name: string) => contextOf(Result.getOrThrow(restore(life.snapshot(name)))).outage

/** Everything that went wrong. */
export const assertUnharmed = (life: Life, all: ReadonlyArray<string>): void => {
  assert.isEmpty(life.deadLetters())
  for (const name of all) {
    assert.isFalse(
      life.entries(name).some(({ status }) => status === "halted"),
      `${name} was halted`
    )
    assert.strictEqual(life.ends(name).length, 1)
  }
}

/** A crowd whose server is away for a while. */
export const away = (
  forMs: number,
  options: Partial<ServerOptions> & { readonly life?: LifeOptions; readonly count?: number } = {}
) => {
  const { count = 30, life: more = {}, ...rest } = options
  const all = crowd(count)
  const START = 1_800_000_000_000
  const server = serverOf({ failing: (at) => (at < START + forMs ? down : undefined), ...rest })
  const life = live({ assistants: all, model: server.model, startAt: START, ...more })
  return { all, life, start: START, ...server }
}
