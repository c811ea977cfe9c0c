// Messages: what was said lately, a turn at a time.
// Owns how a message, a call with its result, and the way to its reasons are shown.
// M1  A call and its result are one line, wherever both are here; what has no words, no call and no file is not shown.
// M2  What a model says is read as Markdown, what anyone else says is shown as it is.
// M3  Under each answer stand the ways to why it was given: its trace, what the model was shown, the same with something changed.
// M4  What a person said can be written anew: as it stands, or changed first. It is a message of its own either way.
// M5  A tool that ended a turn gave its answer: that stands as the words of the assistant, with the ways to its reasons.
// M6  A call has failed when it ran and failed: one that waits has not.

import { senderName, withoutJson } from "@reverie/protocol/spoken"
import type { MessageView, TickView } from "@reverie/server/api"
import { Link } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { useAnswer } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { costText, tokens } from "../../parts/format.ts"
import { JsonText } from "../../parts/structured/json.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago, duration } from "../../parts/time.tsx"
import { Attachments } from "./attachments.tsx"

const Markdown = lazy(() => import("./markdown.tsx").then((module) => ({ default: module.Markdown })))

/** What plain words do not have; an answer without it needs no Markdown. */
const marks = /[*_`#[\]|~>]|^\s*(?:[-+]|\d+[.)])\s|\w:\/\/|^-{3}/m

/** Plain until the reader of Markdown is there. */
const SaidText = ({ isRead, text }: { readonly text: string; readonly isRead: boolean }) => {
  const plain = (
    <p className="said-text">
      <Visible text={text} />
    </p>
  )
  return isRead && marks.test(text) ? (
    <Suspense fallback={plain}>
      <Markdown text={text} />
    </Suspense>
  ) : (
    plain
  )
}

/** Turns that the messages shown may belong to. */
const LAST_TICKS = 30

type CallOf = NonNullable<MessageView["calls"]>[number]

interface UsedProps {
  readonly call: CallOf
  readonly result: MessageView | undefined
  readonly run: TickView["tools"][number] | undefined
  /** The result stands below it as the answer. */
  readonly isAnswer: boolean
}

const Used = ({ call, isAnswer, result, run }: UsedProps) => {
  const isOk = run === undefined || run.pending === true || run.ok
  return (
    <details className="said-more" data-call={call.id}>
      <summary className="truncate">
        {result === undefined ? "calls" : "used"} <code>{call.tool}</code>
        {run === undefined || run.pending === true ? null : (
          <span className="label tabular"> {duration(run.elapsedMs)}</span>
        )}
        {isOk ? null : <span className="text-bad"> failed</span>}
        {result === undefined || isAnswer ? null : (
          <span className="text-ink-3">
            {" "}
            <Visible text={withoutJson(result.content).slice(0, 120)} />
          </span>
        )}
      </summary>
      <JsonText text={call.arguments} label={`Arguments of ${call.tool}`} />
      {result === undefined ? null : <JsonText text={result.content} label={`Result of ${call.tool}`} />}
    </details>
  )
}

/** What a turn took, and where its reasons stand. */
const Why = ({ id, tick: view }: { readonly id: string; readonly tick: TickView }) => {
  const { beganAt, endedAt, models, tick } = view
  const used = models.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), 0)
  const cost = costText(models)
  return (
    <footer className="label flex flex-wrap gap-x-3" data-why={tick}>
      <Link to="/a/$id/timeline" params={{ id }} search={{ tick, level: "trace" }}>
        trace
      </Link>
      <Link to="/a/$id/context" params={{ id }} search={{ tick }}>
        what the model was shown
      </Link>
      <Link to="/a/$id/fork/$tick" params={{ id, tick: String(tick) }}>
        fork
      </Link>
      <span className="tabular">
        {[
          ...(endedAt === undefined ? [] : [duration(endedAt - beganAt)]),
          ...(used === 0 ? [] : [`${tokens(used)} tokens`]),
          ...(cost === "" ? [] : [cost])
        ].join(", ")}
      </span>
    </footer>
  )
}

/** What is done with words that were said before: sent again, or put into the field to be changed. */
export interface Again {
  readonly send: (text: string) => void
  readonly edit: (text: string) => void
  /** Something is being sent. */
  readonly isOff: boolean
  /** No one hears any more: nothing is offered. */
  readonly isOver: boolean
}

const Anew = ({ again, text }: { readonly again: Again; readonly text: string }) => (
  <footer className="label flex gap-x-3" data-anew="">
    <Action className="hover:underline" disabled={again.isOff} onClick={() => again.edit(text)}>
      edit and send
    </Action>
    <Action className="hover:underline" disabled={again.isOff} onClick={() => again.send(text)}>
      send again
    </Action>
  </footer>
)

interface SaidProps {
  readonly id: string
  readonly again: Again
  readonly message: MessageView
  /** Results of the calls that stand here, by the id of the call. */
  readonly results: ReadonlyMap<string, MessageView>
  readonly tick: TickView | undefined
  /** Nothing that the assistant said in this turn stands after it. */
  readonly isLast: boolean
}

/** The call whose result is the answer of the turn. */
const answeringIn = ({ isLast, message, results, tick }: SaidProps): MessageView | undefined => {
  if (!isLast || tick?.outcome !== "terminal") return undefined
  const ran = message.calls?.findLast(({ id }) => results.has(id))
  return ran === undefined ? undefined : results.get(ran.id)
}

const Said = (props: SaidProps) => {
  const { again, id, isLast, message, results, tick } = props
  const answer = answeringIn(props)
  const { at, calls = [], content, name, parts, role } = message
  const who = role === "assistant" ? "assistant" : senderName(name ?? role)
  return (
    <li className="said" data-role={role}>
      <header className="flex items-baseline justify-between gap-3">
        <span className="truncate font-medium text-ink-2">
          <Visible text={who} />
        </span>
        <span className="label">
          <Ago at={at} />
        </span>
      </header>
      {role === "tool" ? (
        <details className="said-more">
          <summary className="truncate">
            <Visible text={withoutJson(content).slice(0, 160)} />
          </summary>
          <JsonText text={content} label={`Result of ${who}`} />
        </details>
      ) : content === "" ? null : (
        <SaidText text={content} isRead={role === "assistant"} />
      )}
      <Attachments parts={parts} />
      {calls.map((call) => (
        <Used
          key={call.id}
          call={call}
          result={results.get(call.id)}
          run={tick?.tools.find((each) => each.call === call.id)}
          isAnswer={answer !== undefined && answer.call === call.id}
        />
      ))}
      {answer === undefined ? null : <SaidText text={answer.content} isRead />}
      {role === "user" && content !== "" && !again.isOver ? <Anew again={again} text={content} /> : null}
      {isLast && tick !== undefined && (calls.length === 0 || answer !== undefined) ? (
        <Why id={id} tick={tick} />
      ) : null}
    </li>
  )
}

const isSilent = ({ calls = [], content, parts = [] }: MessageView): boolean =>
  content === "" && calls.length === 0 && parts.length === 0

/** The results of the calls that stand here: shown with their calls. */
const resultsIn = (items: ReadonlyArray<MessageView>): ReadonlyMap<string, MessageView> => {
  const asked = new Set(items.flatMap(({ calls = [] }) => calls.map((call) => call.id)))
  return new Map(items.flatMap((each) => (each.call !== undefined && asked.has(each.call) ? [[each.call, each]] : [])))
}

interface MessagesProps {
  readonly id: string
  readonly again: Again
  readonly items: ReadonlyArray<MessageView>
}

export const SaidMessages = ({ again, id, items }: MessagesProps) => {
  const ticks = useAnswer("GET /v1/assistants/:id/ticks", { params: { id }, query: { limit: LAST_TICKS } })
  const results = resultsIn(items)
  const shown = items.filter((each) => !isSilent(each) && !(each.call !== undefined && results.has(each.call)))
  const tickOf = ({ no }: MessageView): TickView | undefined =>
    ticks.data?.items.find(({ from, kind, to }) => kind === "tick" && from <= no && no <= to)
  return shown.map((message) => {
    const tick = tickOf(message)
    const last = tick && shown.findLast((each) => each.role === "assistant" && tickOf(each) === tick)
    return (
      <Said
        key={`${message.no}.${message.index}`}
        id={id}
        again={again}
        message={message}
        results={results}
        tick={tick}
        isLast={message === last}
      />
    )
  })
}
