// Layout: the statechart with a place on a picture for each of its states, transitions and labels.
// Owns sizes, and the way to a layout and back. Leaves the chart to the statechart, placing to ELK on a thread of its own.
// L1  Every node stands inside the one around it, and no two beside each other overlap.
// L2  Every transition has a way and a box for its label, and no two of these boxes overlap.
// L3  The same chart has the same layout, wherever it is made.
// L4  Nothing of ELK is loaded before a layout is asked for, and it never holds up what else a process does.

import { defined } from "@reverie/protocol"
import { Worker } from "node:worker_threads"
import type { ElkEdgeSection, ElkExtendedEdge, ElkNode } from "elkjs"
import type { Chart, ChartEdge, ChartNode } from "reverie"
import type { Machine } from "../api/index.ts"
import { overviewOf } from "./overview.ts"

// Words: what is written at a state and at a transition of the picture.

const titleOf = ({ id, path }: ChartNode): string => path.split(".").at(-1) || id

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

const edgeText = (edge: ChartEdge): string => `${eventText(edge)}${guardText(edge)}`

const innerText = (edge: ChartEdge): string =>
  edge.actions.length === 0 ? edgeText(edge) : `${edgeText(edge)} / ${edge.actions.join(", ")}`

type Node = Machine["nodes"][number]
type Edge = Machine["edges"][number]
type Point = Edge["points"][number]

/** In the units of the picture, which are pixels at its natural size. */
const TITLE_HEIGHT = 24
const LINE_HEIGHT = 14
const PADDING = 12
const CHAR_WIDTH = 6.6
const TITLE_CHAR_WIDTH = 8
const MIN_NODE_WIDTH = 90

const widthOf = (lines: ReadonlyArray<string>, charWidth: number): number =>
  Math.ceil(Math.max(0, ...lines.map((line) => line.length)) * charWidth)

/** What is drawn: a chart, and how many states its closed regions hold, by their ids. */
interface Drawn extends Pick<Chart, "hash" | "nodes" | "edges"> {
  readonly held: ReadonlyMap<string, number>
}

const linesIn = (node: ChartNode, drawn: Drawn): ReadonlyArray<string> => [...node.invokes, ...innerLines(node, drawn)]

/** What happens in a state without leaving it, as it is written inside; of a closed region how many states it holds. */
const innerLines = ({ id }: ChartNode, { edges, held }: Drawn): ReadonlyArray<string> => {
  const count = held.get(id)
  if (count !== undefined) return [count === 1 ? "1 state" : `${count} states`]
  return [...new Set(edges.filter(({ from, isInternal }) => isInternal && from === id).map(innerText))]
}

const headHeight = (lines: ReadonlyArray<string>): number => TITLE_HEIGHT + lines.length * LINE_HEIGHT + PADDING

const elkNodeOf = (chart: Drawn, node: ChartNode): ElkNode => {
  const lines = linesIn(node, chart)
  const width = Math.max(
    MIN_NODE_WIDTH,
    2 * PADDING + Math.max(widthOf([titleOf(node)], TITLE_CHAR_WIDTH), widthOf(lines, CHAR_WIDTH))
  )
  const children = childrenOf(chart, node.id)
  if (children.length === 0) return { id: node.id, width, height: headHeight(lines) }
  const layoutOptions = {
    "elk.padding": `[top=${headHeight(lines) + PADDING},left=${PADDING},bottom=${PADDING},right=${PADDING}]`,
    "elk.nodeSize.constraints": "MINIMUM_SIZE",
    "elk.nodeSize.minimum": `(${width},${headHeight(lines)})`
  }
  return { id: node.id, children, layoutOptions }
}

const childrenOf = (chart: Drawn, parent: string | null): Array<ElkNode> =>
  chart.nodes.filter((node) => node.parent === parent).map((node) => elkNodeOf(chart, node))

/** Transitions between the same two states go one way, with one label a line. */
const bundlesOf = ({ edges }: Drawn): ReadonlyArray<ReadonlyArray<ChartEdge>> => {
  const bundles = new Map<string, Array<ChartEdge>>()
  for (const edge of edges) {
    if (edge.isInternal) continue
    const key = `${edge.from} ${edge.to}`
    bundles.set(key, [...(bundles.get(key) ?? []), edge])
  }
  return [...bundles.values()]
}

const elkEdgeOf = (bundle: ReadonlyArray<ChartEdge>, index: number): ElkExtendedEdge => ({
  id: `bundle-${index}`,
  sources: bundle.slice(0, 1).map(({ from }) => from),
  targets: bundle.slice(0, 1).map(({ to }) => to),
  labels: [
    {
      id: `label-${index}`,
      text: String(index),
      width: widthOf(bundle.map(edgeText), CHAR_WIDTH) + PADDING,
      height: bundle.length * LINE_HEIGHT
    }
  ]
})

const graphOf = (chart: Drawn): ElkNode => ({
  id: "picture",
  layoutOptions: {
    "elk.algorithm": "layered",
    "elk.direction": "DOWN",
    "elk.hierarchyHandling": "INCLUDE_CHILDREN",
    "org.eclipse.elk.json.edgeCoords": "ROOT",
    "org.eclipse.elk.json.shapeCoords": "ROOT",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.randomSeed": "1",
    "elk.spacing.edgeLabel": "4",
    "elk.spacing.labelLabel": "4",
    "elk.layered.spacing.nodeNodeBetweenLayers": "32"
  },
  children: childrenOf(chart, null),
  edges: bundlesOf(chart).map(elkEdgeOf)
})

const allOf = (node: ElkNode): ReadonlyArray<ElkNode> => (node.children ?? []).flatMap((each) => [each, ...allOf(each)])

const pointsOf = ({ bendPoints = [], endPoint, startPoint }: ElkEdgeSection): ReadonlyArray<Point> =>
  [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x, y }))

const placedEdges = (bundle: ReadonlyArray<ChartEdge>, placed: ElkExtendedEdge): ReadonlyArray<Edge> => {
  const points = (placed.sections ?? []).flatMap(pointsOf)
  const { width = 0, x = 0, y = 0 } = placed.labels?.[0] ?? {}
  return bundle.map((edge, line) => ({
    id: edge.id,
    from: edge.from,
    to: edge.to,
    event: edge.event,
    ...defined({ guard: edge.guard }),
    actions: edge.actions,
    points,
    label: { text: edgeText(edge), x, y: y + line * LINE_HEIGHT, width, height: LINE_HEIGHT }
  }))
}

const pictureOf = (chart: Drawn, placed: ElkNode): Machine => {
  const shapes = new Map(allOf(placed).map((shape) => [shape.id, shape]))
  const ways = placed.edges ?? []
  const nodes = chart.nodes.map((node): Node => {
    const { height = 0, width = 0, x = 0, y = 0 } = shapes.get(node.id) ?? {}
    const { id, invokes, parent, path } = node
    const kind = chart.held.has(id) ? "closed" : node.kind
    return { id, path, parent, kind, x, y, width, height, invokes, inside: innerLines(node, chart) }
  })
  return {
    hash: chart.hash,
    width: placed.width ?? 0,
    height: placed.height ?? 0,
    nodes,
    edges: bundlesOf(chart).flatMap((bundle, index) => {
      const way = ways[index]
      return way === undefined ? [] : placedEdges(bundle, way)
    })
  }
}

const laidOut = (graph: ElkNode): Promise<ElkNode> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(new URL("elk-thread.ts", import.meta.url), { workerData: graph })
    thread.once("message", resolve)
    thread.once("error", reject)
    thread.once("exit", () => reject(new Error("the layout of the statechart was not finished")))
  })

/** What is shown of the chart: all of it, or its regions closed. */
export type View = "whole" | "overview"

const drawnOf = (chart: Chart, view: View): Drawn => {
  if (view === "whole") return { ...chart, held: new Map() }
  const { chart: closed, held } = overviewOf(chart, eventText)
  return { ...closed, held }
}

/** The chart with its layout. */
export const layoutOf = async (chart: Chart, view: View = "whole"): Promise<Machine> => {
  const drawn = drawnOf(chart, view)
  return pictureOf(drawn, await laidOut(graphOf(drawn)))
}

const known = new Map<string, Promise<Machine>>()

/** The same, made once for each chart. What could not be made is tried again. */
export const pictureFor = (chart: Chart, view: View = "whole"): Promise<Machine> => {
  const key = `${view} ${chart.hash}`
  const present = known.get(key)
  if (present !== undefined) return present
  const made = layoutOf(chart, view)
  known.set(key, made)
  made.catch(() => known.delete(key))
  return made
}
