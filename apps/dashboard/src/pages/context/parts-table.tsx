// PartsTable: the pieces of a prompt in numbers; of two prompts, side by side.

import { count } from "../../parts/format.ts"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { hasWords, type Piece } from "./pieces.tsx"

interface PartsTableProps {
  readonly pieces: ReadonlyArray<Piece>
  readonly window: number
  /** The pieces that they are held against. */
  readonly before: ReadonlyArray<Piece> | undefined
  readonly open: string | undefined
  readonly onPick: (key: string) => void
}

interface Row {
  readonly piece: Piece
  readonly was: number | undefined
}

/** Every piece of either, in the order of the later one. */
const rowsOf = (pieces: ReadonlyArray<Piece>, before: ReadonlyArray<Piece> = []): ReadonlyArray<Row> => {
  const earlier = new Map(before.map((piece) => [piece.key, piece]))
  const known = new Set(pieces.map(({ key }) => key))
  const gone = before
    .filter(({ key }) => !known.has(key))
    .map((piece) => ({ piece: { ...piece, tokens: 0, messages: 0 }, was: piece.tokens }))
  const words = pieces.filter(({ kind }) => kind === "part" || kind === "tools")
  const rest = pieces.filter(({ kind }) => kind === "free" || kind === "reserve")
  const rowOf = (piece: Piece): Row => ({ piece, was: earlier.get(piece.key)?.tokens })
  return [...words.map(rowOf), ...gone, ...rest.map(rowOf)]
}

/** Parts are often less than one in a hundred. */
const shareText = (share: number): string => {
  if (share > 0 && share < 0.001) return "<0.1%"
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`
}

const Change = ({ now, plain, was }: { was: number | undefined; now: number; plain: boolean }) => {
  const more = now - (was ?? 0)
  if (more === 0) return <span className="text-ink-3">=</span>
  return (
    <span className={plain ? "text-ink-2" : more > 0 ? "font-medium text-warn" : "font-medium text-good"}>
      {more > 0 ? "+" : "−"}
      {count(Math.abs(more))}
    </span>
  )
}

const Name = ({ isOpen, onPick, piece }: { piece: Piece; isOpen: boolean; onPick: (key: string) => void }) => (
  <span className="flex items-center gap-2">
    <span className="context-swatch" data-kind={piece.kind} style={{ background: piece.colour }} aria-hidden />
    {hasWords(piece) ? (
      <button
        type="button"
        className="text-left text-accent hover:underline"
        aria-expanded={isOpen}
        onClick={() => onPick(piece.key)}
        data-open-part={piece.key}
      >
        {piece.name}
      </button>
    ) : (
      <span className="text-ink-2">{piece.name}</span>
    )}
  </span>
)

export const PartsTable = ({ before, onPick, open, pieces, window }: PartsTableProps) => (
  <StackTable className="tight-table" data-parts="">
    <thead>
      <tr>
        <th scope="col">Part</th>
        <th scope="col" data-align="end">
          Messages
        </th>
        {before === undefined ? null : (
          <th scope="col" data-align="end">
            Before
          </th>
        )}
        <th scope="col" data-align="end">
          Tokens
        </th>
        <th scope="col" data-align="end">
          {before === undefined ? "Of window" : "Change"}
        </th>
      </tr>
    </thead>
    <tbody>
      {rowsOf(pieces, before).map(({ piece, was }) => (
        <tr
          key={piece.key}
          data-part={piece.key}
          data-tokens={piece.tokens}
          {...(piece.key === open ? { "data-open": "" } : {})}
        >
          <td>
            <Name piece={piece} isOpen={piece.key === open} onPick={onPick} />
          </td>
          <td data-align="end" className="text-ink-2">
            {piece.messages ?? ""}
          </td>
          {before === undefined ? null : (
            <td data-align="end" className="text-ink-2">
              {was === undefined ? "–" : count(was)}
            </td>
          )}
          <td data-align="end">{count(piece.tokens)}</td>
          <td data-align="end">
            {before === undefined ? (
              shareText(piece.tokens / window)
            ) : (
              <Change was={was} now={piece.tokens} plain={!hasWords(piece)} />
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </StackTable>
)
