// The server of the model goes away, is unwell in several ways, and comes back; messages go on coming meanwhile, and the
// process is killed in the middle. An outage may delay answers. It may not halt, fail or lose anything.

import { postTo, untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { FailingModel, type Illness } from "../failing-model.ts"
import { CROWD, SOME } from "../fleets/crowd.ts"
import { judge, pause } from "../judge.ts"
import { rowsUntil, saidAway, saidByMetrics } from "../outage-views.ts"
import type { Scene, Server } from "../scene.ts"

/** What is wrong with the server, and for how long. */
type Phase = readonly [Illness | "gone", seconds: number]

interface Course {
  /** Before the process is killed, and after it was started again. */
  readonly before: ReadonlyArray<Phase>
  readonly after: ReadonlyArray<Phase>
  /** Most calls that may reach the server while it is unwell. */
  readonly mostCalls: number
  /** Longest time from its return to the first call: one pause between two probes. */
  readonly probeSeconds: number
  readonly isBrief: boolean
}

/** Awake within seconds: the answers of forty assistants, and the time that the judge takes to see them. */
const AWAKE_SECONDS = 5

/** The board of a server that answers reads what has changed a little later. */
const BOARD_MILLIS = 3_000

const live = async (model: FailingModel, server: Server, phases: ReadonlyArray<Phase>, name: string) => {
  const posted: Array<Posted> = []
  for (const [at, [illness, seconds]] of phases.entries()) {
    await (illness === "gone" ? model.goAway() : model.fallIll(illness))
    posted.push(...(await postTo(server, `${name}-${at}`, at === 0 ? CROWD : SOME)))
    await pause(seconds * 1_000)
  }
  return posted
}

/** From the return of the model until all is well again. */
export const recovering = async (
  model: FailingModel,
  { client }: Server,
  posted: ReadonlyArray<Posted>,
  { mostCalls, probeSeconds }: Pick<Course, "mostCalls" | "probeSeconds">
) => {
  const calls = model.callsWhileUnwell
  const returned = performance.now()
  const { firstCall } = await model.comeBack()
  await Promise.race([firstCall, pause(60_000)])
  const firstSeconds = (performance.now() - returned) / 1_000
  const { left, seconds } = await untilAnswered(client, posted, 60_000)
  const isWell = ({ outage, state }: { readonly outage?: unknown; readonly state: string }) =>
    state !== "halted" && outage === undefined
  const rows = await rowsUntil(client, BOARD_MILLIS, (all) => all.every(isWell))
  const unwell = rows.filter((row) => !isWell(row))
  const checks: ReadonlyArray<Check> = [
    { says: `no more than ${mostCalls} calls reach it while it is unwell`, ok: calls <= mostCalls, seen: `${calls}` },
    {
      says: `it is asked again within ${probeSeconds} s`,
      ok: firstSeconds <= probeSeconds,
      seen: `${firstSeconds.toFixed(1)} s`
    },
    { says: "every message is answered", ok: left.length === 0, seen: `${left.length} of ${posted.length} are not` },
    {
      says: `all assistants have answered within ${AWAKE_SECONDS} s of the first call`,
      ok: seconds <= AWAKE_SECONDS,
      seen: `${seconds} s`
    },
    {
      says: "no assistant is halted or still waits",
      ok: unwell.length === 0,
      seen: `${unwell.length} of ${rows.length}`
    }
  ]
  return { checks, seconds }
}

/** Some are written to while all is well. */
export const greeting = async (server: Server) => {
  const posted = await postTo(server, "well", SOME)
  const { left } = await untilAnswered(server.client, posted, 20_000)
  const check: Check = {
    says: "all was well before",
    ok: posted.length === SOME.length && left.length === 0,
    seen: `${posted.length} acknowledged, ${left.length} of them unanswered`
  }
  return { posted, check }
}

const outage = async (scene: Scene, course: Course): Promise<Finding> => {
  const { after, before, isBrief } = course
  const model = await FailingModel.open()
  const { host } = model
  try {
    const options = { fleet: "crowd.ts", env: { OPENAI_BASE_URL: model.url } }
    const first = await scene.serve(options)
    const well = await greeting(first)
    const posted = [...well.posted, ...(await live(model, first, before, "before"))]
    const saidBefore = await saidAway({ scene, server: first, host, isBrief: true })
    await first.kill()
    const second = await scene.serve(options)
    posted.push(...(await live(model, second, after, "after")))
    const saidAfter = [...(await saidAway({ scene, server: second, host, isBrief })), await saidByMetrics(second, host)]
    const recovered = await recovering(model, second, posted, course)
    const judged = await judge(second.client, posted)
    await second.stop()
    const checks = [well.check, ...saidBefore, ...saidAfter, ...recovered.checks]
    return { ...judged, recoverSeconds: recovered.seconds, checks }
  } finally {
    await model.goAway()
  }
}

const short: Course = {
  before: [["gone", 0.3]],
  after: [["overloaded", 0.3]],
  mostCalls: 2 * CROWD.length,
  probeSeconds: 8,
  isBrief: true
}

const long: Course = {
  before: [
    ["gone", 8],
    ["overloaded", 6]
  ],
  after: [
    ["hanging", 8],
    ["page", 6],
    ["limited", 6],
    ["breaks-off", 6],
    ["gateway-page", 6],
    ["gone", 4]
  ],
  mostCalls: 2 * CROWD.length,
  probeSeconds: 35,
  isBrief: false
}

export const modelOutage: ReadonlyArray<Attack> = [
  {
    name: "model-away",
    item: 4,
    says: "the model server goes away and is overloaded, the process is killed meanwhile, forty assistants are written to",
    isShort: true,
    run: (scene) => outage(scene, short)
  },
  {
    name: "model-unwell",
    item: 4,
    says: "the model server is gone, answers 503, hangs, answers pages, 429 and half answers, for most of a minute",
    run: (scene) => outage(scene, long)
  }
]
