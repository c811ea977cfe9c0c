// Missing: what was known and is not in the prompt, each with its reason, and what was retrieved.

import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, many, tokens } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { nameOf, type Report } from "./pieces.tsx"

const reasons: Readonly<Record<string, string>> = {
  disabled: "switched off",
  "not-in-context": "not part of this kind of context",
  empty: "empty",
  "over-memory": "no room in the share of memory",
  "shown-before": "said with an earlier event that is still there",
  "over-limit": "older than what had room",
  "result-without-call": "its call was left out",
  replaced: "another part stands in its place",
  "other-person": "said with another person"
}

const reasonOf = (reason: string): string => reasons[reason] ?? reason

interface Lost {
  readonly reason?: unknown
  readonly messages?: unknown
  readonly tokens?: unknown
  readonly role?: unknown
  readonly characters?: unknown
  readonly of?: unknown
}

const word = (value: unknown): string => (typeof value === "string" ? value : "")
const number = (value: unknown): number => (typeof value === "number" ? value : 0)

const Line = ({ children, kind, name }: { kind: string; name: string; children: ReactNode }) => (
  <li className="flex items-baseline justify-between gap-3 px-3 py-1" data-missing={kind} data-of={name}>
    <span className="min-w-0">
      <Visible text={nameOf(name)} />
    </span>
    <span className="text-right text-ink-2">{children}</span>
  </li>
)

const linesOf = ({ absent, cuts, interrupted, leftOut }: Report): ReadonlyArray<ReactNode> => [
  ...(leftOut as ReadonlyArray<Lost>).map(({ messages, reason, tokens: many_ }, at) => (
    <Line key={`left-${at}`} kind="left-out" name={many(number(messages), "message")}>
      {tokens(number(many_))} tokens left out: {reasonOf(word(reason))}
    </Line>
  )),
  ...(cuts as ReadonlyArray<Lost>).map(({ characters, of, role }, at) => (
    <Line key={`cut-${at}`} kind="cut" name={word(role)}>
      cut to {count(number(characters))} of {many(number(of), "character")}
    </Line>
  )),
  ...interrupted.map((call) => (
    <Line key={`call-${call}`} kind="interrupted" name={call}>
      told as interrupted: it has no result
    </Line>
  )),
  ...absent.map(({ key, reason }) => (
    <Line key={`absent-${key}`} kind="absent" name={key}>
      {reasonOf(reason)}
    </Line>
  ))
]

export const Missing = ({ report }: { readonly report: Report }) => {
  const lines = linesOf(report)
  return (
    <Section title="Omitted" side={<span className="label tabular">{count(lines.length)}</span>}>
      {lines.length === 0 ? (
        <p className="p-3 text-ink-2">Everything that was known is in the prompt.</p>
      ) : (
        <ul className="py-1.5">{lines}</ul>
      )}
    </Section>
  )
}

type Retrieved = Answer<"GET /v1/assistants/:id/context/memories">["items"][number]

/** Where a memory stands: a message in its tick, the rest in the lists of its owner. */
const Place = ({ memory: { id, kind, owner, tick } }: { readonly memory: Retrieved }) => {
  const key = id.slice(2)
  if (kind === "message" && tick !== undefined) {
    return (
      <Link to="/a/$id/timeline" params={{ id: owner }} search={{ tick }}>
        run {tick}
      </Link>
    )
  }
  const tabs = { fact: "facts", profile: "profiles", episode: "journal", passage: "recall" } as const
  if (kind === "message" || kind === "block") return <Visible text={id} />
  return (
    <Link to="/a/$id/memory" params={{ id: owner }} search={{ tab: tabs[kind], open: key }}>
      <Visible text={kind} />
    </Link>
  )
}

const Memory = ({ id, memory }: { readonly id: string; readonly memory: Retrieved }) => {
  const { owner, score, text } = memory
  return (
    <li className="space-y-0.5 px-3 py-1.5" data-recalled={memory.id}>
      <p className="line-clamp-3 min-w-0 break-words" title={memory.id}>
        {text === undefined ? <span className="text-ink-3">its text is gone</span> : <Visible text={text} />}
      </p>
      <p className="flex flex-wrap gap-x-3 text-ink-2">
        <Place memory={memory} />
        {owner === id ? null : (
          <span>
            of <Visible text={owner} />
          </span>
        )}
        <span className="tabular" data-score={score}>
          {score === undefined ? "score not recorded" : `score ${score.toFixed(2)}`}
        </span>
      </p>
    </li>
  )
}

const Memories = ({ id, report: { iteration, tick } }: { readonly id: string; readonly report: Report }) => {
  const found = useAnswer("GET /v1/assistants/:id/context/memories", { params: { id }, query: { tick, iteration } })
  return (
    <Answered of={found} lines={3}>
      {({ items }) => (
        <ul className="divide-y divide-line">
          {items.map((memory) => (
            <Memory key={`${memory.owner} ${memory.id}`} id={id} memory={memory} />
          ))}
        </ul>
      )}
    </Answered>
  )
}

export const CameToMind = ({ id, report }: { readonly id: string; readonly report: Report }) => {
  const { pattern, recalled } = report
  return (
    <Section title="Retrieved memories" side={<span className="label tabular">{count(recalled.length)}</span>}>
      {recalled.length === 0 ? (
        <p className="p-3 text-ink-2">No memory was brought up for this call.</p>
      ) : (
        <Memories id={id} report={report} />
      )}
      {pattern === undefined ? null : (
        <details className="border-t border-line px-3 py-2">
          <summary>What the run was allowed, and who said so</summary>
          <div className="pt-2">
            <JsonView value={pattern} label="Pattern of the run" />
          </div>
        </details>
      )}
    </Section>
  )
}
