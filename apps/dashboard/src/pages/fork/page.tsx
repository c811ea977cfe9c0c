// Playground: a run of the past once more with other instructions, another model or other results, and what came of it beside what was.
// P1  Nothing of it is written into the life of the assistant: no tool runs, and no one learns of it.
// P2  The buttons that run it stay in view, however far one has scrolled, in a narrow window too.
// P3  What was typed is kept while one looks at other pages of the assistant.

import { senderName } from "@reverie/protocol/spoken"
import { createLazyRoute, getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react"
import { useAnswer } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { fileName, saveJson } from "../../parts/export/save.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Failed, isReady } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { Compared } from "./compared.tsx"
import { digestOf } from "./digest.ts"
import {
  type Beginning,
  type Draft,
  draftOf,
  keepDraft,
  type Payload,
  payloadFor,
  payloadOf,
  type TickView
} from "./draft.ts"
import { Fields } from "./fields.tsx"
import { lastTicks, type Run, type Runs, useRuns } from "./runs.ts"
import { RunsTable } from "./runs-table.tsx"
import { UseAsPrompt } from "./use-as-prompt.tsx"

const CaseDialog = lazy(() => import("./case-dialog.tsx").then((loaded) => ({ default: loaded.CaseDialog })))

const FIVE = 5

// Bar: what runs it.

interface BarProps {
  readonly runs: Runs
  readonly onFive: () => void
  readonly onLast: () => void
}

const RunBar = ({ onFive, onLast, runs: { batch, isBusy, stop } }: BarProps) => {
  const ended = batch?.runs.filter(({ state }) => state === "done" || state === "failed").length ?? 0
  return (
    <div className="run-bar" data-run-bar="">
      <Action type="submit" className="button button-primary" disabled={isBusy} data-fork="">
        {isBusy && batch?.kind === "one" ? "Running…" : "Run"}
      </Action>
      <Action className="button" disabled={isBusy} onClick={onFive} data-run-five="">
        Run 5 times
      </Action>
      <Action className="button" disabled={isBusy} onClick={onLast} data-run-last="">
        Run over the last 20
      </Action>
      {isBusy ? (
        <>
          <button type="button" className="button" disabled={batch?.isStopped === true} onClick={stop} data-stop="">
            Stop
          </button>
          <span className="tabular text-ink-2">
            {ended}/{batch?.runs.length ?? 0}
          </span>
        </>
      ) : (
        <span className="label max-md:hidden">No tool runs, and no one learns of it.</span>
      )}
    </div>
  )
}

// Then: what the run was, before anything is run again.

const Then = ({
  hasAnswer,
  id,
  tick
}: {
  readonly id: string
  readonly tick: TickView
  /** The answer of then stands here; where it is compared, it stands there. */
  readonly hasAnswer: boolean
}) => (
  <Section
    title={`What came in${hasAnswer ? `, and the answer of run ${tick.tick}` : ""}`}
    side={
      <Link to="/a/$id/timeline" params={{ id }} search={{ tick: tick.tick, level: "trace" }}>
        its trace
      </Link>
    }
  >
    <div className="space-y-3 p-3" data-then={tick.tick}>
      {tick.text === undefined ? null : (
        <div className="space-y-1">
          <h3 className="text-ink-2">
            <Visible text={senderName(tick.sender ?? "It")} /> wrote
          </h3>
          <TextView text={tick.text} label="What came in" />
        </div>
      )}
      {hasAnswer ? (
        <div className="space-y-1">
          <h3 className="text-ink-2">Answer then</h3>
          {tick.reply === undefined || tick.reply === "" ? (
            <p className="text-ink-3">said nothing</p>
          ) : (
            <TextView text={tick.reply} label="Answer then" />
          )}
        </div>
      ) : null}
    </div>
  </Section>
)

/** Where the window is narrow, what came stands below the form: it comes into view when it is there. */
const InView = ({ children }: { readonly children: ReactNode }) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const top = place.current?.getBoundingClientRect().top ?? 0
    // Where its beginning can be seen already, the page stays where it is. Nothing is returned: some browsers answer with a
    // promise, which an effect would take for its end.
    if (top < 0 || top > innerHeight * 0.7) place.current?.scrollIntoView({ block: "start" })
  }, [])
  return (
    <div ref={place} className="min-w-0 scroll-mt-20">
      {children}
    </div>
  )
}

interface ResultProps {
  readonly id: string
  readonly run: Run
  readonly onCase: () => void
}

const Result = ({ id, onCase, run: { fork, payload, tick, trouble } }: ResultProps) => {
  if (trouble !== undefined) return <Failed trouble={trouble} />
  if (fork === undefined) return null
  return (
    <InView>
      <Compared
        title={`Run ${tick}, then and now`}
        fork={fork}
        side={
          <>
            <Action className="button button-small" onClick={onCase} data-case="">
              Save as eval case…
            </Action>
            <button
              type="button"
              className="button button-small"
              onClick={() => saveJson(fileName("fork", id, tick), { assistant: id, asked: payload, ...fork })}
              data-export-fork=""
            >
              Export as JSON
            </button>
          </>
        }
      />
    </InView>
  )
}

interface PlaygroundProps {
  readonly id: string
  readonly beginning: Beginning
  readonly tick: TickView
}

/** The run that is open: the only one by itself, of several the one that was chosen. */
const openIn = ({ batch }: Runs, chosen: number | undefined): number | undefined =>
  batch?.kind === "one" && batch.runs.length === 1 ? 0 : chosen

const useDraft = (id: string, tick: number): readonly [Draft, (next: Partial<Draft>) => void] => {
  const [draft, setDraft] = useState(() => draftOf(id, tick))
  useEffect(() => keepDraft(id, tick, draft), [id, tick, draft])
  return [draft, (next) => setDraft((before) => ({ ...before, ...next }))]
}

const Playground = ({ beginning, id, tick }: PlaygroundProps) => {
  const [draft, change] = useDraft(id, tick.tick)
  const [chosen, choose] = useState<number>()
  const [saves, setSaves] = useState<Payload>()
  const runs = useRuns(id)
  const { batch, isBusy, start, trouble } = runs
  const payload = payloadOf(draft, beginning, tick)
  const begin: Runs["start"] = (kind, payloads) => {
    choose(undefined)
    start(kind, payloads)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The forms of dialogs are within this one, as React sees it.
    if (event.target === event.currentTarget && !isBusy) begin("one", async () => [payload])
  }
  const last = async () => (await lastTicks(id)).map((each) => payloadFor(draft, beginning, each))
  const open = openIn(runs, chosen)
  const run = open === undefined ? undefined : batch?.runs[open]
  const told = run?.fork === undefined ? undefined : digestOf(run.fork.forked)
  return (
    <form className="playground" onSubmit={submit} data-fork-form={tick.tick}>
      <RunBar
        runs={runs}
        onFive={() => begin("five", async () => Array.from({ length: FIVE }, () => payload))}
        onLast={() => begin("last", last)}
      />
      <Fields
        draft={draft}
        beginning={beginning}
        tick={tick}
        onDraft={change}
        beneath={<UseAsPrompt beginning={beginning} draft={draft} onPrompt={(prompt) => change({ prompt })} />}
      />
      <div className="min-w-0 space-y-4" data-results-side="">
        {trouble === undefined ? null : <Failed trouble={trouble} />}
        {batch === undefined || batch.kind === "one" ? null : (
          <InView>
            <RunsTable id={id} batch={batch} isBusy={isBusy} open={open} onOpen={choose} />
          </InView>
        )}
        {run === undefined ? null : (
          <Result key={`${open} ${run.state}`} id={id} run={run} onCase={() => setSaves(run.payload)} />
        )}
        <Then id={id} tick={tick} hasAnswer={told === undefined} />
      </div>
      {saves === undefined ? null : (
        <Suspense>
          <CaseDialog
            id={id}
            payload={saves}
            reply={told?.reply ?? tick.reply ?? ""}
            tools={(told?.calls ?? []).map(({ tool }) => tool)}
            onClose={() => setSaves(undefined)}
          />
        </Suspense>
      )}
    </form>
  )
}

const Ticks = ({ id, tick }: { readonly id: string; readonly tick: number }) => {
  const navigate = useNavigate()
  return (
    <form
      className="flex items-center gap-2 text-ink-2"
      onSubmit={(event) => {
        event.preventDefault()
        const next = Math.trunc(Number(new FormData(event.currentTarget).get("tick")))
        if (next >= 1) void navigate({ to: "/a/$id/fork/$tick", params: { id, tick: String(next) } })
      }}
    >
      <label className="flex items-center gap-2">
        of run
        <input
          className="field w-24"
          name="tick"
          type="number"
          min={1}
          defaultValue={tick}
          key={tick}
          title="A run of this assistant"
        />
      </label>
      <button type="submit" className="button button-small">
        Go
      </button>
    </form>
  )
}

const route = getRouteApi("/a/$id/fork/$tick")

const PlaygroundPage = () => {
  const { id, tick: written } = route.useParams()
  const number = Number(written)
  const tick = Number.isSafeInteger(number) && number >= 1 ? number : 1
  const asked = { params: { id, tick } }
  const beginning = useAnswer("GET /v1/assistants/:id/forks/:tick", asked, { staleMillis: 600_000 })
  const then = useAnswer("GET /v1/assistants/:id/ticks/:tick", asked, { staleMillis: 600_000 })
  return (
    <Page name="fork" title="Playground" ready={isReady(beginning, then)} side={<Ticks id={id} tick={tick} />}>
      <Answered of={beginning} lines={8}>
        {(found) => (
          <Answered of={then} lines={8}>
            {(view) => <Playground key={tick} id={id} beginning={found} tick={view} />}
          </Answered>
        )}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/fork/$tick")({ component: PlaygroundPage })
