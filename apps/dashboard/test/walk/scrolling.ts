// Scrolling: how evenly the table of the fleet is scrolled.
// Owns the paces and the times between frames. Leaves the fleet to the rigs, and the bound to the benchmark.

import type { Tab } from "../browser.ts"

/** As fast as a wheel turns, and as fast as a scrollbar is dragged through the whole: pixels a frame. */
const PACES = { wheel: 120, drag: 1_400 } as const

const FRAMES = 240
/** The first ones begin the scrolling. */
const BEGINNING = 5

/** Times between frames while the table is scrolled from its top on, in milliseconds. */
const gapsWhileScrolling = (tab: Tab, pixels: number): Promise<ReadonlyArray<number>> =>
  tab.page.evaluate(
    async ({ beginning, frames, step }) => {
      const table = document.querySelector<HTMLElement>("[data-table]")
      if (table === null) throw new Error("there is no table")
      table.scrollTop = 0
      const gaps: Array<number> = []
      let last = performance.now()
      for (let frame = 0; frame < frames; frame++) {
        const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve))
        if (frame > beginning) gaps.push(now - last)
        last = now
        table.scrollTop += step
      }
      return gaps
    },
    { frames: FRAMES, beginning: BEGINNING, step: pixels }
  )

interface Pace {
  readonly frames: number
  readonly p50Millis: number
  readonly p99Millis: number
  /** What the page's own thread worked for a frame, of that for styles and for layout: no wait for the screen is in it. */
  readonly workMillis: number
  readonly stylesMillis: number
  readonly layoutMillis: number
}

const ofThread = {
  workMillis: "TaskDuration",
  stylesMillis: "RecalcStyleDuration",
  layoutMillis: "LayoutDuration"
} as const

/** Scrolls the table at each pace. */
export const scrolled = async (tab: Tab): Promise<Readonly<Record<keyof typeof PACES, Pace>>> => {
  const devtools = await tab.page.context().newCDPSession(tab.page)
  await devtools.send("Performance.enable")
  const meters = async (): Promise<ReadonlyMap<string, number>> => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    return new Map(metrics.map(({ name, value }) => [name, value]))
  }
  const paceOf = async (pixels: number): Promise<Pace> => {
    const before = await meters()
    const gaps = (await gapsWhileScrolling(tab, pixels)).toSorted((one, other) => one - other)
    const after = await meters()
    const [p50Millis = 0, p99Millis = 0] = [0.5, 0.99].map((share) => gaps[Math.floor(gaps.length * share)])
    const perFrame = (name: string): number =>
      Math.round((((after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN)) / FRAMES) * 100_000) / 100
    return {
      frames: gaps.length,
      p50Millis,
      p99Millis,
      workMillis: perFrame(ofThread.workMillis),
      stylesMillis: perFrame(ofThread.stylesMillis),
      layoutMillis: perFrame(ofThread.layoutMillis)
    }
  }
  const wheel = await paceOf(PACES.wheel)
  return { wheel, drag: await paceOf(PACES.drag) }
}
