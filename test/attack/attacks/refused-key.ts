// The server of the model refuses the key. That is no outage, and no waiting helps: every assistant that asks is halted
// with the reason, and stays so until a person resumes it. Then each goes on with the message that it was at work on.

import { postTo, untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import { FailingModel } from "../failing-model.ts"
import { SOME } from "../fleets/forty.ts"
import { judge, pause } from "../judge.ts"
import { rowsUntil } from "../outage-views.ts"
import type { Scene, Server } from "../scene.ts"
import { greeting } from "./model-outage.ts"

const HALTED_MILLIS = 10_000
/** Longer than the first pauses of an outage: what waits would have tried again. */
const STAYS_MILLIS = 2_500

const haltedIn = async ({ client }: Server, withinMs: number) => {
  const isHalted = ({ haltReason = "", state }: { readonly haltReason?: string; readonly state: string }) =>
    state === "halted" && haltReason.startsWith("ModelDenied")
  const rows = await rowsUntil(client, withinMs, (all) => all.filter(isHalted).length >= SOME.length)
  return { halted: rows.filter(isHalted), waiting: rows.filter(({ outage }) => outage !== undefined) }
}

const resume = async ({ client }: Server): Promise<number> => {
  const order = { method: "POST", headers: { "content-type": "application/json" }, body: '{"order":"resume"}' }
  const statuses = await Promise.all(SOME.map((id) => client.status(`/v1/assistants/${id}/orders`, order)))
  return statuses.filter((status) => status === 200).length
}

const refusing = async (scene: Scene): Promise<Finding> => {
  const model = await FailingModel.open()
  try {
    const server = await scene.serve({ fleet: "forty.ts", env: { OPENAI_BASE_URL: model.url } })
    const well = await greeting(server)
    await model.fallIll("refusing")
    const refused = await postTo(server, "refused", SOME)
    const first = await haltedIn(server, HALTED_MILLIS)
    await model.comeBack()
    await pause(STAYS_MILLIS)
    const later = await haltedIn(server, 0)
    const resumed = await resume(server)
    const posted = [...well.posted, ...refused]
    const { left, seconds } = await untilAnswered(server.client, posted, 20_000)
    const judged = await judge(server.client, posted)
    await server.stop()
    const all = SOME.length
    const checks: ReadonlyArray<Check> = [
      well.check,
      { says: "all that asked are halted", ok: first.halted.length === all, seen: JSON.stringify(first.halted[0]) },
      { says: "no assistant waits for it", ok: first.waiting.length === 0, seen: `${first.waiting.length}` },
      {
        says: "they stay so when it answers",
        ok: later.halted.length === all,
        seen: `${later.halted.length} of ${all}`
      },
      { says: "a person resumes each", ok: resumed === all, seen: `${resumed} of ${all}` },
      {
        says: "then each message is answered",
        ok: left.length === 0,
        seen: `${left.length} of ${posted.length} are not`
      }
    ]
    return { ...judged, recoverSeconds: seconds, checks }
  } finally {
    await model.goAway()
  }
}

export const refusedKey: ReadonlyArray<Attack> = [
  {
    name: "key-refused",
    item: 4,
    says: "the model server refuses the key of the fleet, then takes it again",
    run: refusing
  }
]
