// Stack: one context window as a bar; each piece as wide as its share of it.
// The table below it says the same in words, and is what the keyboard uses.

import { count, percent } from "../../parts/format.ts"
import { hasWords, type Piece } from "./pieces.ts"

interface StackProps {
  readonly label: string
  readonly pieces: ReadonlyArray<Piece>
  readonly window: number
  readonly open?: string | undefined
  readonly onPick: (key: string) => void
}

/** Narrower than this its name does not fit. */
const NAMED_SHARE = 0.075

export const Stack = ({ label, onPick, open, pieces, window }: StackProps) => (
  <div className="context-stack" role="img" aria-label={label} data-stack={label}>
    {pieces.map((piece) => {
      const { colour, key, kind, name, tokens } = piece
      const share = tokens / window
      if (tokens === 0) return null
      return (
        <span
          key={key}
          className={hasWords(piece) ? "cursor-pointer" : ""}
          data-segment={key}
          data-kind={kind}
          data-tokens={tokens}
          {...(share < NAMED_SHARE ? {} : { "data-named": "" })}
          {...(key === open ? { "data-open": "" } : {})}
          title={`${name}: ${count(tokens)} tokens, ${percent(share)}`}
          style={{ width: `${share * 100}%`, background: colour }}
          onClick={hasWords(piece) ? () => onPick(key) : undefined}
        >
          {share < NAMED_SHARE ? null : name}
        </span>
      )
    })}
  </div>
)
