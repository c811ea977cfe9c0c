// Edges: transitions of the statechart whose label on a drawing says nothing.
// Owns which labels these are. Leaves reading the chart to `chartOf` of packages/assistant, as the page does.
// E1  A guard or action without a name of its own shows what it is in its place: the word "guard", what the library calls
//     an action made on the spot, or the one action that stands for every change of the context.

import type { Count } from "./count.ts"

export interface Edge {
  readonly from: string
  readonly event: string
  readonly guard?: string
  readonly actions: ReadonlyArray<string>
}

/** What XState calls the actions that it makes itself. */
const OF_LIBRARY = ["assign", "cancel", "emit", "enqueueActions", "forwardTo", "log", "raise", "sendParent", "sendTo"]
const EMPTY = new Set(["", "guard", "guards", "actions", "remember", "spawnChild", "stopChild", ...OF_LIBRARY])

const emptyLabels = ({ actions, guard }: Edge): ReadonlyArray<string> =>
  [...new Set([...(guard === undefined ? [] : [guard]), ...actions])].filter((label) => EMPTY.has(label))

export const edgesWithoutLabel = (edges: ReadonlyArray<Edge>): Count => {
  const labels: Record<string, number> = {}
  const found = edges.flatMap((edge) => {
    const empty = emptyLabels(edge)
    for (const label of empty) labels[label] = (labels[label] ?? 0) + 1
    return empty.length === 0 ? [] : [`${edge.from} on ${edge.event || "always"}: ${empty.join(", ")}`]
  })
  return {
    name: "unlabelled edges",
    examined: edges.length,
    value: found.length,
    most: 0,
    found,
    figures: { edges: edges.length, labels }
  }
}
