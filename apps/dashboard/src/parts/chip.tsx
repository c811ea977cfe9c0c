// Chip: a state as a colour and a word.
// S1  One colour for each thing that an assistant can be doing, and never a colour without the word.

import { memo } from "react"
import { activityOf } from "./activity.ts"

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

/** By the activity of a state. */
const tones: Readonly<Record<string, Tone>> = {
  idle: "idle",
  thinking: "thinking",
  acting: "acting",
  awaitingApproval: "waiting",
  dreaming: "dreaming",
  compacting: "compacting",
  halted: "halted",
  retired: "retired"
}

const words = (name: string): string => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()

export const toneOfActivity = (activity: string): Tone => tones[activity] ?? "idle"

/** Of a path such as `awake.thinking.inferring`. */
export const toneOf = (path: string): Tone => toneOfActivity(activityOf(path) ?? "idle")

/** What it does, and more closely: `thinking`, `inferring`. */
export const wordsOf = (path: string): readonly [string, string | undefined] => {
  const [mode = "", state = "", detail] = path.split(".")
  if (mode === "awake") return [words(state), detail === undefined ? undefined : words(detail)]
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
