// Waterfall: what was granted to one of the tree, and what has become of it.
// W1  Parts of a bar are shares of what was granted. Where nothing bounds it there are none, and its outline is broken.

import type { Answer } from "../../api/contract.ts"
import { count, money, tokens } from "../../parts/format.ts"
import type { Measure } from "../../shell/search.ts"

export type Node = Answer<"GET /v1/assistants/:id/subagents">

export const amountText = (value: number | null | undefined, measure: Measure): string => {
  if (value === undefined) return "–"
  if (value === null) return "unlimited"
  return measure === "costMicros" ? money(value) : measure === "tokens" ? tokens(value) : count(value)
}

const HEIGHT = 14
const WIDTH = 240

interface Piece {
  readonly key: "spent" | "reserved" | "returned" | "free"
  readonly value: number
  readonly colour: string
}

export const Waterfall = ({ measure, node }: { readonly node: Node; readonly measure: Measure }) => {
  const granted = node.granted[measure]
  const spent = node.spent[measure]
  const reserved = node.reserved[measure]
  const returned = node.returned?.[measure] ?? 0
  const whole = Math.max(granted ?? 0, spent + reserved + returned, 1)
  const pieces: ReadonlyArray<Piece> =
    granted === null
      ? []
      : [
          { key: "spent", value: spent, colour: "var(--color-acting)" },
          { key: "reserved", value: reserved, colour: "var(--color-waiting)" },
          { key: "returned", value: returned, colour: "var(--color-dreaming)" },
          { key: "free", value: Math.max(0, granted - spent - reserved - returned), colour: "transparent" }
        ]
  let from = 0
  const said = `limit ${amountText(granted, measure)}, spent ${amountText(spent, measure)}, reserved ${amountText(reserved, measure)}, released ${amountText(node.returned === undefined ? 0 : node.returned[measure], measure)}`
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="block h-3.5 w-full max-w-60"
      preserveAspectRatio="none"
      role="img"
      aria-label={said}
      data-waterfall={node.id}
      data-spent={spent}
      data-reserved={reserved}
    >
      <title>{said}</title>
      <rect
        width={WIDTH}
        height={HEIGHT}
        rx="3"
        fill={granted === null ? "none" : "var(--color-track)"}
        stroke="var(--color-line)"
        strokeDasharray={granted === null ? "4 3" : undefined}
      />
      {pieces.map(({ colour, key, value }) => {
        const x = (from / whole) * WIDTH
        from += value
        return <rect key={key} x={x} width={(value / whole) * WIDTH} height={HEIGHT} fill={colour} data-piece={key} />
      })}
    </svg>
  )
}

const pieceNames = [
  ["spent", "var(--color-acting)"],
  ["reserved", "var(--color-waiting)"],
  ["released", "var(--color-dreaming)"]
] as const

/** What the colours of a bar say. */
export const Legend = () => (
  <span className="flex items-center gap-3 text-ink-2" data-legend="">
    {pieceNames.map(([name, background]) => (
      <span key={name} className="flex items-center gap-1.5">
        <span className="size-2.5 rounded-sm" style={{ background }} aria-hidden />
        {name}
      </span>
    ))}
  </span>
)
