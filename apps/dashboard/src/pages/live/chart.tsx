// Chart: the statechart as the server has laid it out, the state lit, the last transition running.
// H1  Nothing is laid out here: positions, ways and labels are the server's.

import type { Machine } from "@reverie/server/api"
import {
  type Edge,
  type EdgeProps,
  Handle,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore
} from "@xyflow/react"
import { memo, useEffect, useMemo, useRef } from "react"
import { toneOf, wordsOf } from "../../parts/chip.tsx"

// ChartModel: what of the statechart is lit.
// G1  The active path is the state and everything around it. A state inside a closed region is that region.
// G2  One event leads from one state to the next; what was passed through at once behind it is lit too.

type ChartNode = Machine["nodes"][number]
type ChartEdge = Machine["edges"][number]

/** By how states are reported, e.g. `awake.thinking.inferring`. */
export const nodeAt = ({ nodes }: Machine, path: string): ChartNode | undefined =>
  nodes.find((node) => node.path === path) ??
  nodes.find((node) => node.kind === "closed" && path.startsWith(`${node.path}.`))

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
  if (target === undefined || nodeAt(machine, from) === target) return new Set()
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

// ChartParts: a state and a transition as they are drawn.

type StateNode = Node<{ readonly node: ChartNode; readonly active: boolean; readonly current: boolean }, "state">
type TransitionEdge = Edge<
  { readonly edge: ChartEdge; readonly lit: "taken" | "open" | "quiet"; readonly run: number },
  "transition"
>

const State = ({ data: { active, current, node } }: NodeProps<StateNode>) => {
  const isGroup = node.kind === "compound" || node.kind === "parallel"
  return (
    <div
      className="chart-state"
      data-kind={isGroup ? "group" : node.kind}
      data-chart-state={node.path}
      data-active={active}
      {...(current ? { "data-current": "" } : {})}
      data-tone={toneOf(node.path)}
    >
      <div className="chart-title">{node.path === "" ? node.id : (node.path.split(".").at(-1) ?? node.path)}</div>
      {[...node.invokes, ...node.inside].map((line) => (
        <div key={line} className="chart-line">
          {line}
        </div>
      ))}
      <Handle type="target" position={Position.Top} className="chart-handle" isConnectable={false} />
      <Handle type="source" position={Position.Bottom} className="chart-handle" isConnectable={false} />
    </div>
  )
}

const Transition = ({ data }: EdgeProps<TransitionEdge>) => {
  if (data === undefined) return null
  const { edge, lit, run } = data
  const { label } = edge
  const path = roundedPath(edge.points)
  return (
    <g data-chart-edge={edge.id} data-lit={lit} className="chart-edge">
      <path d={path} markerEnd={`url(#arrow-${lit})`} />
      {lit === "taken" ? <path key={run} d={path} className="chart-flow" /> : null}
      {label === undefined ? null : (
        <text x={label.x} y={label.y + label.height - 3.5}>
          {label.text}
        </text>
      )}
    </g>
  )
}

const nodeTypes = { state: memo(State) }
const edgeTypes = { transition: memo(Transition) }

/** From where to where, and the how manieth it was. */
export interface Step {
  readonly from: string
  readonly to: string
  readonly run: number
}

/** The state and what is near it; the whole chart with its regions closed; every state. */
export type ChartView = "near" | "whole" | "all"

interface ChartProps {
  readonly machine: Machine
  readonly state: string
  readonly last: Step | undefined
  readonly view: ChartView
  readonly onView: (view: ChartView) => void
}

/** What else there is to see, as its button says it. */
const others: Readonly<Record<ChartView, ReadonlyArray<readonly [view: ChartView, title: string]>>> = {
  near: [["whole", "Whole chart"]],
  whole: [
    ["near", "Follow the state"],
    ["all", "Every state"]
  ],
  all: [
    ["near", "Follow the state"],
    ["whole", "Close the regions"]
  ]
}

const FOLLOW_ZOOM = 0.92
/** At this a name of 13 px has 9. */
const READ_ZOOM = 0.72
/** What the chart is shown in is so much narrower than the chart that its names could not be read. */
const SMALL = 0.5
const MOVE_MILLIS = 450
const GROUP = 0
const WAY = 10
const STATE = 20

const isStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches

const useNodes = (machine: Machine, active: ReadonlySet<string>, current?: string): ReadonlyArray<StateNode> =>
  useMemo(
    () =>
      machine.nodes.map((node) => ({
        id: node.id,
        type: "state" as const,
        position: { x: node.x, y: node.y },
        width: node.width,
        height: node.height,
        zIndex: node.kind === "compound" || node.kind === "parallel" ? GROUP + node.path.split(".").length : STATE,
        data: { node, active: active.has(node.id), current: node.id === current }
      })),
    [machine, active, current]
  )

const useEdges = (
  machine: Machine,
  active: ReadonlySet<string>,
  last: Step | undefined
): ReadonlyArray<TransitionEdge> =>
  useMemo(() => {
    // What every state can do anyway need not stand out.
    const root = machine.nodes.find(({ parent }) => parent === null)?.id
    const taken = last === undefined ? new Set<string>() : takenBetween(machine, last.from, last.to)
    return machine.edges.map((edge) => ({
      id: edge.id,
      source: edge.from,
      target: edge.to,
      type: "transition" as const,
      zIndex: taken.has(edge.id) ? WAY + 1 : WAY,
      data: {
        edge,
        run: last?.run ?? 0,
        lit: taken.has(edge.id) ? "taken" : active.has(edge.from) && edge.from !== root ? "open" : "quiet"
      }
    }))
  }, [machine, active, last])

/** Keeps the state in view, or the whole chart; where that could not be read, the state and what is near it first. */
const useView = ({ machine, state, view }: ChartProps, isSmall: boolean | undefined) => {
  const flow = useReactFlow()
  const moved = useRef(false)
  useEffect(() => {
    // Fitting waits for its place, and would come after what is asked for when that is known.
    if (isSmall === undefined) return
    const duration = moved.current && !isStill() ? MOVE_MILLIS : 0
    moved.current = true
    const node = nodeAt(machine, state)
    if (node === undefined || (view !== "near" && !isSmall)) void flow.fitView({ duration, padding: 0.02 })
    else {
      const zoom = view === "near" ? FOLLOW_ZOOM : READ_ZOOM
      void flow.setCenter(node.x + node.width / 2, node.y + node.height / 2, { zoom, duration })
    }
  }, [flow, machine, state, view, isSmall])
}

const Arrow = ({ lit }: { readonly lit: string }) => (
  <marker
    id={`arrow-${lit}`}
    className="chart-arrow"
    data-lit={lit}
    viewBox="0 0 8 8"
    refX="7"
    refY="4"
    markerWidth="8"
    markerHeight="8"
    markerUnits="userSpaceOnUse"
    orient="auto"
  >
    <path d="M0 0.6 8 4 0 7.4z" />
  </marker>
)

/** Above what is near the state; the whole chart needs the height, and has room beside its first state. */
const Bar = ({ onView, view }: Pick<ChartProps, "view" | "onView">) => {
  const flow = useReactFlow()
  return (
    <div className="chart-bar" data-over={view === "near" ? undefined : ""}>
      <button type="button" className="button button-small" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
        +
      </button>
      <button type="button" className="button button-small" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
        −
      </button>
      {others[view].map(([other, title]) => (
        <button key={other} type="button" className="button button-small" onClick={() => onView(other)}>
          {title}
        </button>
      ))}
    </div>
  )
}

const Flow = (props: ChartProps) => {
  const { last, machine, state, view } = props
  const active = useMemo(() => activeIds(machine, state), [machine, state])
  const current = nodeAt(machine, state)?.id
  const root = machine.nodes.find(({ parent }) => parent === null)?.id
  const nodes = useNodes(machine, active, current)
  const edges = useEdges(machine, active, last)
  const width = useStore((store) => store.width)
  const isSmall = width < SMALL * (machine.nodes.find(({ id }) => id === root)?.width ?? 0)
  useView(props, width === 0 ? undefined : isSmall && view === "whole")
  return (
    <ReactFlow
      nodes={nodes as Array<StateNode>}
      edges={edges as Array<TransitionEdge>}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      elevateNodesOnSelect={false}
      zoomOnDoubleClick={false}
      disableKeyboardA11y
      panOnScroll
      minZoom={0.08}
      maxZoom={1.6}
    >
      <svg width="0" height="0" aria-hidden>
        <defs>
          <Arrow lit="quiet" />
          <Arrow lit="open" />
          <Arrow lit="taken" />
        </defs>
      </svg>
      {view === "all" ? (
        <MiniMap
          pannable
          zoomable
          style={{ width: 132, height: 148 }}
          ariaLabel="The whole chart, small"
          nodeClassName={({ id }) =>
            id === current ? "mini-current" : active.has(id) && id !== root ? "mini-active" : "mini-quiet"
          }
        />
      ) : null}
    </ReactFlow>
  )
}

export const Chart = (props: ChartProps) => {
  const [word, detail] = wordsOf(props.state)
  return (
    <div
      className="chart"
      role="group"
      aria-label={`Statechart; the state is ${word}${detail === undefined ? "" : `, ${detail}`}`}
      data-chart={props.machine.hash}
      data-chart-active={props.state}
    >
      <ReactFlowProvider>
        <Bar view={props.view} onView={props.onView} />
        <div className="chart-canvas min-h-0">
          <Flow {...props} />
        </div>
      </ReactFlowProvider>
    </div>
  )
}
