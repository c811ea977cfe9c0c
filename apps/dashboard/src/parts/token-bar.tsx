// TokenBar: how much of something is taken, and by what.

import { percent } from "./format.ts"

export interface Segment {
  readonly key: string
  /** Of the whole, 0 to 1. */
  readonly share: number
  /** A CSS colour. */
  readonly colour: string
  readonly title?: string
}

/** A stacked bar; what it says stands beside it or in `label`. */
export const TokenBar = ({
  label,
  onPick,
  segments
}: {
  readonly segments: ReadonlyArray<Segment>
  readonly label: string
  readonly onPick?: (key: string) => void
}) => (
  <div className="bar-track h-4" role="img" aria-label={label} data-token-bar="">
    {segments.map(({ colour, key, share, title }) => (
      <span
        key={key}
        data-segment={key}
        title={title ?? `${key}: ${percent(share)}`}
        style={{ width: `${share * 100}%`, background: colour, cursor: onPick === undefined ? undefined : "pointer" }}
        onClick={onPick === undefined ? undefined : () => onPick(key)}
      />
    ))}
  </div>
)

const colourOf = (share: number): string => {
  if (share >= 0.9) return "var(--color-halted)"
  return share >= 0.75 ? "var(--color-waiting)" : "var(--color-thinking)"
}

/** One share with its number, as it stands in a row. */
export const Fill = ({ share }: { readonly share: number }) => (
  <span className="flex w-full items-center gap-2" data-share={share}>
    <span className="bar-track flex-1" aria-hidden>
      <span style={{ width: `${Math.min(1, share) * 100}%`, background: colourOf(share) }} />
    </span>
    <span className="tabular w-[2.6em] text-right">{percent(share)}</span>
  </span>
)
