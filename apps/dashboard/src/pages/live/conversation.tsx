// Conversation: what was said lately, the reply that is being written, and a field to say something.

import type { ApprovalAsked, MessageView } from "@reverie/server/api"
import { useEffect, useRef, useState } from "react"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action, useMayChange } from "../../parts/action.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered, Empty, Failed } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { defined } from "../../api/defined.ts"
import { Card } from "../approvals/card.tsx"
import { Attach, ChosenFiles, useChosen } from "./attachments.tsx"
import { type Again, SaidMessages } from "./messages.tsx"
import type { Writing } from "./turn.ts"

const LAST = 30
/** They change with the process alone. */
const KINDS_MILLIS = 60_000

const BeingWritten = ({ writing }: { readonly writing: Writing }) => (
  <li className="said" data-role="assistant" data-writing={writing.isWhole ? "whole" : "on"} aria-live="off">
    <header className="font-medium text-ink-2">assistant {writing.isWhole ? "" : "is writing"}</header>
    {writing.thought === "" ? null : (
      <p className="said-text text-ink-3" data-thought="">
        <Visible text={writing.thought} />
      </p>
    )}
    <p className="said-text">
      <Visible text={writing.text} />
      {writing.isWhole ? null : <span className="caret" aria-hidden />}
    </p>
    {Object.entries(writing.calls).map(([call, tool]) => (
      <p key={call} className="said-more" data-begun={call}>
        calls <code>{tool}</code>
      </p>
    ))}
  </li>
)

const isTold = (items: ReadonlyArray<MessageView>, { isWhole, text }: Writing): boolean =>
  isWhole && items.some(({ content, role }) => role === "assistant" && content === text)

const APPROVALS_MILLIS = 10_000

interface WaitingProps {
  readonly id: string
  readonly items: ReadonlyArray<MessageView>
}

/** Calls of this one that wait for a person, where they wait. What was decided here stays until its result is there. */
const Waiting = ({ id, items }: WaitingProps) => {
  const open = useAnswer("GET /v1/approvals", {}, { everyMillis: APPROVALS_MILLIS })
  const [kept, keep] = useState<ReadonlyArray<ApprovalAsked>>([])
  const asked = (open.data?.items ?? []).filter(({ assistant }) => assistant === id)
  const isOpen = (each: ApprovalAsked) => asked.some(({ approval }) => approval === each.approval)
  const hasRun = ({ call }: ApprovalAsked) => items.some((each) => each.call === call)
  const all = [...kept.filter((each) => !isOpen(each) && !hasRun(each)), ...asked]
  return all.map((each) => (
    <li key={each.approval} className="p-3" data-waits={each.approval}>
      <Card asked={each} onDecided={() => keep((before) => [...before, each])} />
    </li>
  ))
}

const Messages = ({
  again,
  id,
  items,
  writing
}: {
  readonly id: string
  readonly again: Again
  readonly items: ReadonlyArray<MessageView>
  readonly writing: Writing | undefined
}) => {
  const place = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const shown = writing === undefined || isTold(items, writing) ? undefined : writing
  const isAtEnd = useRef(true)
  const top = useRef(0)
  const isEmpty = items.length === 0 && shown === undefined
  // Much of it comes after the words: what an answer took, Markdown, pictures, a call that waits.
  useEffect(() => {
    if (list.current === null) return
    const grown = new ResizeObserver(() => {
      if (place.current !== null && isAtEnd.current) place.current.scrollTop = place.current.scrollHeight
    })
    grown.observe(list.current)
    return () => grown.disconnect()
  }, [isEmpty])
  if (isEmpty) return <Empty title="Nothing was said yet">Say something below.</Empty>
  return (
    <div
      ref={place}
      className="min-h-0 flex-1 overflow-auto"
      tabIndex={0}
      role="group"
      aria-label="Messages"
      onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
        // More may have come since it was scrolled to the end: only a person scrolls up.
        const hasLeft = scrollTop < top.current
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40 || (isAtEnd.current && !hasLeft)
        top.current = scrollTop
      }}
    >
      <ol ref={list} data-messages={items.length}>
        <SaidMessages id={id} again={again} items={items} />
        <Waiting id={id} items={items} />
        {shown === undefined ? null : <BeingWritten writing={shown} />}
      </ol>
    </div>
  )
}

interface SayProps {
  readonly id: string
  /** The run in progress, or the last one. */
  readonly tick: number
  readonly accepts: ReadonlyArray<string>
  readonly mode: string
}

const hintOf = (isOver: boolean, isHeard: boolean): string => {
  if (isOver) return "No one hears any more."
  return isHeard ? "Enter sends, Shift Enter is a new line." : "It is busy: this waits in its inbox."
}

interface ContextProps {
  readonly id: string
  readonly chosen: string
  readonly choose: (context: string) => void
}

/** The kind of context that a message is handled in; that of every event when none is chosen. */
const ContextOf = ({ choose, chosen, id }: ContextProps) => {
  const kinds = useAnswer("GET /v1/assistants/:id/context-kinds", { params: { id } }, { staleMillis: KINDS_MILLIS })
  if (kinds.data === undefined) return null
  return (
    <label className="label">
      <span className="sr-only">Context of the message</span>
      <select
        className="field max-w-44"
        name="context"
        value={chosen}
        onChange={({ target }) => choose(target.value)}
        title="The kind of context that the message is handled in"
      >
        <option value="">usual context</option>
        {kinds.data.items.map(({ isOwn, name }) => (
          <option key={name} value={name}>
            {isOwn ? `${name} (its own)` : name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** What is being written, with what, in which context, and the way to send it. */
const useSaying = (id: string, isOver: boolean) => {
  const [text, write] = useState("")
  const [asked, askIn] = useState("")
  const { attach, choose, chosen } = useChosen()
  const { error, isPending, mutate } = useChange("POST /v1/assistants/:id/messages")
  const field = useRef<HTMLTextAreaElement>(null)
  const isOff = isOver || isPending || (text.trim() === "" && chosen.length === 0)
  const say = () => {
    if (isOff) return
    const parts = chosen.length === 0 ? undefined : chosen
    const context = asked === "" ? undefined : asked
    const onSuccess = () => {
      write("")
      choose([])
    }
    mutate((key) => ({ params: { id }, payload: { text: text.trim(), id: key, ...defined({ parts, context }) } }), {
      onSuccess
    })
  }
  const again: Again = {
    send: (words) => mutate((key) => ({ params: { id }, payload: { text: words, id: key } })),
    edit: (words) => {
      write(words)
      field.current?.focus()
    },
    isOff: isPending,
    isOver
  }
  return { text, write, asked, askIn, attach, choose, chosen, error, isOff, say, again, field }
}

/** Ends the run that is shown, and no later one: the order names it. */
const StopRun = ({ id, tick }: { readonly id: string; readonly tick: number }) => {
  const { error, isPending, mutate } = useChange("POST /v1/assistants/:id/orders")
  return (
    <>
      {error === null ? null : <Failed trouble={error} />}
      <Action
        className="button button-small"
        data-stop={tick}
        title={`Ends run ${tick}: what it is doing is interrupted, and the next message is heard.`}
        disabled={isPending}
        onClick={() => mutate((key) => ({ params: { id }, payload: { order: "stop", tick, id: key } }))}
      >
        Stop
      </Action>
    </>
  )
}

interface FieldProps {
  readonly id: string
  readonly isOver: boolean
  readonly isHeard: boolean
  /** The run that can be stopped. */
  readonly inHand: number | undefined
  readonly saying: ReturnType<typeof useSaying>
}

const Say = ({ id, inHand, isHeard, isOver, saying }: FieldProps) => {
  const { askIn, asked, attach, choose, chosen, error, field, isOff, say, text, write } = saying
  if (!useMayChange()) return <p className="border-t border-line p-3 text-ink-2">This token may only look.</p>
  return (
    <form
      className="space-y-2 border-t border-line p-3"
      data-say=""
      onSubmit={(event) => {
        event.preventDefault()
        say()
      }}
    >
      {error === null ? null : <Failed trouble={error} />}
      <label className="block">
        <span className="sr-only">Say something to {id}</span>
        <textarea
          ref={field}
          className="field block max-h-40 w-full resize-y py-1.5"
          rows={2}
          name="say"
          placeholder={isOver ? "It has retired." : "Say something"}
          disabled={isOver}
          value={text}
          onChange={({ target }) => write(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            say()
          }}
          onPaste={({ clipboardData: { files } }) => {
            if (files.length > 0) attach(files)
          }}
        />
      </label>
      <ChosenFiles chosen={chosen} choose={choose} />
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1.5">
        <span className="label" data-hint>
          {hintOf(isOver, isHeard)}
        </span>
        <span className="flex items-center gap-1.5">
          {isOver ? null : <ContextOf id={id} chosen={asked} choose={askIn} />}
          <Attach attach={attach} isOver={isOver} />
          {inHand === undefined ? null : <StopRun id={id} tick={inHand} />}
          <Action type="submit" className="button button-primary button-small" disabled={isOff}>
            Send
          </Action>
        </span>
      </div>
    </form>
  )
}

export const Conversation = ({
  accepts,
  id,
  mode,
  tick,
  writing
}: SayProps & { readonly writing: Writing | undefined }) => {
  const isOver = mode === "retired"
  const saying = useSaying(id, isOver)
  const messages = useAnswer("GET /v1/assistants/:id/messages", { params: { id }, query: { limit: LAST } })
  return (
    <Section title="Conversation" className="flex min-h-96 flex-col max-lg:max-h-160">
      <div className="flex min-h-0 flex-1 flex-col">
        <Answered of={messages}>
          {({ items }) => <Messages id={id} again={saying.again} items={items} writing={writing} />}
        </Answered>
      </div>
      <Say
        id={id}
        inHand={accepts.includes("stop") ? tick : undefined}
        isOver={isOver}
        isHeard={accepts.includes("message")}
        saying={saying}
      />
    </Section>
  )
}
