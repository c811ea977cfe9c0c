// Queues: the group about what waits to be worked on, and what was buried.
// Owns joining what the mailboxes hold with what the servers behind them count. Leaves both to the house.
// K1  A tenant sees its own mailboxes; figures of the whole store only the tenant that the process is opened for.

import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { Fleet } from "reverie"
import { Api } from "../api/index.ts"
import { asking, changing, Desk } from "../desk.ts"
import { Live } from "../live.ts"
import { type QueueFigures, queuesIn } from "../queue-figures.ts"

const MAX_NAMED = 100
const MAX_DEAD = 10_000

export const queuesLive = HttpApiBuilder.group(
  Api,
  "queues",
  Effect.fnUntraced(function* (handlers) {
    const { boards, house } = yield* Live
    const { role } = yield* Desk
    const queuesOf = async (fleet: Fleet) => {
      const board = await boards.of(fleet.tenant)
      const { busy, delayed, waiting } = await board.work(Date.now())
      const failed = (await fleet.deadLetters(MAX_DEAD)).length
      const mailboxes: QueueFigures = {
        name: "mailboxes",
        waiting,
        active: busy.length,
        delayed,
        failed,
        paused: false
      }
      const own = { backend: fleet.profile, workers: [] }
      if (fleet.tenant !== house) return { ...own, queues: [mailboxes] }
      const [metrics, tally] = await Promise.all([fleet.metrics(), fleet.tally()])
      const workers = role === "api" ? [] : [{ name: "this process", role, holds: busy.slice(0, MAX_NAMED) }]
      return { ...own, queues: [mailboxes, ...queuesIn(metrics)], tally, workers }
    }
    return handlers.handleAll({
      queues: () => asking(queuesOf),
      dead: ({ query: { limit } }) =>
        asking(async (fleet) => ({
          items: (await fleet.deadLetters(limit)).map(({ address, at, envelope, reason, text, type }) => ({
            assistant: address.assistant,
            envelope,
            reason,
            at,
            ...(type === undefined ? {} : { type }),
            ...(text === undefined ? {} : { text })
          }))
        })),
      redeliver: ({ params: { id }, payload: { envelope } }) =>
        changing("queues.redeliver", `${id} ${envelope}`, async (fleet) => {
          const receipt = await fleet.redeliver(id, envelope)
          boards.touch(fleet.tenant, id)
          return receipt
        }),
      discard: ({ params: { id }, payload: { envelope } }) =>
        changing("queues.discard", `${id} ${envelope}`, async (fleet) => ({
          outcome: await fleet.layAside(id, envelope)
        }))
    })
  })
)
