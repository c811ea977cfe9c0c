// Chip: a state as a colour and a word.
// S1  One colour for each thing that an assistant can be doing, and never a colour without the word.

import { memo } from "react"

export type Tone =
  | "idle"
  | "thinking"
  | "acting"
  | "waiting"
  | "dreaming"
  | "compacting"
  | "halted"
  | "retired"
  | "stuck"
  | "good"
  | "bad"

const awake: Readonly<Record<string, readonly [Tone, string]>> = {
  idle: ["idle", "idle"],
  assessing: ["thinking", "assessing"],
  thinking: ["thinking", "thinking"],
  acting: ["acting", "acting"],
  awaitingApproval: ["waiting", "awaiting approval"],
  awaitingReports: ["acting", "awaiting reports"]
}
const tones: Readonly<Record<string, Tone>> = {
  dreaming: "dreaming",
  compacting: "compacting",
  halted: "halted",
  retired: "retired"
}

const words = (name: string): string => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()

/** Of a path such as `awake.thinking.inferring`. */
export const toneOf = (path: string): Tone => {
  const [mode = "", state = ""] = path.split(".")
  return mode === "awake" ? (awake[state]?.[0] ?? "idle") : (tones[mode] ?? "idle")
}

/** What it does, and more closely: `thinking`, `inferring`. */
export const wordsOf = (path: string): readonly [string, string | undefined] => {
  const [mode = "", state = "", detail] = path.split(".")
  if (mode === "awake") return [awake[state]?.[1] ?? words(state), detail === undefined ? undefined : words(detail)]
  return [words(mode), state === "" ? undefined : words(state)]
}

export const StateChip = memo(({ path }: { readonly path: string }) => {
  const [word, detail] = wordsOf(path)
  return (
    <span className="chip" data-state={path} data-tone={toneOf(path)} title={path}>
      <span className="dot" aria-hidden />
      <span className="truncate">
        {word}
        {detail === undefined ? null : <span className="text-ink-2"> {detail}</span>}
      </span>
    </span>
  )
})
StateChip.displayName = "StateChip"

/** Any other fact with a colour. */
export const Chip = ({ text, tone }: { readonly tone: Tone; readonly text: string }) => (
  <span className="chip" data-tone={tone}>
    <span className="dot" aria-hidden />
    <span className="truncate">{text}</span>
  </span>
)
