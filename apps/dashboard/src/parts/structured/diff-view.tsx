// DiffView: what differs between two texts of others, as one block.

import { useMemo } from "react"
import { many } from "../format.ts"
import { Visible } from "../text.tsx"

// Diff: two texts, line by line or word by word: what stayed, what went, what came.
// D1  The parts that stayed and went are the first text, those that stayed and came are the second.
// D2  It is bounded: of very long texts only the common beginning and end count as having stayed.

interface DiffLine {
  readonly kind: "same" | "gone" | "new"
  readonly text: string
}

const MAX_CELLS = 1_000_000

const as = (kind: DiffLine["kind"], lines: ReadonlyArray<string>): ReadonlyArray<DiffLine> =>
  lines.map((text) => ({ kind, text }))

/** The longest common part of the middle, by the table of lengths. */
const middleOf = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): ReadonlyArray<DiffLine> => {
  if (one.length * other.length > MAX_CELLS) return [...as("gone", one), ...as("new", other)]
  const width = other.length + 1
  const lengths = new Uint32Array((one.length + 1) * width)
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        one[i] === other[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const found: Array<DiffLine> = []
  let [i, j] = [0, 0]
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) {
      found.push({ kind: "same", text: one[i] ?? "" })
      i += 1
      j += 1
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) {
      found.push({ kind: "gone", text: one[i] ?? "" })
      i += 1
    } else {
      found.push({ kind: "new", text: other[j] ?? "" })
      j += 1
    }
  }
  return [...found, ...as("gone", one.slice(i)), ...as("new", other.slice(j))]
}

const diffParts = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): ReadonlyArray<DiffLine> => {
  const shorter = Math.min(one.length, other.length)
  let head = 0
  while (head < shorter && one[head] === other[head]) head += 1
  let tail = 0
  while (tail < shorter - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1
  return [
    ...as("same", one.slice(0, head)),
    ...middleOf(one.slice(head, one.length - tail), other.slice(head, other.length - tail)),
    ...as("same", one.slice(one.length - tail))
  ]
}

const linesOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split("\n"))

export const diffLines = (before: string, after: string): ReadonlyArray<DiffLine> =>
  diffParts(linesOf(before), linesOf(after))

/** Each word with the blanks before it: what is written behind the last one leaves that as it was. */
const wordsOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(/(?<=\S)(?=\s)/))

/** The same of words; what follows each other and is of one kind is one piece. */
export const diffWords = (before: string, after: string): ReadonlyArray<DiffLine> => {
  const pieces: Array<DiffLine> = []
  for (const { kind, text } of diffParts(wordsOf(before), wordsOf(after))) {
    const last = pieces.at(-1)
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text }
    else pieces.push({ kind, text })
  }
  return pieces
}

/** Lines that stayed and are far from any change are reported as a number. */
interface Gap {
  readonly kind: "gap"
  readonly lines: number
}

export const compacted = (lines: ReadonlyArray<DiffLine>, around = 3): ReadonlyArray<DiffLine | Gap> => {
  const isNear = new Uint8Array(lines.length)
  lines.forEach(({ kind }, at) => {
    if (kind !== "same") isNear.fill(1, Math.max(0, at - around), at + around + 1)
  })
  const found: Array<DiffLine | { kind: "gap"; lines: number }> = []
  lines.forEach((line, at) => {
    const last = found.at(-1)
    if (isNear[at] === 1) found.push(line)
    else if (last?.kind === "gap") last.lines += 1
    else found.push({ kind: "gap", lines: 1 })
  })
  return found
}

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
