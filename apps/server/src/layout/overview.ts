// Overview: the statechart with its regions closed, small enough to be read as a whole.
// Owns which regions stay open, and what becomes of what leads into a closed one. Leaves placing to layout.ts.
// O1  Open are the root and the region that it begins in. Every other region is one state, which says how many it holds.
// O2  What leads into or out of a closed region leads to its edge; what stays inside is not shown.
// O3  Of several ways between the same two each name stands once, without its condition.

import type { Chart, ChartEdge, ChartNode } from "reverie"

const isRegion = ({ kind }: ChartNode): boolean => kind === "compound" || kind === "parallel"

const openPaths = ({ nodes }: Chart): ReadonlySet<string> => {
  const root = nodes.find(({ parent }) => parent === null)
  const first = nodes.find((node) => node.parent === root?.id && isRegion(node))
  return new Set([root?.path ?? "", first?.path ?? ""])
}

const isWithin = ({ path }: ChartNode, region: ChartNode): boolean => path.startsWith(`${region.path}.`)

/** One for each name between the same two. */
const namedOnce = (edges: ReadonlyArray<ChartEdge>, nameOf: (edge: ChartEdge) => string): ReadonlyArray<ChartEdge> => {
  const ways = new Map<string, Map<string, ChartEdge>>()
  for (const edge of edges) {
    const way = `${edge.from} ${edge.to}`
    const names = ways.get(way) ?? new Map<string, ChartEdge>()
    ways.set(way, names)
    if (!names.has(nameOf(edge))) names.set(nameOf(edge), edge)
  }
  return [...ways.values()].flatMap((names) => [...names.values()])
}

export interface Overview {
  readonly chart: Chart
  /** How many states a closed region holds, by its id. */
  readonly held: ReadonlyMap<string, number>
}

/** `nameOf` is what stands at a way. */
export const overviewOf = (chart: Chart, nameOf: (edge: ChartEdge) => string): Overview => {
  const open = openPaths(chart)
  const byId = new Map(chart.nodes.map((node) => [node.id, node]))
  /** The state itself, or the closed region that it is in. */
  const shown = (id: string): ChartNode | undefined => {
    const node = byId.get(id)
    if (node === undefined || node.parent === null) return node
    const around = shown(node.parent)
    return around !== undefined && open.has(around.path) ? node : around
  }
  const nodes = chart.nodes.filter((node) => shown(node.id)?.id === node.id)
  const held = new Map(
    nodes
      .filter((node) => isRegion(node) && !open.has(node.path))
      .map((node) => [node.id, chart.nodes.filter((each) => isWithin(each, node)).length])
  )
  const lifted = chart.edges.flatMap((edge): ReadonlyArray<ChartEdge> => {
    const [from, to] = [shown(edge.from), shown(edge.to)]
    if (from === undefined || to === undefined || edge.isInternal || from.id === to.id) return []
    const { guard: _, ...rest } = edge
    return [{ ...rest, actions: [], from: from.id, to: to.id }]
  })
  return { chart: { ...chart, nodes, edges: namedOnce(lifted, nameOf) }, held }
}
