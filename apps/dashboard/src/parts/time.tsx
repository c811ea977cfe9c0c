// Time: moments and durations, and the clock that keeps them right.
// One clock a period ticks for everything on the page, so that a table of times is one commit.

import { useSyncExternalStore } from "react"

interface Clock {
  now: number
  readonly watchers: Set<() => void>
  timer: ReturnType<typeof setInterval> | undefined
}

const clocks = new Map<number, Clock>()

const clockOf = (everyMillis: number): Clock => {
  const known = clocks.get(everyMillis)
  if (known !== undefined) return known
  const made: Clock = { now: Date.now(), watchers: new Set(), timer: undefined }
  clocks.set(everyMillis, made)
  return made
}

const watch =
  (everyMillis: number) =>
  (watcher: () => void): (() => void) => {
    const clock = clockOf(everyMillis)
    clock.watchers.add(watcher)
    clock.timer ??= setInterval(() => {
      clock.now = Date.now()
      for (const each of clock.watchers) each()
    }, everyMillis)
    return () => {
      clock.watchers.delete(watcher)
      if (clock.watchers.size > 0) return
      clearInterval(clock.timer)
      clock.timer = undefined
    }
  }

const watches = new Map<number, ReturnType<typeof watch>>()

/** The present, as often as asked for. */
export const useNow = (everyMillis = 5_000): number => {
  const subscribe = watches.get(everyMillis) ?? watch(everyMillis)
  watches.set(everyMillis, subscribe)
  return useSyncExternalStore(subscribe, () => {
    const clock = clockOf(everyMillis)
    // Without anybody watching it stands still; anyone who comes sees the present.
    if (clock.timer === undefined && Date.now() - clock.now > everyMillis) clock.now = Date.now()
    return clock.now
  })
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `340 ms`, `2.4 s`, `42 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export const duration = (millis: number): string => {
  const positive = Math.max(0, millis)
  if (positive < SECOND) return `${Math.round(positive)} ms`
  if (positive < 10 * SECOND) return `${(Math.floor(positive / 100) / 10).toFixed(1)} s`
  if (positive < MINUTE) return `${Math.floor(positive / SECOND)} s`
  if (positive < HOUR) return `${Math.floor(positive / MINUTE)} min`
  const [big, small, bigWord, smallWord] = positive < DAY ? [HOUR, MINUTE, "h", "min"] : [DAY, HOUR, "d", "h"]
  const rest = Math.floor((positive % big) / small)
  return `${Math.floor(positive / big)} ${bigWord}${rest === 0 ? "" : ` ${rest} ${smallWord}`}`
}

/** The same without fractions: for what changes while one looks. */
const coarse = (millis: number): string =>
  millis < 10 * SECOND ? `${Math.max(0, Math.floor(millis / SECOND))} s` : duration(millis)

const absoluteForm = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })
export const absolute = (at: number): string => absoluteForm.format(at)
const clockForm = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
export const timeOfDay = (at: number): string => clockForm.format(at)

/** `3 min ago`, `in 2 h`; the moment itself is its title. */
export const Ago = ({ at }: { readonly at: number }) => {
  const passed = useNow() - at
  const said =
    Math.abs(passed) < 5 * SECOND ? "just now" : passed > 0 ? `${coarse(passed)} ago` : `in ${coarse(-passed)}`
  return (
    <time dateTime={new Date(at).toISOString()} title={absolute(at)} className="tabular whitespace-nowrap">
      {said}
    </time>
  )
}

/** How long it has been so. */
export const Since = ({ at }: { readonly at: number }) => {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={`since ${absolute(at)}`} className="tabular whitespace-nowrap">
      {coarse(now - at)}
    </time>
  )
}

/** How long is left, by the second. */
export const Until = ({ at }: { readonly at: number }) => {
  const left = at - useNow(1_000)
  return (
    <time dateTime={new Date(at).toISOString()} title={absolute(at)} className="tabular whitespace-nowrap">
      {left <= 0 ? "over" : coarse(left)}
    </time>
  )
}
