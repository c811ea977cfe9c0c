// Live: what happens in the fleet, as it happens, for everything on the page.
// Owns the one stream of the page, whom it follows, and telling of it once a frame. Leaves the wire to stream.ts.
// L1  Everything that came since the last frame is reported at once: one commit of React a frame, however many notices.
// L2  Answers that notices made old are asked again at most once a second.
// L3  While the page is hidden, frames do not come; then a slow clock stands in.

import type { Notice, NoticeType } from "@reverie/protocol"
import { useEffect, useRef, useSyncExternalStore } from "react"
import { bearer } from "../api/client.ts"
import type { Reading } from "../api/contract.ts"
import { isAskedAgain, questions } from "../api/questions.ts"
import { onToken, wantToken } from "../api/token.ts"
import type { SseEvent } from "./stream.ts"
import { type Connection, openStream, type Stream } from "./stream.ts"

// Concern: which answers a notice makes old.
// Owns the table from a notice's type to routes. Leaves asking again to live.ts.
// N1  Every type of notice stands here; a new one is a type error until someone has said what it makes old.

/** Of the assistant that the notice is about, and of lists of all. */
const inspect: ReadonlyArray<Reading> = ["GET /v1/assistants/:id"]
const mail: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/mailbox", "GET /v1/queues"]
const ticks: ReadonlyArray<Reading> = [
  "GET /v1/assistants/:id/ticks",
  "GET /v1/assistants/:id/ticks/:tick",
  "GET /v1/assistants/:id/messages"
]
const contexts: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/context", "GET /v1/assistants/:id/contexts"]
const usage: ReadonlyArray<Reading> = ["GET /v1/usage"]
const memory: ReadonlyArray<Reading> = [
  "GET /v1/assistants/:id/memory",
  "GET /v1/assistants/:id/memory/facts",
  "GET /v1/assistants/:id/memory/journal",
  "GET /v1/assistants/:id/memory/profiles"
]
const night: ReadonlyArray<Reading> = [
  "GET /v1/assistants/:id/dreams",
  "GET /v1/assistants/:id/dreams/:dream",
  "GET /v1/assistants/:id/compactions"
]
const reminders: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/reminders"]
const subAgentTree: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/subagents"]

const table: Readonly<Record<NoticeType, ReadonlyArray<Reading>>> = {
  created: [...inspect, ...subAgentTree],
  "state-changed": [...inspect, ...subAgentTree, ...reminders],
  "tick-started": [...inspect, ...mail, ...ticks],
  "model-replied": [...inspect, ...ticks, ...contexts, ...usage],
  "model-failed": [...inspect, ...ticks],
  "tool-finished": [...inspect, ...ticks, ...memory],
  "tool-refused": [...inspect, ...ticks],
  "step-skipped": [...ticks, ...night],
  "step-finished": [...ticks, ...memory, ...night, ...subAgentTree, ...usage],
  "approval-asked": [...inspect, "GET /v1/approvals"],
  "approval-decided": [...inspect, "GET /v1/approvals"],
  "sub-agent-started": [...ticks, ...subAgentTree, ...usage],
  "sub-agent-ended": [...inspect, ...subAgentTree],
  "tick-ended": [...inspect, ...mail, ...ticks, ...contexts, ...memory, ...subAgentTree, "GET /v1/approvals"],
  "envelope-settled": [...mail, ...memory, ...night, ...inspect, "GET /v1/dead-letters", "GET /v1/approvals"],
  emitted: [],
  part: []
}

/** Every notice but a piece of a reply makes the overview old. */
const pulse: ReadonlyArray<Reading> = ["GET /v1/pulse"]

const concerns = ({ type }: Notice): ReadonlyArray<Reading> =>
  type === "part" ? [] : [...(table[type] ?? []), ...pulse]

export type { Connection } from "./stream.ts"

type Listener = (notices: ReadonlyArray<Notice>) => void

const HIDDEN_FRAME_MILLIS = 250
const ASK_AGAIN_MILLIS = 1_000
const CONNECT_MILLIS = 30

let connection: Connection = { state: "off" }
let stream: Stream | undefined
let followed: string | undefined
let buffer: Array<Notice> = []
let scheduled = false
let askTimer: ReturnType<typeof setTimeout> | undefined
let connectTimer: ReturnType<typeof setTimeout> | undefined
let oldRoutes = new Map<Reading, Set<string>>()
const watchers = new Set<() => void>()
const listeners = new Set<Listener>()

const setConnection = (next: Connection): void => {
  const wasLive = connection.state === "live"
  connection = next
  // What was read before the stream stood may have changed in between.
  if (next.state === "live" && !wasLive)
    void questions.invalidateQueries({ predicate: isAskedAgain }, { cancelRefetch: false })
  for (const watcher of watchers) watcher()
}

/** Notices make answers old. One that is being read may be older than they are: it is read once more afterwards. */
const makeOld = (route: Reading, whose: Iterable<string>): void => {
  const known = oldRoutes.get(route) ?? new Set()
  for (const whom of whose) known.add(whom)
  oldRoutes.set(route, known)
  askTimer ??= setTimeout(askAgain, ASK_AGAIN_MILLIS)
}

const askAgain = (): void => {
  askTimer = undefined
  const old = oldRoutes
  oldRoutes = new Map()
  void questions.invalidateQueries({
    predicate: (query) => {
      const [route, whom] = query.queryKey
      const whose = isAskedAgain(query) ? old.get(route as Reading) : undefined
      if (whose === undefined || (whom !== null && !whose.has(whom as string))) return false
      if (query.state.fetchStatus !== "fetching") return true
      makeOld(route as Reading, whose)
      return false
    }
  })
}

const flush = (): void => {
  scheduled = false
  const notices = buffer
  buffer = []
  for (const notice of notices) {
    for (const route of concerns(notice)) makeOld(route, [notice.address.assistant])
  }
  for (const listener of listeners) listener(notices)
}

const schedule = (): void => {
  if (scheduled) return
  scheduled = true
  if (document.visibilityState === "hidden") setTimeout(flush, HIDDEN_FRAME_MILLIS)
  else requestAnimationFrame(flush)
}

const noticeOf = ({ data }: SseEvent): Notice | undefined => {
  try {
    const notice = JSON.parse(data) as Notice
    return typeof notice.type === "string" && typeof notice.address?.assistant === "string" ? notice : undefined
  } catch {
    return undefined
  }
}

const onEvents = (events: ReadonlyArray<SseEvent>): void => {
  for (const event of events) {
    const notice = noticeOf(event)
    if (notice !== undefined) buffer.push(notice)
  }
  if (buffer.length > 0) schedule()
}

/** From one page to another it is let go and taken up again: that is one connection. */
const connectSoon = (): void => {
  clearTimeout(connectTimer)
  connectTimer = setTimeout(() => stream?.connect(), CONNECT_MILLIS)
}

/** Connects; called once. */
export const startLive = (): void => {
  stream = openStream({
    address: () => (followed === undefined ? "/v1/events" : `/v1/events?assistant=${encodeURIComponent(followed)}`),
    headers: bearer,
    onEvents,
    onConnection: setConnection,
    onRefused: (status) => {
      if (status === 401) wantToken()
    }
  })
  connectSoon()
  onToken(() => {
    void questions.invalidateQueries()
    stream?.connect()
  })
}

export const reconnect = (): void => stream?.connect()

/** From now on only the notices of one assistant are sent here; of all, with undefined. */
const follow = (assistant: string | undefined): void => {
  if (assistant === followed) return
  followed = assistant
  connectSoon()
}

/** While it is mounted, the stream tells of this assistant only. */
export const useFollowing = (assistant: string): void => {
  useEffect(() => {
    follow(assistant)
    return () => follow(undefined)
  }, [assistant])
}

export const useConnection = (): Connection =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => connection
  )

/** Calls back once a frame with what came since the last one. */
export const useNotices = (listener: Listener): void => {
  const latest = useRef(listener)
  useEffect(() => {
    latest.current = listener
  })
  useEffect(() => {
    const mine: Listener = (notices) => latest.current(notices)
    listeners.add(mine)
    return () => void listeners.delete(mine)
  }, [])
}
