// Notify: notifications of the browser for calls that wait for a person.
// Owns whether they are wanted, and when one is shown. Leaves what is shown of a call to the page Approvals.
// N1  They are off until a person turns them on, and permission is asked for then and never before.
// N2  A call that waited already when the page was opened is not shown, and each later one is shown once.

import type { ApprovalAsked } from "@reverie/server/api"
import { useEffect, useRef, useSyncExternalStore } from "react"
import { ask } from "../api/client.ts"
import { useNotices } from "../live/live.ts"

const KEY = "reverie.notify"
const EVERY_MILLIS = 15_000
const watchers = new Set<() => void>()

const isWanted = (): boolean => localStorage.getItem(KEY) === "on"

/** `unsupported`: no notifications here; `denied`: the browser was told never to ask again. */
export type Notifying = "off" | "on" | "denied" | "unsupported"

const stateNow = (): Notifying => {
  if (!("Notification" in globalThis)) return "unsupported"
  if (Notification.permission === "denied") return "denied"
  return isWanted() && Notification.permission === "granted" ? "on" : "off"
}

const tellWatchers = (): void => {
  for (const watcher of watchers) watcher()
}

export const useNotifying = (): Notifying =>
  useSyncExternalStore((watcher) => {
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  }, stateNow)

/** For the hand of a person only: asks the browser where it must. */
export const setNotifying = async (isOn: boolean): Promise<void> => {
  if (isOn && stateNow() === "off" && Notification.permission !== "granted") await Notification.requestPermission()
  if (isOn) localStorage.setItem(KEY, "on")
  else localStorage.removeItem(KEY)
  tellWatchers()
}

const show = ({ approval, assistant, tool }: ApprovalAsked, toApprovals: () => void): void => {
  const shown = new Notification(`${assistant} waits for you`, { body: `It asks to use ${tool}.`, tag: approval })
  shown.addEventListener("click", () => {
    globalThis.focus()
    toApprovals()
    shown.close()
  })
}

/** While it is mounted and wanted: one notification for each call that comes to wait; a click on it leads to Approvals. */
export const useApprovalNotifications = (toApprovals: () => void): void => {
  const state = useNotifying()
  const known = useRef<ReadonlySet<string>>(undefined)
  const look = useRef(() => {})
  useEffect(() => {
    known.current = undefined
    if (state !== "on") return undefined
    const take = (items: ReadonlyArray<ApprovalAsked>): void => {
      const before = known.current
      known.current = new Set(items.map(({ approval }) => approval))
      if (before === undefined) return
      for (const each of items) if (!before.has(each.approval)) show(each, toApprovals)
    }
    // Silence is shown by the page itself; the next look tries again.
    look.current = () =>
      void ask("GET /v1/approvals", {}).then(
        ({ items }) => take(items),
        () => {}
      )
    look.current()
    const timer = setInterval(() => look.current(), EVERY_MILLIS)
    return () => {
      clearInterval(timer)
      look.current = () => {}
    }
  }, [state])
  useNotices((notices) => {
    if (notices.some(({ type }) => type === "approval-asked")) look.current()
  })
}
