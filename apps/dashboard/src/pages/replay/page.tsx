// Replay: a life computed anew from its ledger, frame by frame, without any effect.
// R1  The URL holds the range, the breakpoint and the frame that is open.

import { defined } from "../../api/defined.ts"
import { eventWords } from "@reverie/protocol/spoken"
import type { Frame } from "@reverie/server/api"
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, many } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { OpenFrame } from "./frame.tsx"
import { FRAMES, Range } from "./range.tsx"
import { fileName, saveJson } from "../../parts/export/save.ts"
import type { ReplaySearch } from "../../shell/search.ts"
import { Chip, StateChip } from "../../parts/chip.tsx"
import { Visible } from "../../parts/text.tsx"
import { useKeys } from "../../shell/keys.ts"

// Frames: one line for each commit of the range; ← → step through them from anywhere on the page.

interface FramesProps {
  readonly frames: ReadonlyArray<Frame>
  readonly at: number
  readonly onStep: (no: number) => void
}

const Line = ({ frame }: { readonly frame: Frame }) => {
  const { after, before, cause, event, no, step, tick } = frame
  return (
    <>
      <span className="tabular text-right font-mono text-ink-2">{no}</span>
      <span className="tabular text-right text-ink-2">{tick}</span>
      <span className="min-w-0 wrap-anywhere" title={event}>
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

/** What stands in which column. */
const Heads = () => (
  <div className="frame-line frame-heads" data-columns="events">
    <span className="text-right">Event</span>
    <span className="text-right">Run</span>
    <span>What happened</span>
    <span>State after it</span>
  </div>
)

const moves: Readonly<Record<string, (at: number, total: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 12,
  PageUp: (at) => at - 12,
  Home: () => 0,
  End: (_, total) => total - 1
}

const Frames = ({ at, frames, onStep }: FramesProps) => {
  const ids = useId()
  const list = useRef<HTMLUListElement>(null)
  const index = frames.findIndex(({ no }) => no === at)
  const go = (to: number) => {
    const frame = frames[Math.max(0, Math.min(frames.length - 1, to))]
    if (frame !== undefined) onStep(frame.no)
  }
  useKeys({ ArrowLeft: () => go(index - 1), ArrowRight: () => go(index + 1) })
  useEffect(() => {
    // The list scrolls, and never the page around it: what one looks at there stays in view.
    const frame = list.current?.querySelector("[aria-selected=true]")?.getBoundingClientRect()
    const view = list.current?.getBoundingClientRect()
    if (frame === undefined || view === undefined) return
    const beyond = Math.max(0, frame.bottom - view.bottom) + Math.min(0, frame.top - view.top)
    list.current?.scrollBy({ top: beyond })
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
      aria-label="Events"
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

// Verify: replays the whole life and says whether its end is what is stored.

interface VerifyProps {
  readonly id: string
  readonly onOpen: (no: number) => void
}

const Verify = ({ id, onOpen }: VerifyProps) => {
  const [asked, ask] = useState(false)
  const verdict = useAnswer(
    "GET /v1/assistants/:id/replay/verify",
    { params: { id } },
    { enabled: asked, staleMillis: 600_000 }
  )
  const verify = () => {
    if (asked) void verdict.refetch()
    ask(true)
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <button type="button" className="button" disabled={verdict.isFetching} onClick={verify} data-verify="">
        {verdict.isFetching ? "Replaying…" : "Verify determinism"}
      </button>
      {asked ? (
        <Answered of={verdict} lines={1}>
          {({ commits, difference, differsAt, equal, modelCalls, toolCalls, unknown = [] }) => (
            <span
              className="flex flex-wrap items-center gap-2"
              data-verdict={equal ? "equal" : "differs"}
              data-commits={commits}
            >
              <Chip tone={equal ? "good" : "bad"} text={equal ? "identical" : "differs"} />
              <span className="text-ink-2">
                {many(commits, "event")} replayed; {count(modelCalls)} model and {count(toolCalls)} tool calls
              </span>
              {unknown.map(({ from, to, why }) => (
                <span key={from} className="text-bad" data-unknown={from}>
                  events {from} to {to} are unknown: <Visible text={why} />
                </span>
              ))}
              {differsAt === undefined ? null : (
                <button
                  type="button"
                  className="button button-small"
                  onClick={() => onOpen(differsAt)}
                  data-differs-at={differsAt}
                >
                  at event {differsAt}
                </button>
              )}
              {difference === undefined ? null : (
                <span className="text-bad">
                  <Visible text={difference} />
                </span>
              )}
            </span>
          )}
        </Answered>
      ) : null}
    </div>
  )
}

type Told = Answer<"GET /v1/assistants/:id/replay">

const route = getRouteApi("/a/$id/replay")

const isStopped = ({ items, next }: Told, { event, state }: ReplaySearch): boolean => {
  const last = items.at(-1)
  if (last === undefined || (event === undefined && state === undefined)) return false
  const isThere = state !== undefined && (last.after === state || last.after.startsWith(`${state}.`))
  return next !== null && (isThere || (event !== undefined && last.event === event))
}

/** The frame that is open: the one of the URL, where it stopped, or the first. */
const openIn = (told: Told, search: ReplaySearch): Frame | undefined => {
  const { at, from } = search
  const stands = from === undefined || search.state !== undefined || search.event !== undefined
  return told.items.find(({ no }) => no === at) ?? (stands ? told.items.at(-1) : told.items[0])
}

interface TapeProps {
  readonly id: string
  readonly told: Told
  readonly search: ReplaySearch
  readonly onChange: (next: ReplaySearch) => void
}

const Tape = ({ id, onChange, search, told }: TapeProps) => {
  const { items, next } = told
  const open = openIn(told, search)
  if (open === undefined)
    return (
      <Empty title="No events in this range">
        The range begins beyond the newest event, or nothing came into that state.
      </Empty>
    )
  const stopped = isStopped(told, search)
  return (
    <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <Section
        title={`${many(items.length, "event")}, ${items[0]?.no ?? 0} to ${items.at(-1)?.no ?? 0}`}
        side={
          <span className="flex items-center gap-2">
            {stopped ? (
              <span className="font-medium text-warn" data-stopped={items.at(-1)?.no}>
                stopped at {items.at(-1)?.no}
              </span>
            ) : null}
            <span className="label">
              <kbd>←</kbd> <kbd>→</kbd> step
            </span>
            <button
              type="button"
              className="button button-small"
              disabled={next === null}
              onClick={() => onChange({ from: next ?? 1, at: undefined })}
              data-further=""
            >
              Further
            </button>
            <button
              type="button"
              className="button button-small"
              onClick={() =>
                saveJson(fileName("replay", id, items[0]?.no ?? 0, items.at(-1)?.no ?? 0), {
                  assistant: id,
                  frames: items,
                  next
                })
              }
              data-export=""
            >
              Export as JSON
            </button>
          </span>
        }
      >
        <Heads />
        <Frames frames={items} at={open.no} onStep={(no) => onChange({ at: no })} />
      </Section>
      <OpenFrame id={id} frame={open} />
    </div>
  )
}

const askedFor = (from: number, { event, limit = FRAMES, state }: ReplaySearch) => ({
  from,
  limit,
  ...defined({ untilState: state, untilEvent: event })
})

const ReplayPage = () => {
  const { id } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const who = useAnswer(
    "GET /v1/assistants/:id",
    { params: { id } },
    { enabled: search.from === undefined, staleMillis: 600_000 }
  )
  const from = search.from ?? Math.max(1, (who.data?.commits ?? 0) - (search.limit ?? FRAMES) + 1)
  const isKnown = search.from !== undefined || who.data !== undefined
  const told = useAnswer(
    "GET /v1/assistants/:id/replay",
    { params: { id }, query: askedFor(from, search) },
    { enabled: isKnown, keep: true }
  )
  const change = (next: ReplaySearch) => void navigate({ search: { ...search, from, ...next }, replace: true })
  const tick = told.data === undefined ? 0 : (openIn(told.data, search)?.tick ?? 0)
  return (
    <Page
      name="replay"
      title="Replay"
      ready={who.isError || (isKnown && isReady(told))}
      side={
        <>
          <Verify
            id={id}
            onOpen={(no) => change({ from: Math.max(1, no - 5), at: no, state: undefined, event: undefined })}
          />
          {tick === 0 ? null : (
            <Link to="/a/$id/fork/$tick" params={{ id, tick: String(tick) }} data-fork-tick={tick}>
              Run {tick} in the playground
            </Link>
          )}
        </>
      }
    >
      {isKnown ? (
        <Range
          key={from}
          search={search}
          from={from}
          seen={told.data?.items.map(({ event }) => event) ?? []}
          onChange={change}
        />
      ) : null}
      {isKnown ? (
        <Answered of={told} lines={10}>
          {(found) => <Tape id={id} told={found} search={search} onChange={change} />}
        </Answered>
      ) : (
        <Answered of={who} lines={10}>
          {() => null}
        </Answered>
      )}
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/replay")({ component: ReplayPage })
