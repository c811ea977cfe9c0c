// Chart: the statechart as the server has laid it out, the state lit, the last transition running.
// H1  Nothing is laid out here: positions, ways and labels are the server's.

import type { Machine } from "@reverie/server/api"
import { Controls, MiniMap, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react"
import { useEffect, useMemo, useRef } from "react"
import { wordsOf } from "../../parts/chip.tsx"
import { activeIds, nodeAt, takenBetween } from "./chart-model.ts"
import { edgeTypes, nodeTypes, type StateNode, type TransitionEdge } from "./chart-parts.tsx"

/** From where to where, and the how manieth it was. */
export interface Step {
  readonly from: string
  readonly to: string
  readonly run: number
}

interface ChartProps {
  readonly machine: Machine
  readonly state: string
  readonly last: Step | undefined
  readonly whole: boolean
  readonly onWhole: (whole: boolean) => void
}

const FOLLOW_ZOOM = 0.92
const MOVE_MILLIS = 450
const GROUP = 0
const WAY = 10
const STATE = 20

const isStill = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches

const useNodes = (machine: Machine, active: ReadonlySet<string>, state: string): ReadonlyArray<StateNode> =>
  useMemo(
    () =>
      machine.nodes.map((node) => ({
        id: node.id,
        type: "state" as const,
        position: { x: node.x, y: node.y },
        width: node.width,
        height: node.height,
        zIndex: node.kind === "compound" || node.kind === "parallel" ? GROUP + node.path.split(".").length : STATE,
        data: { node, active: active.has(node.id), current: node.path === state }
      })),
    [machine, active, state]
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

/** Keeps the state in view, or the whole chart. */
const useView = ({ machine, state, whole }: ChartProps) => {
  const flow = useReactFlow()
  const moved = useRef(false)
  useEffect(() => {
    const duration = moved.current && !isStill() ? MOVE_MILLIS : 0
    moved.current = true
    const node = nodeAt(machine, state)
    if (whole || node === undefined) void flow.fitView({ duration, padding: 0.02 })
    else void flow.setCenter(node.x + node.width / 2, node.y + node.height / 2, { zoom: FOLLOW_ZOOM, duration })
  }, [flow, machine, state, whole])
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

const Flow = (props: ChartProps) => {
  const { last, machine, onWhole, state, whole } = props
  const active = useMemo(() => activeIds(machine, state), [machine, state])
  const current = nodeAt(machine, state)?.id
  const root = machine.nodes.find(({ parent }) => parent === null)?.id
  const nodes = useNodes(machine, active, state)
  const edges = useEdges(machine, active, last)
  useView(props)
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
      <MiniMap
        pannable
        zoomable
        style={{ width: 132, height: 148 }}
        ariaLabel="The whole chart, small"
        nodeClassName={({ id }) =>
          id === current ? "mini-current" : active.has(id) && id !== root ? "mini-active" : "mini-quiet"
        }
      />
      <Controls showInteractive={false} showFitView={false} position="top-right">
        <button type="button" className="button button-small" aria-pressed={whole} onClick={() => onWhole(!whole)}>
          {whole ? "Follow the state" : "Whole chart"}
        </button>
      </Controls>
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
        <Flow {...props} />
      </ReactFlowProvider>
    </div>
  )
}
