// Live: one assistant as it is at this moment.

import type { AssistantDetail } from "@reverie/server/api"
import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import { useEffect } from "react"
import { troubleOf } from "../../api/client.ts"
import { useAnswer } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { activityOf, isTagged } from "../../parts/activity.ts"
import { StateChip, toneOfActivity } from "../../parts/chip.tsx"
import { count, percent, serversIn, spentText, tokens } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { Answered, Failed, isReady, Loading } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago, duration, Since, timeOfDay } from "../../parts/time.tsx"
import { Chart } from "./chart.tsx"
import { Conversation } from "./conversation.tsx"
import { InHand, Log, Mailbox } from "./in-hand.tsx"
import { type Turn, useTurn } from "./turn.ts"
import { useOrder, verbsFor } from "../../parts/dialogs/order.tsx"

// Orders: the buttons for what the present state accepts, and no others.

const Orders = ({ detail }: { readonly detail: AssistantDetail }) => {
  const { asked, give, question, ...order } = useOrder(detail.id)
  return (
    <div
      className="flex flex-wrap items-center gap-1.5"
      role="toolbar"
      aria-label="Actions"
      data-accepts={detail.accepts.join(" ")}
    >
      {order.error === null ? null : <Failed trouble={order.error} />}
      {verbsFor(detail.accepts).map((verb) => (
        <Action
          key={verb.order}

          className={`button button-small ${verb.order === "retire" ? "button-danger" : ""}`}
          data-order={verb.order}
          disabled={order.isPending}
          onClick={() => give(verb)}
        >
          {verb.title}
        </Action>
      ))}
      {asked === undefined ? null : question}
    </div>
  )
}

const route = getRouteApi("/a/$id/")

// Modes: what it can be doing, in a strip, the present one lit; how long it was in each of the last hour.

const modes: ReadonlyArray<readonly [activity: string, title: string]> = [
  ["idle", "Idle"],
  ["thinking", "Thinking"],
  ["acting", "Acting"],
  ["awaitingApproval", "Waiting for you"],
  ["dreaming", "Dreaming"],
  ["compacting", "Compacting"],
  ["halted", "Halted"]
]

/** Hundreds of entries are read for it. */
const MODES_MILLIS = 30_000

interface ModesProps {
  readonly id: string
  readonly state: string
  readonly since: number
}

const Modes = ({ id, since, state }: ModesProps) => {
  const present = activityOf(state)
  const { data } = useAnswer("GET /v1/assistants/:id/modes", { params: { id } }, { everyMillis: MODES_MILLIS })
  const lasted = (activity: string): number => data?.millis[activity] ?? 0
  return (
    <ol className="modes" aria-label="Modes" data-modes={present}>
      {modes.map(([activity, title]) => (
        <li
          key={activity}
          className="mode"
          data-tone={toneOfActivity(activity)}
          aria-current={activity === present ? "true" : undefined}
        >
          {title}
          {activity === present && since > 0 ? (
            <span className="tabular">
              {" "}
              <Since at={since} />
            </span>
          ) : lasted(activity) > 0 ? (
            <span
              className="tabular"
              title={`of the last hour, since ${timeOfDay(data?.from ?? 0)}`}
              data-lasted={activity}
            >
              {" "}
              {duration(lasted(activity))}
            </span>
          ) : null}
        </li>
      ))}
    </ol>
  )
}

const Facts = ({ detail }: { readonly detail: AssistantDetail }) => {
  const { commits, contextShare, day, definition, iteration, state, tick } = detail
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["definition", definition],
    ["run", iteration === 0 || !isTagged(state, "inTick") ? count(tick) : `${count(tick)}, call ${count(iteration)}`],
    ["events", count(commits)],
    ...(contextShare === undefined ? [] : [["context", percent(contextShare)] as const]),
    ["24 h", `${tokens(day.tokens)} tokens, ${spentText(day)}`]
  ]
  return (
    <dl className="flex flex-wrap items-baseline gap-x-5 gap-y-1" data-facts="">
      {facts.map(([title, value]) => (
        <div key={title} className="flex items-baseline gap-1.5">
          <dt className="label">{title}</dt>
          <dd className="tabular">
            <Visible text={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface TroubleNow {
  readonly kind: "halt" | "away" | "error"
  readonly title: string
  readonly said: string
}

/** What lasts comes before what was. */
const troubleIn = ({ haltReason, lastError, outage }: AssistantDetail): TroubleNow | undefined => {
  if (haltReason !== undefined) return { kind: "halt", title: "Halted", said: haltReason }
  if (outage !== undefined) {
    const said = `${serversIn(outage)} has not answered in ${count(outage.tries)} tries: ${outage.reason}`
    return { kind: "away", title: "Waits for its model", said }
  }
  return lastError === undefined ? undefined : { kind: "error", title: "Last error", said: lastError.message }
}

const Trouble = ({ detail }: { readonly detail: AssistantDetail }) => {
  const { lastError, outage } = detail
  const trouble = troubleIn(detail)
  if (trouble === undefined) return null
  const { kind, said, title } = trouble
  return (
    <div className="notice" data-tone={kind === "halt" ? "bad" : "waiting"} data-trouble={kind}>
      <strong className={kind === "halt" ? "text-bad" : "text-warn"}>{title}</strong>
      <span className="min-w-0 flex-1">
        <Visible text={said} />
      </span>
      {kind === "away" && outage !== undefined ? (
        <span className="text-ink-2">
          for <Since at={outage.since} />,{" "}
          {outage.nextTry === undefined ? (
            "being tried now"
          ) : (
            <>
              tried again <Ago at={outage.nextTry} />
            </>
          )}
        </span>
      ) : lastError === undefined ? null : (
        <span className="text-ink-2">
          <Since at={lastError.at} /> ago
        </span>
      )}
    </div>
  )
}

const Body = ({ detail, turn }: { readonly detail: AssistantDetail; readonly turn: Turn }) => {
  const { view } = route.useSearch()
  const navigate = route.useNavigate()
  const query = view === "whole" ? { view: "overview" as const } : {}
  const machine = useAnswer("GET /v1/machine", { query }, { staleMillis: Number.POSITIVE_INFINITY })
  const { accepts, id, mode, tick, waiting } = detail
  const chart = (
    <section
      className={`card relative overflow-hidden ${view === undefined ? "h-64 flex-none" : "min-h-96 flex-1"}`}
      aria-label="Statechart"
    >
      <Answered of={machine} lines={8}>
        {(known) => (
          <Chart
            machine={known}
            state={turn.state ?? detail.state}
            last={turn.last}
            view={view ?? "near"}
            onView={(next) => void navigate({ search: { view: next === "near" ? undefined : next }, replace: true })}
          />
        )}
      </Answered>
    </section>
  )
  if (view !== undefined) return chart
  return (
    <div
      data-stacked=""
      className="grid min-h-0 flex-1 grid-cols-[minmax(0,1.7fr)_minmax(20rem,1fr)] gap-3 max-lg:grid-cols-1"
    >
      <Conversation id={id} accepts={accepts} mode={mode} tick={tick} writing={turn.writing} />
      <div className="flex min-h-0 flex-col gap-3 overflow-auto">
        {chart}
        <InHand detail={detail} />
        <Mailbox id={id} waiting={waiting} />
        <Log lines={turn.log} />
      </div>
    </div>
  )
}

const LivePage = () => {
  const { id } = route.useParams()
  const inspected = useAnswer("GET /v1/assistants/:id", { params: { id } })
  const [turn, tellState] = useTurn(id)
  const { data: detail } = inspected
  // What was missed of the stream is read; what was read before the last notice is older than it.
  useEffect(() => {
    if (detail !== undefined) tellState(detail)
  }, [detail])
  const state = turn.state ?? detail?.state
  return (
    <Page
      name="live"
      title={id}
      ready={isReady(inspected)}
      fill
      side={
        detail === undefined ? null : (
          <>
            <span className="flex items-center gap-2 text-ink-2" data-now={state}>
              <StateChip path={state ?? detail.state} /> for <Since at={detail.since} />
            </span>
            <div className="ml-auto">
              <Orders detail={detail} />
            </div>
          </>
        )
      }
    >
      {inspected.error === null ? null : (
        <Failed trouble={troubleOf(inspected.error)} onRetry={() => void inspected.refetch()} />
      )}
      {detail === undefined ? (
        inspected.error === null ? (
          <Loading lines={10} />
        ) : null
      ) : (
        <>
          <Modes id={id} since={detail.since} state={state ?? detail.state} />
          <Facts detail={detail} />
          <Trouble detail={detail} />
          <Body detail={detail} turn={turn} />
        </>
      )}
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/")({ component: LivePage })
