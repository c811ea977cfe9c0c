// Frames: one line for each commit of the range; ← → step through them from anywhere on the page.

import type { Frame } from "@reverie/server/api"
import { type KeyboardEvent, useEffect, useId, useRef } from "react"
import { useKeys } from "../../shell/keys.ts"
import { StateChip } from "../../parts/chip.tsx"
import { Visible } from "../../parts/text.tsx"

interface FramesProps {
  readonly frames: ReadonlyArray<Frame>
  readonly at: number
  readonly onStep: (no: number) => void
}

/** `infer done`, `after sleep`: the names that the chart gives itself, in words. */
const eventWords = (event: string): string =>
  event
    .replace(
      /^xstate\.(done|error)\.actor\.(.+)$/,
      (_, end: string, name: string) => `${name} ${end === "done" ? "done" : "failed"}`
    )
    .replace(/^xstate\.after\.([A-Za-z0-9]+)\..*$/, "after $1")

const Line = ({ frame }: { readonly frame: Frame }) => {
  const { after, before, cause, event, no, step, tick } = frame
  return (
    <>
      <span className="tabular text-right font-mono text-ink-2">{no}</span>
      <span className="tabular text-right text-ink-2">{tick}</span>
      <span className="truncate" title={event}>
        <Visible text={event === "" ? cause : eventWords(event)} />
        {step === undefined ? null : (
          <span className={step.ok ? "text-ink-2" : "text-bad"}>
            {" "}
            <Visible text={step.name} />
            {step.ok ? "" : " failed"}
          </span>
        )}
      </span>
      <span className="min-w-0">
        {before === after ? <span className="text-ink-3">stays</span> : <StateChip path={after} />}
      </span>
    </>
  )
}

const moves: Readonly<Record<string, (at: number, total: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 12,
  PageUp: (at) => at - 12,
  Home: () => 0,
  End: (_, total) => total - 1
}

export const Frames = ({ at, frames, onStep }: FramesProps) => {
  const ids = useId()
  const list = useRef<HTMLUListElement>(null)
  const index = frames.findIndex(({ no }) => no === at)
  const go = (to: number) => {
    const frame = frames[Math.max(0, Math.min(frames.length - 1, to))]
    if (frame !== undefined) onStep(frame.no)
  }
  useKeys({ ArrowLeft: () => go(index - 1), ArrowRight: () => go(index + 1) })
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [index, frames])
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key]
    if (move === undefined) return
    go(move(index, frames.length))
    event.preventDefault()
  }
  return (
    <ul
      ref={list}
      role="listbox"
      aria-label="Frames"
      tabIndex={0}
      aria-activedescendant={index < 0 ? undefined : `${ids}-${at}`}
      className="frames"
      data-frames={frames.length}
      data-at={at}
      onKeyDown={onKeyDown}
    >
      {frames.map((frame) => (
        <li
          key={frame.no}
          id={`${ids}-${frame.no}`}
          role="option"
          aria-selected={frame.no === at}
          className="frame-line"
          data-frame={frame.no}
          data-event={frame.event}
          data-after={frame.after}
          onClick={() => onStep(frame.no)}
        >
          <Line frame={frame} />
        </li>
      ))}
    </ul>
  )
}
