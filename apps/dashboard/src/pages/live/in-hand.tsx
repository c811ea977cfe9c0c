// InHand: what waits for the assistant, what runs for it, and what it did lately.

import { senderName, timerWords } from "@reverie/protocol/spoken"
import type { AssistantDetail } from "@reverie/server/api"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useAnswer } from "../../api/questions.ts"
import { count, many } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Answered, Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago, timeOfDay } from "../../parts/time.tsx"
import type { LogLine } from "./turn.ts"

const MAILBOX_LETTERS = 50

export const Mailbox = ({ id, waiting }: { readonly id: string; readonly waiting: number }) => {
  const mail = useAnswer("GET /v1/assistants/:id/mailbox", { params: { id }, query: { limit: MAILBOX_LETTERS } })
  return (
    <Section
      title="Inbox"
      side={<span className="label tabular">{count(waiting)} waiting</span>}
      className="strip max-h-56 flex-none"
    >
      <Answered of={mail} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Empty" />
          ) : (
            <ul data-mailbox={items.length}>
              {items.map(({ acceptedAt, from, id: letter, lane, text = "", type }) => (
                <li key={letter} className="strip-line" data-letter={letter} data-lane={lane}>
                  <span className="font-medium">{type}</span>
                  <span className="min-w-0 flex-1 truncate" title={text}>
                    <span className="text-ink-2">
                      <Visible text={senderName(from)} />
                    </span>{" "}
                    <Visible text={text} />
                  </span>
                  <span className="label">{acceptedAt === undefined ? lane : <Ago at={acceptedAt} />}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Section>
  )
}

const Fact = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="strip-line">
    <dt className="w-24 flex-none text-ink-2">{title}</dt>
    <dd className="min-w-0 flex-1">{children}</dd>
  </div>
)

export const InHand = ({ detail }: { readonly detail: AssistantDetail }) => {
  const { approvalsAsked, id, jobs, subAgents, timers } = detail
  return (
    <Section title="In progress" className="strip flex-none">
      <dl data-in-hand="">
        <Fact title="Jobs">
          {jobs.length === 0 ? (
            <span className="text-ink-3">none</span>
          ) : (
            jobs.map((job) => <code key={job}>{job} </code>)
          )}
        </Fact>
        <Fact title="Timers">
          {timers.length === 0 ? (
            <span className="text-ink-3">none</span>
          ) : (
            timers.map(({ dueAt, name }) => (
              <span key={name} className="mr-3 inline-block">
                <span title={name}>
                  <Visible text={timerWords(name)} />
                </span>{" "}
                <span className="text-ink-2">
                  <Ago at={dueAt} />
                </span>
              </span>
            ))
          )}
        </Fact>
        <Fact title="Approvals">
          {approvalsAsked.length === 0 ? (
            <span className="text-ink-3">none</span>
          ) : (
            <Link to="/approvals" search={{ of: id }}>
              {many(approvalsAsked.length, "call waits", "calls wait")} for a person
            </Link>
          )}
        </Fact>
        <Fact title="Sub-agents">
          {subAgents === 0 ? (
            <span className="text-ink-3">none</span>
          ) : (
            <Link to="/a/$id/subagents" params={{ id }}>
              {many(subAgents, "sub-agent")}
            </Link>
          )}
        </Fact>
      </dl>
    </Section>
  )
}

export const Log = ({ lines }: { readonly lines: ReadonlyArray<LogLine> }) => (
  <Section title="Recent activity" className="strip min-h-40">
    {lines.length === 0 ? (
      <Empty title="No recent activity" />
    ) : (
      <ol data-log={lines.length} tabIndex={0} aria-label="Recent activity" className="strip-scroll">
        {lines.map(({ at, isBad, key, text, type }) => (
          <li key={key} className="strip-line" data-notice={type}>
            <time className="label tabular" dateTime={new Date(at).toISOString()}>
              {timeOfDay(at)}
            </time>
            <span className={`min-w-0 flex-1 truncate ${isBad ? "text-bad" : ""}`} title={text}>
              <Visible text={text} />
            </span>
          </li>
        ))}
      </ol>
    )}
  </Section>
)
