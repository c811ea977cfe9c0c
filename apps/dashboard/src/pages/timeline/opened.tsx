// Opened: a row that is open, at either level. A tick is asked for again, for in the list its long texts are cut.

import { Link } from "@tanstack/react-router"
import { useAnswer } from "../../api/questions.ts"
import { Attachments } from "../live/attachments.tsx"
import type { Level } from "./search.ts"
import type { View } from "./story.ts"
import { Story } from "./told.tsx"
import { Trace } from "./trace.tsx"

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
          <Link to="/a/$id/fork/$tick" params={{ id, tick: String(tick) }}>
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
