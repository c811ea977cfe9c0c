// The server of the model goes away, is unwell in several ways, and comes back; messages go on coming meanwhile, and the
// process is killed in the middle. An outage may delay answers. It may not halt, fail or lose anything.

import { postTo, untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { FailingModel, type Illness } from "../failing-model.ts"
import { CROWD, SOME } from "../fleets/forty.ts"
import { judge, pause } from "../judge.ts"
import { type Row, rowsUntil, saidAway, saidByMetrics } from "../outage-views.ts"
import type { Scene, Server } from "../scene.ts"

/** What is wrong with the server, and for how long. */
type Phase = readonly [Illness | "gone", seconds: number]

interface Course {
  /** Before the process is killed, and after it was started again; without any after, the model is back by then. */
  readonly before: ReadonlyArray<Phase>
  readonly after: ReadonlyArray<Phase>
  /** Most calls that may reach the server while it is unwell. */
  readonly mostCalls: number
  /** Longest time from its return to the first call: one pause between two probes. */
  readonly probeSeconds: number
  /** The shortest pause of those that wait; that of the settings when not said. */
  readonly pauseMillis?: number
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

interface Return {
  readonly model: FailingModel
  /** The server that is to recover. */
  readonly serve: () => Promise<Server>
  readonly posted: ReadonlyArray<Posted>
  readonly bounds: Pick<Course, "mostCalls" | "probeSeconds">
}

const isWell = ({ outage, state }: Row): boolean => state !== "halted" && outage === undefined

const secondsSince = (begun: number, ended: number): number => Math.round((ended - begun) / 100) / 10

/** From the return of the model until all is well again. */
export const recovering = async ({ bounds: { mostCalls, probeSeconds }, model, posted, serve }: Return) => {
  const calls = model.callsWhileUnwell
  const returned = performance.now()
  const { firstCall } = await model.comeBack()
  const called = firstCall.then(() => performance.now())
  const { client } = await serve()
  const first = await Promise.race([called, pause(60_000).then(() => performance.now())])
  const { left } = await untilAnswered(client, posted, 60_000)
  const seconds = secondsSince(first, performance.now())
  const rows = await rowsUntil(client, BOARD_MILLIS, (all) => all.every(isWell))
  const unwell = rows.filter((row) => !isWell(row))
  const tried = secondsSince(returned, first)
  const checks: ReadonlyArray<Check> = [
    { says: `no more than ${mostCalls} calls reach it while it is unwell`, ok: calls <= mostCalls, seen: `${calls}` },
    { says: `it is asked again within ${probeSeconds} s`, ok: tried <= probeSeconds, seen: `${tried} s` },
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
  const { after, before, isBrief, pauseMillis } = course
  const model = await FailingModel.open()
  const { host } = model
  try {
    const pauses = pauseMillis === undefined ? {} : { REVERIE_ATTACK_PAUSE_MILLIS: `${pauseMillis}` }
    const options = { fleet: "forty.ts", env: { OPENAI_BASE_URL: model.url, ...pauses } }
    const first = await scene.serve(options)
    const well = await greeting(first)
    const posted = [...well.posted, ...(await live(model, first, before, "before"))]
    const said = [...(await saidAway({ scene, server: first, host, isBrief: true })), await saidByMetrics(first, host)]
    await first.kill()
    let second: Server | undefined
    if (after.length > 0) {
      second = await scene.serve(options)
      posted.push(...(await live(model, second, after, "after")))
      said.push(...(await saidAway({ scene, server: second, host, isBrief })))
    }
    const serve = async () => (second ??= await scene.serve(options))
    const { checks, seconds } = await recovering({ model, serve, posted, bounds: course })
    const last = await serve()
    const judged = await judge(last.client, posted)
    await last.stop()
    return { ...judged, recoverSeconds: seconds, checks: [well.check, ...said, ...checks] }
  } finally {
    await model.goAway()
  }
}

/** The pauses of all are far longer than it lasts, so that only the first answer of one can wake the others in time. */
const short: Course = {
  before: [
    ["overloaded", 0.3],
    ["gone", 0.3]
  ],
  after: [],
  mostCalls: CROWD.length,
  probeSeconds: 8,
  pauseMillis: 120_000,
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
    says: "the model server is overloaded and goes away, the process is killed meanwhile, forty assistants are written to",
    isShort: true,
    isTimed: true,
    run: (scene) => outage(scene, short)
  },
  {
    name: "model-unwell",
    item: 4,
    says: "the model server is gone, answers 503, hangs, answers pages, 429 and half answers, for most of a minute",
    run: (scene) => outage(scene, long)
  }
]
