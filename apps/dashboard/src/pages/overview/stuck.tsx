// Stuck: who can not go on and what was given up, each with its name, its reason, and since when.
// S1  A call that waits for a person is no such thing: it has its card.

import type { AssistantRow } from "@reverie/server/api"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { count } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"

type Letter = Answer<"GET /v1/dead-letters">["items"][number]

/** So many of each kind stand here; the others are a click away. */
export const MOST_STUCK = 5
const EVERY_MILLIS = 15_000

interface LineProps {
  readonly id: string
  readonly why: "halted" | "busy" | "dead"
  readonly at: number
  readonly children: ReactNode
}

const titles = { halted: "halted", busy: "busy for more than 15 minutes", dead: "dead letter" } as const

const StuckLine = ({ at, children, id, why }: LineProps) => (
  <li className="feed-line" data-tone={why === "busy" ? "warn" : "bad"} data-stuck={id} data-why={why}>
    <span className="text-ink-2">{at > 0 ? <Ago at={at} /> : null}</span>
    <Link to="/a/$id" params={{ id }} className="font-mono text-[0.92em] wrap-anywhere">
      <Visible text={id} />
    </Link>
    <span className="min-w-0 break-words">
      <span className="feed-lead">{titles[why]}</span> {children}
    </span>
  </li>
)

const Row = ({ row: { haltReason, id, mode, since, state } }: { readonly row: AssistantRow }) => (
  <StuckLine id={id} at={since} why={mode === "halted" ? "halted" : "busy"}>
    <Visible text={haltReason ?? state} />
  </StuckLine>
)

/** Enough to know it by; Queues has the whole of it. */
const MOST_CHARS = 80
const briefly = (text: string): string =>
  text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`

const Dead = ({ letter: { assistant, at, reason, text } }: { readonly letter: Letter }) => (
  <StuckLine id={assistant} at={at} why="dead">
    <Visible text={reason} />
    {text === undefined ? null : (
      <span className="text-ink-2">
        {" "}
        “<Visible text={briefly(text)} />”
      </span>
    )}
  </StuckLine>
)

/** Where the others stand. */
const More = ({ more, to }: { readonly more: number; readonly to: "/fleet" | "/queues" }) =>
  more <= 0 ? null : (
    <li className="px-3 pb-2">
      <Link to={to} data-more-stuck={more}>
        {count(more)} more
      </Link>
    </li>
  )

interface StuckProps {
  /** Those that need a person most come first. */
  readonly rows: ReadonlyArray<AssistantRow>
  /** How many of all are halted, or busy for too long. */
  readonly total: number
}

export const Stuck = ({ rows, total }: StuckProps) => {
  const letters = useAnswer("GET /v1/dead-letters", {}, { everyMillis: EVERY_MILLIS }).data?.items ?? []
  if (total + letters.length === 0) return null
  return (
    <Section title="What is stuck">
      <ul className="feed" data-stuck-lines={total + letters.length}>
        {rows.slice(0, Math.min(total, MOST_STUCK)).map((row) => (
          <Row key={row.id} row={row} />
        ))}
        <More more={total - MOST_STUCK} to="/fleet" />
        {letters.slice(0, MOST_STUCK).map((letter) => (
          <Dead key={`${letter.assistant} ${letter.envelope}`} letter={letter} />
        ))}
        <More more={letters.length - MOST_STUCK} to="/queues" />
      </ul>
    </Section>
  )
}
