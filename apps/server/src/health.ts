// Health: whether the process lives, whether it is ready, and what it measures; and the contract itself, for people.
// Owns these routes. Leaves figures of the fleet to the fleet.
// L1  `/livez` asks nothing of the store: it tells whether this process still turns.
// L2  `/readyz` is well only while the store answers in time and the process does not end.

import { monitorEventLoopDelay } from "node:perf_hooks"
import * as OpenApi from "effect/http-api/OpenApi"
import type { Fleet, FleetRole } from "reverie"
import { write } from "./answer.ts"
import { Api } from "./api/index.ts"
import { docsPage } from "./docs.ts"
import { type Plain, plainText } from "./front.ts"
import type { Patience } from "./patience.ts"
import { asDocs } from "./security-headers.ts"
import type { Traffic } from "./traffic.ts"

/** A process that has not turned for so long is not well. */
const MAX_LAG_MILLIS = 5_000
const READY_WITHIN_MILLIS = 2_000

export interface HealthOptions {
  readonly fleet: Fleet
  readonly role: FleetRole
  readonly traffic: Traffic
  readonly patience: Patience
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

const readiness = async ({ fleet, isClosing, role }: HealthOptions) => {
  if (isClosing()) return json(503, { ok: false, role, says: "it is about to end" })
  try {
    await inTime(fleet.outboxEnd())
    return json(200, { ok: true, role })
  } catch {
    return json(503, { ok: false, role, says: "the store does not answer" })
  }
}

/** The longest time since the last question in which the process did not turn. */
const liveness = (): Plain => {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  return {
    wanted: "anybody",
    answer: (_, response) => {
      const lagMillis = Math.max(0, delay.max / 1e6)
      delay.reset()
      const isWell = lagMillis < MAX_LAG_MILLIS
      const { body, status } = json(isWell ? 200 : 503, { ok: isWell, lagMillis: Math.round(lagMillis) })
      write(response, status, "application/json", body)
    }
  }
}

export const plainOf = (options: HealthOptions): ReadonlyMap<string, Plain> => {
  const { fleet, patience, role, traffic } = options
  const plain = new Map<string, Plain>([["/livez", liveness()]])
  plain.set("/readyz", {
    wanted: "anybody",
    answer: async (_, response) => {
      const { body, status } = await readiness(options)
      write(response, status, "application/json", body)
    }
  })
  plain.set("/metrics", {
    wanted: "fleet",
    answer: plainText(
      "text/plain; version=0.0.4; charset=utf-8",
      async () => `${await fleet.metrics()}${traffic.format(patience.failed)}`
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
    answer: async (_, response) => {
      const { html, scripts } = await docsPage()
      asDocs(response, scripts)
      write(response, 200, "text/html; charset=utf-8", html)
    }
  })
  return plain
}
