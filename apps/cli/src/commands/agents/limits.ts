// Limits: what a tenant may use of models in a minute and a day.
// Owns telling them, and how far they are used up. Leaves judging what is set to the fleet.

import { type Amount, defined } from "@reverie/protocol"
import { findBackend, serverFor, type Where } from "../../backend/find-backend.ts"
import type { Backend } from "../../backend/backend.ts"
import { say, sayJson } from "../../output.ts"
import { onOneLine, plain } from "../../texts/plain.ts"
import type { Stop } from "../../running/stop.ts"
import { amountText } from "./agents.ts"
import type { OrderOptions } from "./orders.ts"

type View = Awaited<ReturnType<typeof lookAt>>
type LimitName = keyof View["limits"]
/** Null for what the program says. */
export type Wanted = { readonly [Name in LimitName]?: number | null }

export type LimitsOptions = OrderOptions

/** At a server it is a token that says whose limits are shown, and one of the deployment's own may set those of any tenant. */
const whereOf = async (options: LimitsOptions): Promise<Where> => {
  const { tenant: _, ...where } = options
  return (await serverFor(options)) === undefined ? options : where
}

const lookAt = async (backend: Backend) =>
  (await backend.assistants((api) => api.budgets({ query: { limit: 1 } }))).tenant

const windows = [
  ["PerMinute", "a minute", "inMinute"],
  ["PerDay", "a day (UTC)", "inDay"]
] as const
const measures = [
  ["calls", "model calls", "calls"],
  ["tokens", "tokens", "tokens"],
  ["costMicros", "cost", "costMicros"]
] as const satisfies ReadonlyArray<readonly [string, string, keyof Amount]>

interface Line {
  readonly name: LimitName
  readonly noun: string
  readonly measure: keyof Amount
  readonly used: number
}

const linesOf = (view: View): ReadonlyArray<Line> => [
  ...windows.flatMap(([suffix, window, spent]) =>
    measures.map(([measure, noun, key]): Line => ({
      name: `${measure}${suffix}`,
      noun: `${noun} in ${window}`,
      measure,
      used: view[spent][key]
    }))
  ),
  { name: "concurrentCalls", noun: "model calls at once", measure: "calls", used: view.underWay }
]

/** Of what is limited: how much is used and reserved, of how much, and who says so. */
export const limitsText = (view: View): ReadonlyArray<string> => {
  const told = linesOf(view).flatMap(({ measure, name, noun, used }) => {
    const most = view.limits[name]
    if (most === undefined) return []
    const said = view.defined[name]
    const from =
      view.set[name] === undefined
        ? ""
        : ` (set; the program says ${said === undefined ? "unlimited" : amountText(measure, said)})`
    return [`${amountText(measure, used)} of ${amountText(measure, most)} ${noun}${from}`]
  })
  return told.length === 0 ? ["nothing bounds what the tenant may use"] : told
}

export const limits = async (wanted: Wanted, options: LimitsOptions, stop: Stop): Promise<number> => {
  const isLook = Object.keys(wanted).length === 0
  await using backend = await findBackend(await whereOf(options), isLook ? "look" : "order", stop)
  const payload = { ...wanted, ...defined({ tenant: options.tenant }) }
  if (!isLook && options.dryRun) {
    const now = await lookAt(backend)
    if (options.json) sayJson({ ok: true, dryRun: true, would: { setLimits: payload }, tenant: now })
    else say(onOneLine(`would set ${JSON.stringify(payload)}`))
    return 0
  }
  const view = isLook ? await lookAt(backend) : await backend.assistants((api) => api.setLimits({ payload }))
  if (options.json) sayJson({ ok: true, tenant: view })
  else say(plain(limitsText(view).join("\n")))
  return 0
}
