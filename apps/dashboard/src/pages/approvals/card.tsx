// Card: one call that waits, and the decision about it.
// A1  What is approved is what was seen: the arguments that stand here go along with the decision.
// A2  Letters decide only on the card that has the focus, and never a call that has expired.
// A3  What can not be seen in the arguments is made visible, and said above them.

import { defined } from "../../api/defined.ts"
import type { ApprovalAsked } from "@reverie/server/api"
import { Link } from "@tanstack/react-router"
import { type KeyboardEvent, useRef, useState } from "react"
import { useChange } from "../../api/questions.ts"
import { Action, useMayChange } from "../../parts/action.tsx"
import { Chip } from "../../parts/chip.tsx"
import { count } from "../../parts/format.ts"
import { JsonText } from "../../parts/structured/json.tsx"
import { Failed } from "../../parts/states.tsx"
import { hasUnseen, Visible } from "../../parts/text.tsx"
import { Ago, Until, useNow } from "../../parts/time.tsx"

type Decision = "approved" | "denied"

const SOON_MILLIS = 120_000

/** Escapes in JSON hide as well as the characters themselves. */
const decoded = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

const Expiry = ({ at, now }: { readonly at: number | undefined; readonly now: number }) => {
  if (at === undefined) return <span className="text-ink-2">does not expire</span>
  const left = at - now
  return (
    <span className={left <= SOON_MILLIS ? "font-medium text-bad" : "text-ink-2"} data-expires={at}>
      {left <= 0 ? (
        "has expired"
      ) : (
        <>
          expires in <Until at={at} />
        </>
      )}
    </span>
  )
}

const Chain = ({ chain }: { readonly chain: ApprovalAsked["chain"] }) =>
  chain.length === 0 ? null : (
    <section aria-label="Triggered by">
      <h3 className="label mb-1">Triggered by, the nearest first</h3>
      <ol className="space-y-1" data-chain={chain.length}>
        {chain.map(({ text, who }, at) => (
          <li key={at} className="flex min-w-0 gap-2" style={{ paddingLeft: `${at * 1.1}rem` }}>
            <span className="text-ink-3" aria-hidden>
              {at === 0 ? "●" : "↳"}
            </span>
            <span className="min-w-0">
              <span className="font-medium">
                <Visible text={who} />
              </span>
              {text === undefined ? null : (
                <span className="text-ink-2">
                  {" "}
                  “<Visible text={text} />”
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )

const Warning = () => (
  <div className="notice" data-tone="waiting" role="alert" data-invisible="">
    <strong className="text-warn">Hidden characters</strong>
    <span>
      These arguments hold characters that can not be seen. They are shown as{" "}
      <span className="invisible-char">⟨U+…⟩</span>; read them with care.
    </span>
  </div>
)

/** Several that are selected are decided together, where the page can do that. */
interface Selecting {
  readonly isSelected: boolean
  readonly onToggle: () => void
}

interface HeadProps {
  readonly asked: ApprovalAsked
  readonly now: number
  readonly selecting: Selecting | undefined
}

const Head = ({ asked, now, selecting }: HeadProps) => {
  const { askedAt, assistant, category, description, epoch, expiresAt, tick, tool } = asked
  return (
    <header className="space-y-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {selecting === undefined ? null : (
          <input
            type="checkbox"
            className="size-4.5 accent-accent"
            aria-label={`Select ${tool} of ${assistant}`}
            checked={selecting.isSelected}
            onChange={selecting.onToggle}
          />
        )}
        <h2 className="font-mono text-[1.05rem] font-semibold">
          <Visible text={tool} />
        </h2>
        <Chip tone="waiting" text={category} />
        <span className="ml-auto">
          <Expiry at={expiresAt} now={now} />
        </span>
      </div>
      {description === undefined ? null : (
        <p className="text-ink-2">
          <Visible text={description} />
        </p>
      )}
      <p className="label">
        asked by{" "}
        <Link to="/a/$id" params={{ id: assistant }}>
          <Visible text={assistant} />
        </Link>{" "}
        <Ago at={askedAt} /> in run <span className="tabular">{count(tick)}</span>, lease generation {count(epoch)}
      </p>
    </header>
  )
}

const useDecision = (asked: ApprovalAsked, onDecided: () => void) => {
  const { error, isPending, mutate } = useChange("POST /v1/approvals/:id/:approval")
  const [done, setDone] = useState<Decision>()
  const decide = (decision: Decision, note: string) => {
    if (isPending || done !== undefined) return
    mutate(
      {
        params: { id: asked.assistant, approval: asked.approval },
        payload: { decision, seen: asked.arguments, ...defined({ note: note.trim() === "" ? undefined : note.trim() }) }
      },
      {
        onSuccess: () => setDone(decision),
        onSettled: onDecided
      }
    )
  }
  return { error, isPending, done, decide }
}

interface DecideProps {
  readonly note: string
  readonly disabled: boolean
  readonly onNote: (note: string) => void
  readonly onDecide: (decision: Decision) => void
}

const Decide = ({ disabled, note, onDecide, onNote }: DecideProps) => (
  <div className="flex flex-wrap items-center gap-2">
    <label className="min-w-48 flex-1 max-sm:basis-full">
      <span className="sr-only">Note for the audit log</span>
      <input
        className="field w-full"
        name="note"
        placeholder="Note for the audit log"
        maxLength={2_000}
        value={note}
        onChange={({ target }) => onNote(target.value)}
      />
    </label>
    <Action
      className="button button-danger max-sm:flex-1"
      data-decide="denied"
      disabled={disabled}
      onClick={() => onDecide("denied")}
    >
      Deny{" "}
      <kbd aria-hidden className="max-md:hidden">
        d
      </kbd>
    </Action>
    <Action
      className="button button-primary max-sm:flex-1"
      data-decide="approved"
      disabled={disabled}
      onClick={() => onDecide("approved")}
    >
      Approve this call{" "}
      <kbd aria-hidden className="max-md:hidden">
        a
      </kbd>
    </Action>
  </div>
)

interface CardProps {
  readonly asked: ApprovalAsked
  readonly onDecided: () => void
  readonly selecting?: Selecting
}

export const Card = ({ asked, onDecided, selecting }: CardProps) => {
  const now = useNow(1_000)
  const card = useRef<HTMLElement>(null)
  const [note, write] = useState("")
  const mayChange = useMayChange()
  const { decide, done, error, isPending } = useDecision(asked, onDecided)
  const isOver = asked.expiresAt !== undefined && asked.expiresAt <= now
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== card.current || event.ctrlKey || event.metaKey || event.altKey || isOver || !mayChange) return
    if (event.key === "a") decide("approved", note)
    else if (event.key === "d") decide("denied", note)
    else return
    event.preventDefault()
  }
  return (
    <article
      ref={card}
      className="card approval space-y-3 p-4"
      tabIndex={0}
      aria-label={`${asked.tool}, asked by ${asked.assistant}`}
      data-approval={asked.approval}
      data-assistant={asked.assistant}
      data-state={done ?? (isOver ? "expired" : "open")}
      onKeyDown={onKeyDown}
    >
      <Head asked={asked} now={now} selecting={selecting} />
      {asked.reason === undefined ? null : (
        <p data-reason="">
          A hook has a person asked: <Visible text={asked.reason} />
        </p>
      )}
      {asked.invisible || hasUnseen(decoded(asked.arguments)) ? <Warning /> : null}
      <section aria-label="Exact arguments">
        <h3 className="label mb-1">Arguments</h3>
        <JsonText text={asked.arguments} label={`Arguments of ${asked.tool}`} />
      </section>
      <Chain chain={asked.chain} />
      {error === null ? null : <Failed trouble={error} />}
      {done === undefined ? (
        <Decide
          note={note}
          disabled={isPending || isOver}
          onNote={write}
          onDecide={(decision) => decide(decision, note)}
        />
      ) : (
        <p className="font-medium" role="status" data-done={done}>
          <Chip
            tone={done === "approved" ? "good" : "bad"}
            text={done === "approved" ? "Approved; the call runs." : "Denied; the assistant learns of it."}
          />
        </p>
      )}
    </article>
  )
}
