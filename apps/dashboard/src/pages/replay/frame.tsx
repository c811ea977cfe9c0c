// OpenFrame: one commit: why it came, what the chart asked for, and what it kept that it had not kept before.

import type { Frame } from "@reverie/server/api"
import { Fragment, type ReactNode } from "react"
import { useAnswer } from "../../api/questions.ts"
import { Chip, StateChip } from "../../parts/chip.tsx"
import { DiffView } from "../../parts/structured/diff-view.tsx"
import { bytes } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute } from "../../parts/time.tsx"

const FOREVER_MILLIS = 600_000

/** What was kept after it, held against what was kept after the one before. */
const Kept = ({ id, no }: { readonly id: string; readonly no: number }) => {
  const two = useAnswer(
    "GET /v1/assistants/:id/replay",
    { params: { id }, query: { from: Math.max(1, no - 1), limit: no > 1 ? 2 : 1, snapshots: "true" } },
    { staleMillis: FOREVER_MILLIS, keep: true }
  )
  const text = (frame: Frame | undefined): string =>
    frame?.snapshot === undefined ? "" : JSON.stringify(frame.snapshot, null, 2)
  return (
    <Answered of={two} lines={6}>
      {({ items }) => {
        const [before, after] = [no - 1, no].map((each) => items.find((frame) => frame.no === each))
        if (after?.snapshot === undefined) return <p className="text-ink-2">What it kept is not reported.</p>
        return (
          <div className="space-y-2" data-kept={no}>
            <DiffView before={text(before)} after={text(after)} label={`What event ${no} changed in the snapshot`} />
            <details>
              <summary>The whole snapshot</summary>
              <div className="pt-2">
                <JsonView value={after.snapshot} label={`Snapshot after event ${no}`} />
              </div>
            </details>
          </div>
        )
      }}
    </Answered>
  )
}

const pairsOf = ({
  after,
  at,
  before,
  bytes: size,
  cause,
  commands,
  event,
  hash,
  iteration,
  step,
  tick
}: Frame): ReadonlyArray<readonly [string, ReactNode]> => [
  ["When", `${absolute(at)}, run ${tick}${iteration === 0 ? "" : `, model call ${iteration}`}`],
  ["Cause", <Visible key="cause" text={cause} />],
  ["Name", event === "" ? "the chart was not asked" : <Visible key="event" text={event} />],
  [
    "State",
    <span key="state" className="flex flex-wrap items-center gap-2" data-before={before} data-after={after}>
      <StateChip path={before} /> → <StateChip path={after} />
    </span>
  ],
  [
    "Commands",
    commands.length === 0 ? (
      "none"
    ) : (
      <ul key="commands" data-commands={commands.length}>
        {commands.map((command, n) => (
          <li key={n} className="font-mono text-[0.893rem]">
            <Visible text={command} />
          </li>
        ))}
      </ul>
    )
  ],
  ...(step === undefined
    ? []
    : ([
        [
          "Step",
          <span key="step" className="flex items-center gap-2">
            <Visible text={`${step.kind} ${step.name}`} />
            {step.ok ? <Chip tone="good" text="done" /> : <Chip tone="bad" text="failed" />}
          </span>
        ]
      ] as const)),
  [
    "Snapshot",
    <span key="hash">
      {bytes(size)}, <code title={hash}>{hash.slice(0, 16)}</code>
    </span>
  ]
]

export const OpenFrame = ({ frame, id }: { readonly frame: Frame; readonly id: string }) => (
  <Section title={`Event ${frame.no}`} className="overflow-hidden">
    <dl className="pairs p-3" data-open-frame={frame.no}>
      {pairsOf(frame).map(([title, value]) => (
        <Fragment key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
    <div className="border-t border-line p-3">
      <h3 className="pb-1.5 text-ink-2">What it changed in the snapshot</h3>
      <Kept id={id} no={frame.no} />
    </div>
  </Section>
)
