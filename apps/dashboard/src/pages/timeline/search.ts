// Search of Timeline: what of the view stands in the URL.

import { flag, oneOf, type Raw, text, whole } from "../../shell/search.ts"

export const levels = ["story", "trace"] as const
export type Level = (typeof levels)[number]
export const kinds = ["tick", "dream", "compaction", "order"] as const
/** `open`: it has not come to its end. */
export const outcomes = [
  "answered",
  "terminal",
  "max-iterations",
  "cut",
  "misshapen",
  "refused",
  "stopped",
  "failed",
  "slept",
  "noted",
  "open"
] as const

/** How each is shown; one that this page does not know, by its own name. */
export const outcomeNames: Readonly<Record<string, string>> & { readonly open: string } = {
  answered: "answered",
  terminal: "ended by tool",
  "max-iterations": "out of steps",
  cut: "cut",
  misshapen: "wrong form",
  refused: "refused",
  stopped: "stopped by a person",
  failed: "failed",
  slept: "slept",
  noted: "no reply",
  open: "under way"
}

export const outcomeText = (outcome: string): string => outcomeNames[outcome] ?? outcome

export interface TimelineSearch {
  /** How it is shown; as a story when not said. */
  readonly level?: Level | undefined
  readonly kind?: (typeof kinds)[number] | undefined
  readonly outcome?: (typeof outcomes)[number] | undefined
  readonly q?: string | undefined
  /** It begins with this tick, opened, and goes back from there. */
  readonly tick?: number | undefined
  /** Every row is open, but for those in `open`. */
  readonly all?: true | undefined
  /** First commits of rows that are open: `c120.c95`. */
  readonly open?: string | undefined
}

export const timelineSearch = (raw: Raw): TimelineSearch => ({
  level: oneOf(raw["level"], levels),
  kind: oneOf(raw["kind"], kinds),
  outcome: oneOf(raw["outcome"], outcomes),
  q: text(raw["q"]),
  tick: whole(raw["tick"]),
  all: flag(raw["all"]),
  open: text(raw["open"], 1_000)
})

export const openedIn = ({ open = "" }: TimelineSearch): ReadonlySet<number> =>
  new Set([...open.matchAll(/c(\d+)/g)].map(([, from]) => Number(from)))

/** The same with one row opened or closed; the oldest choices go when there are too many for a URL. */
export const toggled = (search: TimelineSearch, from: number): string | undefined => {
  const set = new Set(openedIn(search))
  if (!set.delete(from)) set.add(from)
  return set.size === 0
    ? undefined
    : [...set]
        .slice(-60)
        .map((each) => `c${each}`)
        .join(".")
}
