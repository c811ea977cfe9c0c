// Range: which frames are reported, and where it stops.

import { whole } from "../../shell/search.ts"
import { activeStates } from "../../parts/activity.ts"
import type { ReplaySearch } from "../../shell/search.ts"

export const FRAMES = 100
const MAX_FRAMES = 500

const events = [
  "message",
  "timer",
  "sleep",
  "compact",
  "wake",
  "approval",
  "report",
  "halt",
  "resume",
  "refresh",
  "remind",
  "retire",
  "delegate"
]

interface RangeProps {
  readonly search: ReplaySearch
  readonly from: number
  /** Events that came in the range that is shown: those that one may want to stop at. */
  readonly seen: ReadonlyArray<string>
  readonly onChange: (next: ReplaySearch) => void
}

const Field = ({
  label,
  list,
  name,
  value,
  wide
}: {
  label: string
  name: string
  value: string
  wide?: boolean
  list?: string
}) => (
  <label className="flex items-center gap-2 whitespace-nowrap text-ink-2">
    {label}
    <input
      key={value}
      className={`field ${wide === true ? "w-48" : "w-20"}`}
      name={name}
      defaultValue={value}
      maxLength={200}
      autoComplete="off"
      {...(list === undefined ? { inputMode: "numeric" as const } : { list, placeholder: "none" })}
    />
  </label>
)

const written = (form: FormData, name: string): string | undefined => {
  const value = form.get(name)
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

export const Range = ({ from, onChange, search, seen }: RangeProps) => {
  const { event, limit = FRAMES, state } = search
  return (
    <form
      className="flex flex-wrap items-center gap-x-3 gap-y-2"
      data-range=""
      onSubmit={(submitted) => {
        submitted.preventDefault()
        const form = new FormData(submitted.currentTarget)
        const number = whole(written(form, "limit")) ?? FRAMES
        onChange({
          from: Math.max(1, whole(written(form, "from")) ?? 1),
          limit: number === FRAMES ? undefined : Math.min(MAX_FRAMES, Math.max(1, number)),
          state: written(form, "state"),
          event: written(form, "event"),
          at: undefined
        })
      }}
    >
      <Field label="from event" name="from" value={String(from)} />
      <Field label="events" name="limit" value={String(limit)} />
      <Field label="stop at state" name="state" value={state ?? ""} list="replay-states" wide />
      <Field label="or event" name="event" value={event ?? ""} list="replay-events" wide />
      <datalist id="replay-states">
        {activeStates.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <datalist id="replay-events">
        {[...new Set([...events, ...seen])].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button type="submit" className="button" data-run="">
        Replay
      </button>
    </form>
  )
}
