// Outcome: what a compaction left of the messages that it took out of the window, and the window part by part.
// L1  What is lost stands first, and each detail leads to the message that says it, among those that were compacted.
// L2  A list shows its first SHORT details; the rest are asked for.

import { useState } from "react"
import { Link } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { count, tokens } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Visible } from "../../parts/text.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"

type Whole = Answer<"GET /v1/assistants/:id/compactions/:compaction">["outcome"]
type Detail = Whole["lost"]["items"][number]

const SHORT = 8

/** Where a compacted message stands on this page. */
export const anchorOf = (place: string): string => `compacted-${place.replace(/^m\//, "").replace("/", ".")}`

const showMessage = (place: string): void => {
  const item = document.getElementById(anchorOf(place))
  item?.scrollIntoView({ block: "nearest" })
  item?.focus()
}

const Line = ({ detail, id }: { readonly detail: Detail; readonly id: string }) => {
  const { kind, memory, message, text } = detail
  const fact = memory?.startsWith("f/") === true ? memory.slice(2) : undefined
  return (
    <li className="flex flex-wrap items-baseline gap-x-2 px-3 py-1" data-detail={text} data-kind={kind}>
      <span className="min-w-0 break-words">
        <Visible text={text} />
      </span>
      <span className="ml-auto flex items-baseline gap-2 text-[0.857rem] text-ink-2">
        {fact === undefined ? null : (
          <Link
            to="/a/$id/memory"
            params={{ id }}
            search={{ tab: "facts", open: fact }}
            className="text-accent hover:underline"
            data-in-memory={memory}
          >
            in memory
          </Link>
        )}
        {kind === "name" || fact !== undefined ? null : <span>{kind}</span>}
        <button
          type="button"
          className="font-mono text-accent hover:underline"
          title="Show the message that says it"
          onClick={() => showMessage(message)}
          data-says={message}
        >
          <Visible text={message} />
        </button>
      </span>
    </li>
  )
}

interface ListProps {
  readonly id: string
  readonly name: "lost" | "memory" | "summary"
  readonly title: string
  /** What it means where there are none. */
  readonly none: string
  readonly of: Whole["lost"]
}

const List = ({ id, name, none, of, title }: ListProps) => {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? of.items : of.items.slice(0, SHORT)
  return (
    <section className="min-w-0 py-2" data-left={name} data-count={of.count}>
      <h3 className={`px-3 pb-1 font-medium ${name === "lost" && of.count > 0 ? "text-warn" : ""}`}>
        {title} <span className="tabular font-normal text-ink-2">{count(of.count)}</span>
      </h3>
      {of.count === 0 ? <p className="px-3 text-ink-2">{none}</p> : null}
      <ul>
        {shown.map((detail) => (
          <Line key={`${detail.kind} ${detail.text} ${detail.message}`} id={id} detail={detail} />
        ))}
      </ul>
      {of.items.length > shown.length ? (
        <button type="button" className="button button-quiet button-small ml-2" onClick={() => setWhole(true)}>
          Show all {count(of.items.length)}
        </button>
      ) : null}
      {isWhole && of.count > of.items.length ? (
        <p className="px-3 text-ink-2">and {count(of.count - of.items.length)} more</p>
      ) : null}
    </section>
  )
}

const names: Readonly<Record<Whole["parts"][number]["part"], string>> = {
  summary: "Summary",
  left: "Left",
  kept: "Stayed"
}

const roles: Readonly<Record<string, string>> = { user: "messages to it", assistant: "its own", tool: "results" }

export const WindowParts = ({ of }: { readonly of: Whole["parts"] }) => (
  <StackTable className="tight-table" data-window-parts="">
    <thead>
      <tr>
        <th scope="col">Part of the window</th>
        {["Messages", "Tokens before", "Tokens after"].map((title) => (
          <th key={title} scope="col" data-align="end">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {of.map(({ after, before, messages, part, role }) => (
        <tr key={`${part} ${role ?? ""}`} data-part={part}>
          <td>
            {names[part]}
            {role === undefined ? "" : `: ${roles[role] ?? role}`}
          </td>
          <td data-align="end">{count(messages)}</td>
          <td data-align="end">{tokens(before)}</td>
          <td data-align="end">{tokens(after)}</td>
        </tr>
      ))}
    </tbody>
  </StackTable>
)

export const Outcome = ({ id, of }: { readonly id: string; readonly of: Whole }) => (
  <Section title="What is left of it">
    <div className="grid divide-line max-lg:divide-y lg:grid-cols-3 lg:divide-x">
      <List id={id} name="lost" title="Lost" none="Every detail stands in the summary or in memory." of={of.lost} />
      <List id={id} name="memory" title="Only in memory" none="Nothing has to be recalled." of={of.inMemory} />
      <List id={id} name="summary" title="In the summary" none="The summary names no detail." of={of.inSummary} />
    </div>
    <p className="border-t border-line px-3 py-2 text-ink-2">
      Facts, names, numbers and dates of the compacted messages, each with the message that says it. What is lost is in
      neither; the messages stay in the ledger, and undo brings them back.
    </p>
  </Section>
)
