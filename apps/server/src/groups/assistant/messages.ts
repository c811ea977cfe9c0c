// Messages: the group about what is said to an assistant.
// Owns the pages of its history by HTTP. Leaves acceptance to ../acceptance.ts, chat streams to ../ag-ui/.
// M1  A page of a history reads a bounded part of a life, however long it is.
// M2  The bytes of a part are shown as what they are or kept as a file, and run nowhere.

import { defined, imageHeader, mediaTypePattern, partName } from "@reverie/protocol"
import type { Reminder } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { acceptEvent, acceptMessage, type Beside } from "../../views/acceptance.ts"
import { answersOf, runOf, uiChatOf } from "../../ag-ui/index.ts"
import { Api, type MessageView, NotFound, type ReminderView } from "../../api/index.ts"
import { asking, changing, type ReadFleet } from "../../gateway.ts"
import { Live } from "../../live.ts"
import { entryPage, type LostSpan } from "../../views/entry-page.ts"
import { living } from "../../views/facts.ts"
import { messageViewOf } from "../../views/message-view.ts"

const besideOf = (headers: { readonly "idempotency-key"?: string; readonly traceparent?: string }): Beside => ({
  key: headers["idempotency-key"],
  traceparent: headers.traceparent
})

const keyOf = (headers: { readonly "idempotency-key"?: string }) => defined({ id: headers["idempotency-key"] })

const reminderViewOf = ({ next, ...reminder }: Reminder): ReminderView => {
  const { after: _after, ranAt: _ranAt, revision: _revision, start: _start, waiting: _waiting, ...shown } = reminder
  return { ...shown, nextAt: next?.wakeAt ?? null }
}

const READ_AT_ONCE = 100
/** Entries that one page may read. */
const MAX_READ = 4_000
const MAX_MESSAGE_CHARS = 100_000

/** Messages of whole entries before a number, and which of these can not be read; `next` is where the page before it ends. */
const historyBefore = async (fleet: ReadFleet, id: string, before: number, limit: number) => {
  const pages: Array<ReadonlyArray<MessageView>> = []
  const lost: Array<LostSpan> = []
  let count = 0
  const pageTo = (next: number | null) => {
    const ofPage = lost.toReversed().filter(({ to }) => to >= (next ?? 0))
    return {
      items: pages.toReversed().flat(),
      ...defined({ lost: ofPage.length === 0 ? undefined : ofPage }),
      next
    }
  }
  const least = Math.max(1, before - MAX_READ)
  for (let end = before; end > least; end -= READ_AT_ONCE) {
    const from = Math.max(least, end - READ_AT_ONCE)
    const page = await entryPage(fleet, id, from, end - 1)
    lost.push(...page.lost.toReversed())
    for (const { entry } of page.rows.toReversed()) {
      const views = entry.messages.map((message, index) =>
        messageViewOf({ message, place: { no: entry.no, index } }, MAX_MESSAGE_CHARS)
      )
      pages.push(views)
      count += views.length
      if (count >= limit) return pageTo(entry.no > 1 ? entry.no : null)
    }
  }
  return pageTo(least > 1 ? least : null)
}

/** Types that a browser shows and never runs; whatever else comes is kept as a file. */
const shownTypes = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/[a-z0-9.+-]+)$/

/** Nothing of it is run or loaded, whatever the bytes are: the policy of every answer, and a sandbox besides. */
const BLOB_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

/** What an image is its bytes tell; of others it is what was asked for, if that is a media type. */
const shownAs = (bytes: Uint8Array, { name = "", type = "" }: { readonly name?: string; readonly type?: string }) => {
  const asked = mediaTypePattern.test(type) ? type : "application/octet-stream"
  const contentType = imageHeader(bytes)?.mediaType ?? (asked.startsWith("image/") ? "application/octet-stream" : asked)
  const named = partName(name)
  const file = named === "" ? "" : `; filename*=UTF-8''${encodeURIComponent(named).replaceAll(/['()*]/g, "_")}`
  const disposition = `${shownTypes.test(contentType) ? "inline" : "attachment"}${file}`
  return { contentType, headers: { "content-disposition": disposition, "content-security-policy": BLOB_POLICY } }
}

export const messagesLive = HttpApiBuilder.group(
  Api,
  "messages",
  Effect.fnUntraced(function* (handlers) {
    const { boards } = yield* Live
    return handlers.handleAll({
      send: ({ headers, params: { id }, payload }) =>
        changing("messages.send", id, async (fleet) => {
          const receipt = await acceptMessage(fleet, id, payload, besideOf(headers))
          boards.touch(fleet.tenant, id)
          return receipt
        }),
      post: ({ headers, params: { id }, payload }) =>
        changing("messages.post", id, async (fleet) => {
          const receipt = await acceptEvent(fleet, id, payload, besideOf(headers))
          boards.touch(fleet.tenant, id)
          return receipt
        }),
      history: ({ params: { id }, query: { before, limit } }) =>
        asking(async (fleet) => {
          const end = (await living(fleet, id)).version + 1
          return historyBefore(fleet, id, Math.min(before ?? end, end), limit)
        }),
      blob: ({ params: { digest }, query }) =>
        asking(async (fleet) => {
          const bytes = await fleet.blob(digest)
          if (bytes === undefined) throw new NotFound({ message: "there are no bytes under this digest" })
          const { contentType, headers } = shownAs(bytes, query)
          return HttpServerResponse.uint8Array(bytes, { contentType, headers })
        }),
      reminders: ({ params: { id } }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          return { items: (await fleet.reminders.list(id)).map(reminderViewOf) }
        }),
      setReminder: ({ headers, params: { id, reminder }, payload: { inMs, ...rule } }) =>
        changing("messages.set-reminder", `${id}/${reminder}`, (fleet) =>
          fleet.reminders.set(id, reminder, { ...rule, ...defined({ inMs }) }, keyOf(headers))
        ),
      cancelReminder: ({ headers, params: { id, reminder } }) =>
        changing("messages.cancel-reminder", `${id}/${reminder}`, (fleet) =>
          fleet.reminders.cancel(id, reminder, keyOf(headers))
        ),
      answers: ({ params: { envelope, id }, query }) => answersOf(id, envelope, query),
      run: ({ params: { id }, payload }) => runOf(id, payload),
      chat: ({ params: { id }, payload }) => uiChatOf(id, payload)
    })
  })
)
