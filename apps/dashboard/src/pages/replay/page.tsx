// Replay: a life computed anew from its ledger, frame by frame, without any effect; and a tick of it lived otherwise.
// R1  The URL holds the range, the breakpoint, the frame that is open, and the tick that is forked.

import { defined } from "@reverie/protocol/defined"
import type { Frame } from "@reverie/server/api"
import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { many } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { ForkForm } from "./fork.tsx"
import { OpenFrame } from "./frame.tsx"
import { Frames } from "./frames.tsx"
import { FRAMES, Range } from "./range.tsx"
import { fileName, saveJson } from "./save.ts"
import type { ReplaySearch } from "./search.ts"
import { Verify } from "./verify.tsx"

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
      <Empty title="No frame is there">
        The range begins beyond the newest commit, or nothing came into that state.
      </Empty>
    )
  const stopped = isStopped(told, search)
  return (
    <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <Section
        title={`${many(items.length, "frame")}, ${items[0]?.no ?? 0} to ${items.at(-1)?.no ?? 0}`}
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
  const tick = search.fork ?? (told.data === undefined ? 0 : (openIn(told.data, search)?.tick ?? 0))
  return (
    <Page
      name="replay"
      title="Replay"
      ready={who.isError || (isKnown && isReady(told))}
      side={
        <Verify
          id={id}
          onOpen={(no) => change({ from: Math.max(1, no - 5), at: no, state: undefined, event: undefined })}
        />
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
      <ForkForm id={id} tick={tick} onTick={(fork) => change({ fork: fork === 0 ? undefined : fork })} />
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/replay")({ component: ReplayPage })
