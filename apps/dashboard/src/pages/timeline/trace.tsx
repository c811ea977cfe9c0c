// Trace: an opened tick on one linear axis of time, a line a span.
// Owns the axis with its marks, and what each span took and cost. Leaves times and places to axis.ts.
// T1  A time that was not measured is called that, and nothing is drawn for it.
// T2  The lines of a sub-agent stand below it, on the same axis.

import { Link } from "@tanstack/react-router"
import type { CSSProperties, ReactNode } from "react"
import { useAnswer } from "../../api/questions.ts"
import { StateChip } from "../../parts/chip.tsx"
import { bytes, costText, count, many, percent } from "../../parts/format.ts"
import { JsonText } from "../../parts/structured/json.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, duration } from "../../parts/time.tsx"
import { type Axis, axisOf, labelsOf, millisOf, type Span, spansOf, type Stretch, uncovered } from "./axis.ts"
import { guardedIn, insteadOf, type View } from "./story.ts"
import { Quote, Told } from "./told.tsx"

/** Sub-agents of sub-agents are followed so far. */
const MOST_LEVELS = 4
const CHILD_TICKS = 20

type Model = View["models"][number]
type Tool = View["tools"][number]

/** What a span is made of. */
const ofSpan = ({ models, steps, tools }: View, id: string) => {
  const [kind, n = ""] = id.split("-")
  return {
    model: kind === "model" ? models[Number(n)] : undefined,
    tool: kind === "tool" ? tools[Number(n)] : undefined,
    step: kind === "step" || kind === "agent" ? steps[Number(n)] : undefined
  }
}

// Lane: the line of one span, with the marks and breaks of the axis behind it.

const placed = (left: number, right: number): CSSProperties => ({
  left: `${left * 100}%`,
  width: `${Math.max(0, right - left) * 100}%`
})

const Grid = ({ axis: { breaks, marks } }: { readonly axis: Axis }) => (
  <>
    {marks.map(({ place }) => (
      <span key={place} className="lane-mark" style={{ left: `${place * 100}%` }} />
    ))}
    {breaks.map(({ place, width }) => (
      <span key={place} className="lane-break" style={placed(place, place + width)} />
    ))}
  </>
)

const Bar = ({ axis: { placeOf }, span }: { readonly axis: Axis; readonly span: Span }) => {
  const { firstAt, from, isOpen, kind, name, ok, to } = span
  const begins = `${name}: ${duration(millisOf(span))}, from ${absolute(from)}`
  return (
    <>
      <span
        className="lane-span"
        data-lane={kind}
        data-bad={ok ? undefined : ""}
        data-under-way={isOpen === true ? "" : undefined}
        title={isOpen === true ? `${begins}, and it goes on` : begins}
        style={placed(placeOf(from), placeOf(to))}
      />
      {firstAt === undefined ? null : (
        <span
          className="lane-first"
          data-first-token=""
          title={`the first token after ${duration(firstAt - from)}`}
          style={{ left: `${placeOf(firstAt) * 100}%` }}
        />
      )}
    </>
  )
}

const Stretches = ({ axis: { placeOf }, of }: { readonly axis: Axis; readonly of: ReadonlyArray<Stretch> }) =>
  of.map(({ from, to }) => (
    <span
      key={from}
      className="lane-span"
      data-lane="between"
      title={`between two steps: ${duration(to - from)}`}
      style={placed(placeOf(from), placeOf(to))}
    />
  ))

const Scale = ({ axis: { breaks, marks } }: { readonly axis: Axis }) => (
  <span className="trace-scale" data-axis={marks.length}>
    {labelsOf({ breaks, marks }).map(({ isAtEnd, label, place }) => (
      <span
        key={place}
        className="trace-mark tabular"
        data-at-end={isAtEnd ? "" : undefined}
        style={{ left: `${place * 100}%` }}
      >
        {label}
      </span>
    ))}
    {breaks.map(({ place, says, took, width }) => (
      <span
        key={place}
        className="trace-break"
        data-break={`${says} ${took}`}
        title={`Not to scale: ${says} ${took}`}
        style={placed(place, place + width)}
      >
        <span className="trace-break-words">{says} </span>
        {took}
      </span>
    ))}
  </span>
)

// Figures: what a span took, used and cost.

const tokensOf = (usage: Model["usage"]): ReactNode =>
  usage === undefined ? null : (
    <span
      title={
        usage.cachedInputTokens === undefined || usage.inputTokens === 0
          ? "in and out"
          : `in and out; ${percent(usage.cachedInputTokens / usage.inputTokens)} of the input came from the cache`
      }
    >
      {count(usage.inputTokens)} → {count(usage.outputTokens)}
    </span>
  )

const firstToken = ({ firstTokenMs, ok }: Model): string | undefined =>
  firstTokenMs !== undefined
    ? `first token after ${duration(firstTokenMs)}`
    : ok
      ? "first token not measured"
      : undefined

const Joined = ({ of }: { readonly of: ReadonlyArray<string | undefined> }) => (
  <Visible text={of.filter((each) => each !== undefined && each !== "").join(" · ")} />
)

const saidOfTool = ({ pending, result, resultAt, at }: Tool): ReadonlyArray<string | undefined> =>
  pending === true
    ? ["no result yet"]
    : [
        result === undefined ? undefined : `result ${bytes(new Blob([result]).size)}`,
        resultAt === undefined ? undefined : `it came ${duration(resultAt - at)} later`
      ]

const Said = ({ span, view }: { readonly span: Span; readonly view: View }) => {
  const { model, step, tool } = ofSpan(view, span.id)
  if (model !== undefined) {
    const { earlier = [], finishReason } = model
    return <Joined of={[firstToken(model), finishReason, insteadOf(earlier)]} />
  }
  if (tool !== undefined) return <Joined of={saidOfTool(tool)} />
  if (span.kind === "step" && step !== undefined) return <Joined of={[step.model, insteadOf(step.earlier)]} />
  return span.isOpen === true ? "goes on" : null
}

interface LineProps {
  readonly axis: Axis
  readonly name: ReactNode
  readonly lane: ReactNode
  readonly took: ReactNode
  readonly tokens?: ReactNode
  readonly cost?: ReactNode
  readonly children?: ReactNode
}

const Line = ({ axis, children, cost, lane, name, took, tokens }: LineProps) => (
  <div className="trace-line">
    <span className="trace-name font-mono wrap-anywhere">{name}</span>
    <span className="lane trace-lane" aria-hidden>
      <Grid axis={axis} />
      {lane}
    </span>
    <span className="trace-took tabular text-right">{took}</span>
    <span className="trace-tokens tabular text-right text-ink-2">{tokens}</span>
    <span className="trace-cost tabular text-right text-ink-2">{cost}</span>
    <span className="trace-said text-ink-2 wrap-anywhere">{children}</span>
  </div>
)

const Texts = ({ span, view }: { readonly span: Span; readonly view: View }) => {
  const { model, step, tool } = ofSpan(view, span.id)
  if (tool !== undefined) {
    return (
      <details className="trace-texts">
        <summary>Arguments{tool.result === undefined ? "" : " and result"}</summary>
        <div className="grid gap-2 pt-1.5 lg:grid-cols-2">
          {tool.arguments === undefined ? null : <JsonText text={tool.arguments} label="Arguments" />}
          {tool.result === undefined ? null : <JsonText text={tool.result} label="Result" />}
        </div>
      </details>
    )
  }
  const note = span.kind === "step" ? step?.note : (model?.error ?? model?.text)
  return note === undefined || note === "" ? null : (
    <div className="trace-texts">
      <Quote text={note} />
    </div>
  )
}

const SpanLine = ({ axis, span, view }: { readonly axis: Axis; readonly span: Span; readonly view: View }) => {
  const { model, step } = ofSpan(view, span.id)
  const spent = model ?? (span.kind === "step" ? step : undefined)
  return (
    <Line
      axis={axis}
      name={
        <span title={span.name}>
          <Visible text={span.name} />
        </span>
      }
      lane={<Bar axis={axis} span={span} />}
      took={duration(millisOf(span))}
      tokens={tokensOf(spent?.usage)}
      cost={spent === undefined ? null : costText([spent])}
    >
      {span.ok ? null : <span className="font-medium text-bad">failed </span>}
      <Said span={span} view={view} />
    </Line>
  )
}

/** The time of commits has no measure of its own: what is known is what lies between the steps. */
const Commits = ({ axis, view }: { readonly axis: Axis; readonly view: View }) => {
  const between = uncovered(view)
  const commits = view.to - view.from + 1
  return (
    <li data-span="commits" data-kind="between">
      <Line
        axis={axis}
        name={
          <span title="Between the steps commits are written, prompts assembled, and what comes next is woken">
            commits
          </span>
        }
        lane={<Stretches axis={axis} of={between} />}
        took={duration(between.reduce((sum, { from, to }) => sum + to - from, 0))}
      >
        {many(commits, "commit")}, with all between steps; each alone not measured
      </Line>
    </li>
  )
}

// Agents: the ticks of a sub-agent, on the axis of the tick that created it.

const Agent = ({ axis, id, level }: { readonly axis: Axis; readonly id: string; readonly level: number }) => {
  const { data, isError, isLoading } = useAnswer("GET /v1/assistants/:id/ticks", {
    params: { id },
    query: { limit: CHILD_TICKS }
  })
  if (isLoading)
    return (
      <p className="py-1 text-ink-3" data-loading="">
        Reading what it did…
      </p>
    )
  if (isError || data === undefined) return <p className="py-1 text-ink-2">What it did can not be read.</p>
  const ticks = data.items.filter(({ kind }) => kind === "tick").toReversed()
  return (
    <div className="trace-agent" data-agent={id}>
      {data.next === null ? null : <p className="py-1 text-ink-2">Its last {count(CHILD_TICKS)} rows.</p>}
      {ticks.map((view) => (
        <Lines key={view.from} axis={axis} view={view} level={level} />
      ))}
      <Link to="/a/$id/timeline" params={{ id }} search={{ level: "trace" }} className="text-ink-2">
        Its timeline
      </Link>
    </div>
  )
}

const Lines = ({ axis, level, view }: { readonly axis: Axis; readonly view: View; readonly level: number }) => (
  <ol className="divide-y divide-line" data-trace={view.tick} data-level={level}>
    {spansOf(view).map((span) => (
      <li key={span.id} data-span={span.id} data-kind={span.kind} data-ok={span.ok}>
        <SpanLine axis={axis} span={span} view={view} />
        {span.kind === "agent" && level < MOST_LEVELS ? <Agent axis={axis} id={span.name} level={level + 1} /> : null}
        <Texts span={span} view={view} />
      </li>
    ))}
    <Commits axis={axis} view={view} />
  </ol>
)

/** What hooks did, below the spans of what they guard. */
const Guarded = ({ view }: { readonly view: View }) =>
  view.hooks === undefined ? null : (
    <ol className="space-y-1.5" data-hooks={view.hooks.length}>
      {guardedIn(view).map((sentence, at) => (
        <Told key={at} since={view.beganAt} sentence={sentence} />
      ))}
    </ol>
  )

export const Trace = ({ view }: { readonly view: View }) => {
  const axis = axisOf(view)
  return (
    <div className="space-y-2">
      {view.text === undefined ? null : <Quote text={view.text} />}
      <div>
        <div className="trace-line trace-head" data-columns="trace">
          <span className="trace-name">Span</span>
          <Scale axis={axis} />
          <span className="trace-took text-right">Took</span>
          <span className="trace-tokens text-right">Tokens in → out</span>
          <span className="trace-cost text-right">Cost</span>
          <span className="trace-said">Remarks</span>
        </div>
        <Lines axis={axis} view={view} level={0} />
      </div>
      <Guarded view={view} />
      <p className="flex flex-wrap items-center gap-1.5" data-states={view.states.length}>
        <span className="label">States</span>
        {view.states.map(({ state }, at) => (
          <StateChip key={at} path={state} />
        ))}
      </p>
      {view.reply === undefined || view.reply === "" ? null : <Quote text={view.reply} />}
    </div>
  )
}
