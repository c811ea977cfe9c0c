// DiffView: what differs between two texts of others, as one block.

import { useMemo } from "react"
import { diffLines, compacted } from "./diff.ts"
import { many } from "./format.ts"
import { Visible } from "./text.tsx"

const signs = { same: " ", gone: "−", new: "+" } as const
const words = { same: "", gone: "went: ", new: "came: " } as const

interface DiffViewProps {
  readonly before: string
  readonly after: string
  readonly label: string
}

export const DiffView = ({ after, before, label }: DiffViewProps) => {
  const lines = useMemo(() => compacted(diffLines(before, after)), [before, after])
  const changed = lines.some(({ kind }) => kind === "gone" || kind === "new")
  if (!changed) {
    return (
      <p className="text-ink-2" data-diff="same">
        Not a word differs.
      </p>
    )
  }
  return (
    <pre className="viewer diff max-h-[32rem]" tabIndex={0} role="region" aria-label={label} data-diff="changed">
      {lines.map((line, at) =>
        line.kind === "gap" ? (
          <span key={at} className="diff-gap">
            {many(line.lines, "line")} alike
          </span>
        ) : (
          <span key={at} className="diff-line" data-line={line.kind}>
            <span aria-hidden className="diff-sign">
              {signs[line.kind]}
            </span>
            <span className="sr-only">{words[line.kind]}</span>
            <Visible text={line.text} />
          </span>
        )
      )}
    </pre>
  )
}
