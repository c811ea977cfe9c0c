// ChartParts: a state and a transition as they are drawn.

import { type Edge, type EdgeProps, Handle, type Node, type NodeProps, Position } from "@xyflow/react"
import { memo } from "react"
import { toneOf } from "../../parts/chip.tsx"
import { type ChartEdge, type ChartNode, roundedPath } from "./chart-model.ts"

export type StateNode = Node<{ readonly node: ChartNode; readonly active: boolean; readonly current: boolean }, "state">
export type TransitionEdge = Edge<
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

export const nodeTypes = { state: memo(State) }
export const edgeTypes = { transition: memo(Transition) }
