// Health: whether the process lives, whether it is ready, and what it measures; and the contract itself, for people.
// Owns these routes. Leaves figures of the fleet to the fleet.
// L1  `/livez` asks nothing of the store: it tells whether this process still turns, the same to all who ask.
// L2  `/readyz` is well only while the store answers and writes in time, an assistant is not halted, and the process does not
//     end. With every assistant halted `?exclude=halted` is well: for anyone who routes the orders by which they go on.
// L3  However often it is asked, the store is asked once a second.

import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { Fleet, FleetRole, Readiness } from "reverie"
import { asDocs, write, writePacked } from "./http/answer.ts"
import { Api } from "./api/index.ts"
import { type Plain, plainText } from "./http/front.ts"
import type { LoopWatch } from "./loop-watch.ts"
import type { Patience } from "./http/patience.ts"
import type { Traffic } from "./http/traffic.ts"

// Docs: a page for people about the contract.
// Owns taking it out of the library, once, and the hashes of its scripts. Leaves the contract to api/.
// D1  It needs nothing from outside this server, and runs no script but the two that stand in it.

interface Docs {
  readonly html: string
  /** Of the scripts that stand in it. */
  readonly scripts: ReadonlyArray<string>
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64")

const made = Effect.gen(function* () {
  const routes = HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } })
  const app = yield* HttpRouter.toHttpEffect(routes)
  const asked = HttpServerRequest.fromWeb(new Request("http://localhost/docs"))
  const { body } = yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, asked)
  const html = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => hashOf(script))
  return { html, scripts }
})

let docs: Promise<Docs> | undefined

/** Three megabytes: made when someone asks. */
const docsPage = (): Promise<Docs> => (docs ??= Effect.runPromise(Effect.scoped(made)))

/** A process that has not turned for so long, in the last so long, is not well. */
const MAX_LAG_MILLIS = 5_000
const LAG_WINDOW_MILLIS = 10_000
const READY_WITHIN_MILLIS = 2_000
const KNOWN_MILLIS = 1_000

export interface HealthOptions {
  readonly fleet: Fleet
  readonly role: FleetRole
  readonly traffic: Traffic
  readonly patience: Patience
  readonly watch: LoopWatch
  /** How long an answer of the store is known; a second when not said. */
  readonly knownMillis?: number
  readonly isClosing: () => boolean
}

const inTime = <A>(asked: Promise<A>): Promise<A> => {
  const { promise, reject } = Promise.withResolvers<A>()
  const timer = setTimeout(() => reject(new Error("too late")), READY_WITHIN_MILLIS)
  return Promise.race([asked, promise]).finally(() => clearTimeout(timer))
}

const json = (status: number, value: unknown): { readonly status: number; readonly body: string } => ({
  status,
  body: `${JSON.stringify(value)}\n`
})

/** Asks once for all who ask within a while, whatever comes of it. */
const knownFor = <A>(millis: number, ask: () => Promise<A>): (() => Promise<A>) => {
  let known: Promise<A> | undefined
  return () => {
    if (known === undefined) {
      known = ask()
      setTimeout(() => {
        known = undefined
      }, millis).unref()
    }
    return known
  }
}

const isExcluded = ({ url = "" }: IncomingMessage, what: string): boolean =>
  new URLSearchParams(url.split("?")[1] ?? "").getAll("exclude").includes(what)

const readiness = ({ fleet, isClosing, knownMillis = KNOWN_MILLIS, role }: HealthOptions): Plain => {
  let asking: Promise<Readiness> | undefined
  const ask = (): Promise<Readiness> => {
    // A store that hangs is not asked again before it has answered.
    asking ??= fleet.monitor.readiness().finally(() => {
      asking = undefined
    })
    return inTime(asking)
  }
  const asked = knownFor(knownMillis, ask)
  const judged = async (request: IncomingMessage) => {
    const unwell = (says: string) => json(503, { ok: false, role, says })
    if (isClosing()) return unwell("it is about to end")
    try {
      const { allHalted } = await asked()
      if (allHalted === 0) return json(200, { ok: true, role })
      const says = allHalted === 1 ? "its only assistant is halted" : `all ${allHalted} assistants are halted`
      return isExcluded(request, "halted") ? json(200, { ok: true, role, says }) : unwell(says)
    } catch {
      return unwell("the store does not answer, or refuses to write")
    }
  }
  return {
    wanted: "anybody",
    answer: async (request, response) => {
      const { body, status } = await judged(request)
      write(response, status, "application/json", body)
    }
  }
}

/** What the process measures is reported also when its store does not answer: then more than ever. */
const measuredBy = async (fleet: Fleet): Promise<string> => {
  const up = (value: 0 | 1) =>
    `# HELP reverie_store_up Whether the store has answered this question.\n# TYPE reverie_store_up gauge\nreverie_store_up ${value}\n`
  try {
    return `${await inTime(fleet.monitor.metrics())}${up(1)}`
  } catch {
    return up(0)
  }
}

const liveness = ({ watch }: HealthOptions): Plain => ({
  wanted: "anybody",
  answer: (_, response) => {
    const { wall: lagMs } = watch.longest(LAG_WINDOW_MILLIS)
    const isWell = lagMs < MAX_LAG_MILLIS
    const { body, status } = json(isWell ? 200 : 503, { ok: isWell, lagMs: Math.round(lagMs) })
    write(response, status, "application/json", body)
  }
})

export const plainOf = (options: HealthOptions): ReadonlyMap<string, Plain> => {
  const { fleet, patience, role, traffic, watch } = options
  const plain = new Map<string, Plain>([
    ["/livez", liveness(options)],
    ["/readyz", readiness(options)]
  ])
  plain.set("/metrics", {
    wanted: "fleet",
    answer: plainText(
      "text/plain; version=0.0.4; charset=utf-8",
      async () => `${await measuredBy(fleet)}${traffic.format(patience.failed)}${watch.format()}`
    )
  })
  if (role === "worker") return plain
  let contract: string | undefined
  plain.set("/openapi.json", {
    wanted: "public",
    answer: plainText("application/json", () => (contract ??= JSON.stringify(OpenApi.fromApi(Api))))
  })
  plain.set("/docs", {
    wanted: "public",
    answer: async (request, response) => {
      const { html, scripts } = await docsPage()
      asDocs(response, scripts)
      await writePacked(request, response, "text/html; charset=utf-8", html)
    }
  })
  return plain
}
