// Words: what is written at a state and at a transition of the picture.
// Owns turning the names of the machine into few words. Leaves where they stand to layout.ts.

import type { ChartEdge, ChartNode } from "reverie"

export const titleOf = ({ id, path }: ChartNode): string => path.split(".").at(-1) || id

const JOB = /^xstate\.(?:done|error)\.actor\.(.+)$/

const eventText = ({ delayed, event, kind }: ChartEdge): string => {
  const job = JOB.exec(event)?.[1] ?? event
  switch (kind) {
    case "always":
      return "at once"
    case "after":
      return `after ${delayed ?? "a time"}`
    case "done":
      return `${job} done`
    case "error":
      return `${job} failed`
    case "event":
      return event
  }
}

const guardText = ({ guard }: ChartEdge): string => (guard === undefined ? "" : ` [${guard}]`)

export const edgeText = (edge: ChartEdge): string => `${eventText(edge)}${guardText(edge)}`

export const innerText = (edge: ChartEdge): string =>
  edge.actions.length === 0 ? edgeText(edge) : `${edgeText(edge)} / ${edge.actions.join(", ")}`
