// Opened: a row that is open, at either level. A tick is asked for again, for in the list its long texts are cut.

import { Link } from "@tanstack/react-router"
import { useAnswer } from "../../api/questions.ts"
import { StateChip } from "../../parts/chip.tsx"
import { bytes, costText, count, percent } from "../../parts/format.ts"
import { JsonText } from "../../parts/json.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { absolute, duration, timeOfDay } from "../../parts/time.tsx"
import { guardedIn, insteadOf, type Sentence, type Span, spansOf, storyOf, type View } from "./story.ts"
import type { Level } from "./search.ts"
import { Attachments } from "../live/attachments.tsx"

/** Texts shorter than this stand in the open. */
const SHORT_CHARS = 600

const Quote = ({ text }: { readonly text: string }) =>
  text.length <= SHORT_CHARS ? (
    <p className="story-quote">
      <Visible text={text} />
    </p>
  ) : (
    <TextView text={text} />
  )

const Told = ({ sentence: { at, kind, quote, says } }: { readonly sentence: Sentence }) => (
  <li className="story-line" data-sentence={kind}>
    <time className="tabular text-ink-3" dateTime={new Date(at).toISOString()} title={absolute(at)}>
      {timeOfDay(at)}
    </time>
    <div className="min-w-0">
      <p>
        <Visible text={says} />
        {quote === undefined ? "." : ":"}
      </p>
      {quote === undefined ? null : <Quote text={quote} />}
    </div>
  </li>
)

const Story = ({ view }: { readonly view: View }) => (
  <ol className="space-y-1.5" data-story={view.tick}>
    {storyOf(view).map((sentence, at) => (
      <Told key={at} sentence={sentence} />
    ))}
  </ol>
)

const Figures = ({ span, view }: { readonly span: Span; readonly view: View }) => {
  const [kind, n = ""] = span.id.split("-")
  if (kind === "model") {
    const call = view.models[Number(n)]
    const { earlier = [], finishReason, usage } = call ?? {}
    const cost = call === undefined ? "" : costText([call])
    const cached = usage?.cachedInputTokens
    return (
      <>
        {usage === undefined ? "" : `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out`}
        {cached === undefined || usage === undefined || usage.inputTokens === 0
          ? ""
          : `, ${percent(cached / usage.inputTokens)} cached`}
        {cost === "" ? "" : ` · ${cost}`}
        {finishReason === undefined ? null : (
          <>
            {" · "}
            <Visible text={finishReason} />
          </>
        )}
        {earlier.length === 0 ? null : (
          <>
            {" · "}
            <Visible text={insteadOf(earlier)} />
          </>
        )}
      </>
    )
  }
  const run = kind === "tool" ? view.tools[Number(n)] : undefined
  if (run?.pending === true) return "waits"
  return run?.result === undefined ? null : `result ${bytes(new Blob([run.result]).size)}`
}

const Texts = ({ span, view }: { readonly span: Span; readonly view: View }) => {
  const [kind, n = ""] = span.id.split("-")
  const model = kind === "model" ? view.models[Number(n)] : undefined
  const run = kind === "tool" ? view.tools[Number(n)] : undefined
  const note = kind === "step" ? view.steps[Number(n)]?.note : (model?.error ?? model?.text)
  if (run !== undefined) {
    return (
      <details className="trace-texts">
        <summary>Arguments{run.result === undefined ? "" : " and result"}</summary>
        <div className="grid gap-2 pt-1.5 lg:grid-cols-2">
          {run.arguments === undefined ? null : <JsonText text={run.arguments} label="Arguments" />}
          {run.result === undefined ? null : <JsonText text={run.result} label="Result" />}
        </div>
      </details>
    )
  }
  if (note === undefined || note === "") return null
  return (
    <div className="trace-texts">
      <Quote text={note} />
    </div>
  )
}

const TraceLine = ({ span, view }: { readonly span: Span; readonly view: View }) => (
  <li data-span={span.id} data-kind={span.kind} data-ok={span.ok}>
    <div className="trace-line">
      <span className="truncate font-mono" title={span.name}>
        <Visible text={span.name} />
      </span>
      <Lane spans={[span]} />
      <span className="tabular text-right">{duration(span.millis)}</span>
      <span className="truncate text-ink-2">
        {span.ok ? null : <span className="font-medium text-bad">failed </span>}
        <Figures span={span} view={view} />
      </span>
    </div>
    <Texts span={span} view={view} />
  </li>
)

/** What took how long, on the line of its row. */
export const Lane = ({ spans }: { readonly spans: ReadonlyArray<Span> }) => (
  <span className="lane" aria-hidden>
    {spans.map(({ from, id, kind, millis, name, ok, to }) => (
      <span
        key={id}
        className="lane-span"
        data-lane={kind}
        {...(ok ? {} : { "data-bad": "" })}
        title={`${name}: ${duration(millis)}`}
        style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
      />
    ))}
  </span>
)

/** What hooks did, below the spans of what they guard. */
const Guarded = ({ view }: { readonly view: View }) =>
  view.hooks === undefined ? null : (
    <ol className="space-y-1.5" data-hooks={view.hooks.length}>
      {guardedIn(view).map((sentence, at) => (
        <Told key={at} sentence={sentence} />
      ))}
    </ol>
  )

const Trace = ({ view }: { readonly view: View }) => (
  <div className="space-y-2">
    {view.text === undefined ? null : <Quote text={view.text} />}
    <ol className="divide-y divide-line" data-trace={view.tick}>
      {spansOf(view).map((span) => (
        <TraceLine key={span.id} span={span} view={view} />
      ))}
    </ol>
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

const Ways = ({ id, view }: { readonly id: string; readonly view: View }) => {
  const { from, kind, models, tick, to } = view
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 pt-2 text-ink-2">
      {models.length === 0 ? null : (
        <Link to="/a/$id/context" params={{ id }} search={{ tick }}>
          What the model was shown
        </Link>
      )}
      <Link to="/a/$id/replay" params={{ id }} search={{ from, at: from }}>
        Replay from here
      </Link>
      {kind === "tick" ? (
        <>
          <Link to="/a/$id/replay" params={{ id }} search={{ fork: tick }}>
            Fork it
          </Link>
          <Link to="/a/$id/timeline" params={{ id }} search={{ tick }} data-link-tick={tick}>
            Link to it
          </Link>
        </>
      ) : null}
      <span className="tabular">
        events {from} to {to}
      </span>
    </p>
  )
}

export const Opened = ({ id, level, view }: { readonly id: string; readonly view: View; readonly level: Level }) => {
  const isTick = view.kind === "tick"
  const whole = useAnswer(
    "GET /v1/assistants/:id/ticks/:tick",
    { params: { id, tick: view.tick } },
    { enabled: isTick }
  )
  const shown = isTick && whole.data?.from === view.from ? whole.data : view
  return (
    <div className="timeline-opened" data-opened={view.from} {...(whole.isLoading ? { "data-loading": "" } : {})}>
      {level === "story" ? <Story view={shown} /> : <Trace view={shown} />}
      <Attachments parts={shown.parts} />
      <Ways id={id} view={shown} />
    </div>
  )
}
