// ChartModel: what of the statechart is lit.
// Owns the active path, and the transitions that led from one state to the next. Leaves positions to the server.
// G1  The active path is the state and everything around it.
// G2  One event leads from one state to the next; what was passed through at once behind it is lit too.

import type { Machine } from "@reverie/server/api"

export type ChartNode = Machine["nodes"][number]
export type ChartEdge = Machine["edges"][number]

/** By how states are told, e.g. `awake.thinking.inferring`. */
export const nodeAt = ({ nodes }: Machine, path: string): ChartNode | undefined =>
  nodes.find((node) => node.path === path)

/** Ids of the state and of everything around it. */
export const activeIds = (machine: Machine, path: string): ReadonlySet<string> => {
  const byId = new Map(machine.nodes.map((node) => [node.id, node]))
  const ids = new Set<string>()
  let node = nodeAt(machine, path)
  while (node !== undefined && !ids.has(node.id)) {
    ids.add(node.id)
    node = node.parent === null ? undefined : byId.get(node.parent)
  }
  return ids
}

/** The state, everything around it and everything in it. */
const around = (machine: Machine, { id, path }: ChartNode): ReadonlySet<string> => {
  const inside = machine.nodes.filter((node) => node.path.startsWith(`${path}.`)).map((node) => node.id)
  return new Set([...activeIds(machine, path), id, ...inside])
}

const MAX_HOPS = 5

/** Ids of the transitions on the shortest way between two states; none where there is no way or nothing was left. */
export const takenBetween = (machine: Machine, from: string, to: string): ReadonlySet<string> => {
  const target = nodeAt(machine, to)
  if (from === to || target === undefined) return new Set()
  const goals = activeIds(machine, to)
  // Where it begins inside a state that was entered is not told: any state inside may be the one.
  const entered = new Map(machine.nodes.map((node) => [node.id, around(machine, node)]))
  const root = machine.nodes.find(({ parent }) => parent === null)?.id
  let ways: ReadonlyArray<{ readonly at: ReadonlySet<string>; readonly edges: ReadonlyArray<string> }> = [
    { at: activeIds(machine, from), edges: [] }
  ]
  const seen = new Set<string>()
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const next: Array<(typeof ways)[number]> = []
    for (const { at, edges } of ways) {
      for (const edge of machine.edges) {
        if (!at.has(edge.from) || seen.has(edge.id) || edge.from === edge.to) continue
        if (hop > 0 && edge.event !== "") continue
        seen.add(edge.id)
        const way = [...edges, edge.id]
        // Into a state around the target is into the target: its beginning leads there.
        if (edge.to === target.id || (goals.has(edge.to) && edge.to !== root && !at.has(edge.to))) return new Set(way)
        next.push({ at: entered.get(edge.to) ?? new Set(), edges: way })
      }
    }
    ways = next
  }
  return new Set()
}

const CORNER = 7

/** The way of an edge, its corners rounded. */
export const roundedPath = (points: ReadonlyArray<{ readonly x: number; readonly y: number }>): string => {
  const [start, ...rest] = points
  if (start === undefined) return ""
  let path = `M ${start.x} ${start.y}`
  rest.forEach((point, index) => {
    const before = index === 0 ? start : rest[index - 1]
    const after = rest[index + 1]
    if (before === undefined || after === undefined) {
      path += ` L ${point.x} ${point.y}`
      return
    }
    const towards = (other: { readonly x: number; readonly y: number }) => {
      const length = Math.hypot(other.x - point.x, other.y - point.y)
      const share = length === 0 ? 0 : Math.min(CORNER, length / 2) / length
      return `${point.x + (other.x - point.x) * share} ${point.y + (other.y - point.y) * share}`
    }
    path += ` L ${towards(before)} Q ${point.x} ${point.y} ${towards(after)}`
  })
  return path
}
