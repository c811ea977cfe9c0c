// Timeline: the group about what an assistant has done.
// Owns its rows as the contract has them. Leaves finding and cutting them to the SDK.
// T1  An entry is reported as it stands in the ledger, but for texts that no page could show.
// T2  Modes tell of at most an hour, and of no more than the entries that were read: `from` says since when. A mode lasts from
//     the entry after which it was so to the next one; the present one has not ended, and counts from when it does. Together
//     they are all of the time up to the newest entry.

import { defined } from "@reverie/protocol"
import { activityOf, type Entry, type ModelCallView, type TickView as LivedTick } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, type Modes, type TickView } from "../../api/index.ts"
import { boundOf, clip, clipAll, TEXT_CHARS } from "../../views/message-view.ts"
import { asking } from "../../gateway.ts"
import { entryPage } from "../../views/entry-page.ts"
import { found, living } from "../../views/facts.ts"
import { Live } from "../../live.ts"

/** Of each text of an entry, in UTF-16 units. */
const ENTRY_CHARS = 20_000
/** Of its newest entries, read for its modes. */
const MODE_ENTRIES = 500

const modelOf = ({ error, ...call }: ModelCallView): TickView["models"][number] => ({
  ...call,
  ...defined({ error: error === undefined ? undefined : clip(error, TEXT_CHARS) })
})

const viewOf = (lived: LivedTick): TickView => {
  const { calls, commits, envelope: _envelope, from, notices: _notices, steps, tools, type: _type, ...rest } = lived
  return {
    ...rest,
    from: commits.from,
    to: commits.to,
    ...defined({ sender: from }),
    models: calls.map(modelOf),
    tools,
    steps
  }
}

const HOUR_MILLIS = 3_600_000

/** Of its newest entries, the oldest first. */
export const modesOf = (entries: ReadonlyArray<Pick<Entry, "at" | "status">>, now: number): Modes => {
  const from = Math.max(now - HOUR_MILLIS, entries[0]?.at ?? now)
  const millis: Record<string, number> = {}
  for (const [index, { at }] of entries.slice(1).entries()) {
    const { at: began = at, status = "" } = entries[index] ?? {}
    const lasted = Math.max(from, at) - Math.max(from, began)
    const mode = activityOf(status) ?? status
    if (lasted > 0) millis[mode] = (millis[mode] ?? 0) + lasted
  }
  return { from, millis }
}

export const timelineLive = HttpApiBuilder.group(
  Api,
  "timeline",
  Effect.fnUntraced(function* (handlers) {
    const { isWhole } = yield* Live
    const maxChars = boundOf(isWhole, ENTRY_CHARS)
    return handlers.handleAll({
      ticks: ({ params: { id }, query }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          const { next, ticks } = await fleet.history.ticks(id, query)
          return { items: ticks.map(viewOf), next }
        }),
      tick: ({ params: { id, tick } }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          return viewOf(found(await fleet.history.tick(id, tick), `tick ${tick} of ${id}`))
        }),
      modes: ({ params: { id } }) =>
        asking(async (fleet) => {
          const { version } = await living(fleet, id)
          const { rows } = await entryPage(fleet, id, Math.max(1, version - MODE_ENTRIES + 1), version)
          return modesOf(
            rows.map(({ entry }) => entry),
            Date.now()
          )
        }),
      entries: ({ params: { id }, query: { from = 1, limit } }) =>
        asking(async (fleet) => {
          const { version } = await living(fleet, id)
          const first = Math.max(1, from)
          const { lost, rows } = await entryPage(fleet, id, first, Math.min(version, first + limit - 1))
          const last = Math.max(rows.at(-1)?.entry.no ?? 0, lost.at(-1)?.to ?? 0) || version
          return {
            items: rows.map(({ entry }) => clipAll(entry, maxChars) as Entry),
            ...defined({ lost: lost.length === 0 ? undefined : lost }),
            next: last < version ? last + 1 : null
          }
        })
    })
  })
)
