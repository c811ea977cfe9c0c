// Missing: what was known and is not in the prompt, each with its reason, and what came to mind.

import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { count, many, tokens } from "../../parts/format.ts"
import { JsonView } from "../../parts/json.tsx"
import { Section } from "../../parts/page.tsx"
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
  replaced: "another part stands in its place"
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

const Memory = ({ entry, id }: { readonly entry: string; readonly id: string }) => {
  const fact = /^f\/(.+)$/.exec(entry)?.[1]
  return (
    <li className="rounded border border-line px-1.5 font-mono text-[0.857rem]" data-recalled={entry}>
      {fact === undefined ? (
        <Visible text={entry} />
      ) : (
        <Link to="/a/$id/memory" params={{ id }} search={{ tab: "facts", open: fact }}>
          <Visible text={entry} />
        </Link>
      )}
    </li>
  )
}

export const CameToMind = ({ id, report }: { readonly id: string; readonly report: Report }) => {
  const { pattern, recalled } = report
  return (
    <Section title="Retrieved memories" side={<span className="label tabular">{count(recalled.length)}</span>}>
      {recalled.length === 0 ? (
        <p className="p-3 text-ink-2">No memory was brought up for this call.</p>
      ) : (
        <ul className="flex flex-wrap gap-1.5 p-3">
          {recalled.map((entry) => (
            <Memory key={entry} entry={entry} id={id} />
          ))}
        </ul>
      )}
      {pattern === undefined ? null : (
        <details className="border-t border-line px-3 py-2">
          <summary>What the tick was allowed, and who said so</summary>
          <div className="pt-2">
            <JsonView value={pattern} label="Pattern of the tick" />
          </div>
        </details>
      )}
    </Section>
  )
}
