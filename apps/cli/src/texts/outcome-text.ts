// OutcomeText: what is left of what a compaction took out of the window, in words.

import type { Backend } from "../backend/backend.ts"
import { onOneLine, table } from "./plain.ts"

export type Outcome = Awaited<ReturnType<Backend["opened"]>>["outcome"]

const MOST_SHOWN = 12

const detailsText = (title: string, { count, items }: Outcome["lost"]): ReadonlyArray<string> => [
  `${title} (${count})`,
  ...items
    .slice(0, MOST_SHOWN)
    .map(
      ({ kind, memory, message, text }) =>
        `  ${message}  ${kind} ${onOneLine(text, 100)}${memory === undefined ? "" : ` [${memory}]`}`
    ),
  ...(count > MOST_SHOWN ? [`  and ${count - MOST_SHOWN} more`] : [])
]

/** What is left of what was compacted, and the window part by part. */
export const outcomeText = ({ inMemory, inSummary, lost, parts }: Outcome): ReadonlyArray<string> => {
  const names = { summary: "summary", left: "left", kept: "stayed" }
  const rows = parts.map(({ after, before, messages, part, role }) => [
    `  ${names[part]}${role === undefined ? "" : ` (${role})`}`,
    String(messages),
    String(before),
    String(after)
  ])
  return [
    table([["  the window", "messages", "tokens before", "after"], ...rows]),
    "",
    ...detailsText("stands in the summary", inSummary),
    ...detailsText("only in memory", inMemory),
    ...detailsText("lost: in neither; the messages stay in the ledger", lost)
  ]
}
