// Filters: which rows are shown, and how they are told.

import { SearchField } from "../../parts/search-field.tsx"
import type { View } from "./rows.ts"
import { kinds, levels, outcomes, type TimelineSearch } from "./search.ts"

const kindNames: Readonly<Record<(typeof kinds)[number], string>> = {
  tick: "ticks",
  dream: "dreams",
  compaction: "compactions",
  order: "orders"
}

const textsOf = ({ reply, sender, text, tools }: View): ReadonlyArray<string | undefined> => [
  sender,
  text,
  reply,
  ...tools.flatMap((run) => [run.tool, run.arguments, run.result])
]

/** Whether a row is one of those that are looked for. */
export const isMeant = ({ kind, outcome, q }: TimelineSearch): ((view: View) => boolean) => {
  const words = q?.toLowerCase()
  return (view) =>
    (kind === undefined || view.kind === kind) &&
    (outcome === undefined || (view.outcome ?? (view.kind === "tick" ? "open" : "")) === outcome) &&
    (words === undefined || textsOf(view).some((text) => text?.toLowerCase().includes(words) === true))
}

export const isFiltered = ({ kind, outcome, q }: TimelineSearch): boolean =>
  kind !== undefined || outcome !== undefined || q !== undefined

const lanes = [
  ["wait", "queue"],
  ["model", "model"],
  ["tool", "tools"],
  ["step", "other steps"]
] as const

const Legend = () => (
  <span className="ml-auto flex items-center gap-3 text-ink-2 max-xl:hidden" data-legend="">
    {lanes.map(([lane, name]) => (
      <span key={lane} className="flex items-center gap-1.5">
        <span className="lane w-5" aria-hidden>
          <span className="lane-span inset-x-0" data-lane={lane} />
        </span>
        {name}
      </span>
    ))}
  </span>
)

interface FiltersProps {
  readonly search: TimelineSearch
  readonly onChange: (next: TimelineSearch) => void
}

const Pick = <Each extends string>({
  all,
  label,
  names,
  onPick,
  value
}: {
  readonly label: string
  readonly all: ReadonlyArray<Each>
  readonly names?: Readonly<Record<Each, string>>
  readonly value: Each | undefined
  readonly onPick: (value: Each | undefined) => void
}) => (
  <select
    className="field"
    aria-label={label}
    value={value ?? ""}
    data-filter={label}
    onChange={({ target }) => onPick(all.find((each) => each === target.value))}
  >
    <option value="">any {label}</option>
    {all.map((each) => (
      <option key={each} value={each}>
        {names?.[each] ?? each}
      </option>
    ))}
  </select>
)

export const Filters = ({ onChange, search }: FiltersProps) => {
  const { all, kind, level = "story", outcome, q } = search
  return (
    <div className="flex flex-1 flex-wrap items-center gap-2">
      <div className="segmented" role="group" aria-label="How it is told" title="v changes between the two">
        {levels.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === level}
            onClick={() => onChange({ level: each === "story" ? undefined : each })}
            data-level={each}
          >
            {each === "story" ? "Story" : "Trace"}
          </button>
        ))}
      </div>
      <SearchField label="Search what has come" value={q} onSearch={(words) => onChange({ q: words })} />
      <Pick label="kind" all={kinds} names={kindNames} value={kind} onPick={(picked) => onChange({ kind: picked })} />
      <Pick label="outcome" all={outcomes} value={outcome} onPick={(picked) => onChange({ outcome: picked })} />
      {level === "trace" ? <Legend /> : null}
      <button
        type="button"
        className={`button button-small ${level === "trace" ? "max-xl:ml-auto" : "ml-auto"}`}
        aria-pressed={all === true}
        title="e opens or closes them all"
        onClick={() => onChange({ all: all === true ? undefined : true, open: undefined })}
        data-expand-all=""
      >
        {all === true ? "Close all" : "Open all"}
      </button>
    </div>
  )
}
