// Row: a tick, a dream, a compaction or an order in one line; open, everything of it below.

import { senderName } from "@reverie/protocol/spoken"
import { memo, type ReactNode } from "react"
import { Chip, type Tone, wordsOf } from "../../parts/chip.tsx"
import { costText, many, tokens } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago, duration } from "../../parts/time.tsx"
import { lastOf, reachOf, scaleMarks, totalKinds, totalsOf } from "./axis.ts"
import { Opened } from "./opened.tsx"
import { stepName, type View } from "./story.ts"
import { type Level, outcomeNames } from "./search.ts"

const tones: Readonly<Record<string, Tone>> = {
  answered: "good",
  terminal: "good",
  noted: "retired",
  slept: "dreaming",
  "max-iterations": "waiting",
  cut: "waiting",
  stopped: "waiting",
  misshapen: "bad",
  refused: "bad",
  failed: "bad"
}

const Outcome = ({ view: { kind, outcome } }: { readonly view: View }) => {
  if (kind === "dream") return <Chip tone="dreaming" text="dream" />
  if (kind === "compaction") return <Chip tone="compacting" text="compaction" />
  if (kind === "order") return <Chip tone="idle" text="order" />
  return outcome === undefined ? (
    <Chip tone="thinking" text={outcomeNames.open} />
  ) : (
    <Chip tone={tones[outcome] ?? "idle"} text={outcomeNames[outcome] ?? outcome} />
  )
}

/** Of an order without words, what it led to. */
const Led = ({ to: { state } }: { readonly to: View["states"][number] }) => (
  <span className="text-ink-2">→ {wordsOf(state).join(" ")}</span>
)

const Gist = ({ view: { kind, reply, sender, states, steps, text } }: { readonly view: View }): ReactNode => (
  <>
    {sender === undefined ? null : (
      <span className="font-semibold">
        <Visible text={senderName(sender)} />{" "}
      </span>
    )}
    {text === undefined ? null : <Visible text={text.slice(0, 300)} />}
    {text === undefined && steps.length > 0 ? <Visible text={[...new Set(steps.map(stepName))].join(", ")} /> : null}
    {kind === "order" && text === undefined ? states.slice(-1).map((last) => <Led key={last.at} to={last} />) : null}
    {reply === undefined || reply === "" ? null : (
      <span className="text-ink-2">
        {" → "}
        <Visible text={reply.slice(0, 300)} />
      </span>
    )}
  </>
)

const sum = (values: ReadonlyArray<number | undefined>): number =>
  values.reduce<number>((all, each) => all + (each ?? 0), 0)

interface RowProps {
  readonly id: string
  readonly view: View
  readonly level: Level
  readonly isOpen: boolean
  readonly isCurrent: boolean
  readonly onToggle: (from: number) => void
}

const Spent = ({ view: { models, tools } }: { readonly view: View }) => {
  const used = sum(models.map(({ usage }) => (usage === undefined ? 0 : usage.inputTokens + usage.outputTokens)))
  return (
    <>
      <span className="timeline-number max-lg:hidden" title="Tools that were asked for">
        {tools.length === 0 ? "" : many(tools.length, "tool")}
      </span>
      <span className="timeline-number max-md:hidden" title="Tokens in and out">
        {used === 0 ? "" : tokens(used)}
      </span>
      <span className="timeline-number max-lg:hidden" title="Cost">
        {costText(models)}
      </span>
    </>
  )
}

/** How long each kind of work and waiting lasted, on the scale that all rows share. */
const Totals = ({ view }: { readonly view: View }) => {
  const totals = totalsOf(view)
  return (
    <span className="durations" data-totals={totals.length}>
      {scaleMarks.map(([, millis]) => (
        <span key={millis} className="lane-mark" style={{ left: `${reachOf(millis) * 100}%` }} />
      ))}
      {totals.map(({ kind, millis, name }) => (
        <span
          key={kind}
          className="duration-bar"
          data-lane={kind}
          data-millis={millis}
          title={`${name}: ${duration(millis)}`}
          style={{ width: `${reachOf(millis) * 100}%` }}
        />
      ))}
      <span className="sr-only">{totals.map(({ millis, name }) => `${name} ${duration(millis)}`).join(", ")}</span>
    </span>
  )
}

const Legend = () => (
  <span className="flex flex-wrap items-center gap-x-3" data-legend="">
    {totalKinds.map(([kind, name]) => (
      <span key={kind} className="flex items-center gap-1 whitespace-nowrap">
        <span className="lane-span legend-patch" data-lane={kind} aria-hidden />
        {name}
      </span>
    ))}
  </span>
)

/** What stands in which column, above the rows of the list. */
export const Heads = ({ level }: { readonly level: Level }) => (
  <div className="timeline-heads" data-columns={level}>
    {level === "trace" ? (
      <p className="timeline-scale-words">
        <Legend />
        <span>how long each lasted in all; logarithmic, the same scale in every row</span>
      </p>
    ) : null}
    <div className="timeline-line">
      <span title="The number of the run">#</span>
      <span className="truncate">Kind or outcome</span>
      <span className="truncate">What came, and what was answered</span>
      {level === "trace" ? (
        <span className="durations-scale">
          {scaleMarks.map(([label, millis]) => (
            <span key={millis} style={{ left: `${reachOf(millis) * 100}%` }}>
              {label}
            </span>
          ))}
        </span>
      ) : null}
      <span className="timeline-number" title="From when it was taken up to its end">
        Took
      </span>
      <span className="timeline-number max-lg:hidden">Tools</span>
      <span className="timeline-number max-md:hidden" title="In and out">
        Tokens
      </span>
      <span className="timeline-number max-lg:hidden">Cost</span>
      <span className="timeline-number">When</span>
    </div>
  </div>
)

const Line = ({ id, isCurrent, isOpen, level, onToggle, view }: RowProps) => {
  const { beganAt, from, kind, outcome, tick } = view
  return (
    <div
      className="timeline-row"
      data-view={from}
      data-kind={kind}
      data-tick={tick}
      data-outcome={outcome ?? "open"}
      {...(isOpen ? { "data-open": "" } : {})}
      {...(isCurrent ? { "data-current": "" } : {})}
    >
      <button
        type="button"
        tabIndex={-1}
        className="timeline-line"
        aria-expanded={isOpen}
        onClick={() => onToggle(from)}
        data-toggle={from}
      >
        <span className="tabular font-mono text-ink-2">{kind === "tick" ? tick : "·"}</span>
        <span className="min-w-0">
          <Outcome view={view} />
        </span>
        <span className="truncate text-left">
          <Gist view={view} />
        </span>
        {level === "trace" ? <Totals view={view} /> : null}
        <span className="timeline-number">{duration(lastOf(view) - beganAt)}</span>
        <Spent view={view} />
        <span className="timeline-number text-ink-2" title={absolute(beganAt)}>
          <Ago at={beganAt} />
        </span>
      </button>
      {isOpen ? <Opened id={id} view={view} level={level} /> : null}
    </div>
  )
}

export const Row = memo(Line)
