// Groups: the fleet summed by definition or state; a group leads to its rows.

import { Link } from "@tanstack/react-router"
import type { FleetGroup } from "@reverie/server/api"
import { useAnswer } from "../../api/questions.ts"
import { count, many, spentText, tokens } from "../../parts/format.ts"
import { Answered, Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import type { FleetSearch, Grouping } from "../../shell/search.ts"
import { filterOf } from "./selection.ts"

const EVERY_MILLIS = 15_000
const MOST = 500

export const groupNouns: Readonly<Record<Grouping, string>> = {
  definition: "Definition",
  state: "State",
  tag: "Tag"
}

/** The last says that a narrow screen has no room for it. */
const numbers: ReadonlyArray<readonly [string, string, (group: FleetGroup) => string, "wide"?]> = [
  ["Assistants", "How many there are.", ({ assistants }) => count(assistants)],
  ["Working", "For how many of them something runs now.", ({ working }) => count(working), "wide"],
  ["Need a person", "Halted, stuck, or waiting for an approval.", ({ needPerson }) => count(needPerson)],
  ["Halted", "How many are halted.", ({ halted }) => count(halted), "wide"],
  ["Queued", "Messages that wait in all their mailboxes.", ({ waiting }) => count(waiting), "wide"],
  ["Tokens in 24 h", "What their model calls used in the last 24 hours.", ({ day }) => tokens(day.tokens), "wide"],
  ["Cost in 24 h", "What that cost.", ({ day }) => (day.calls === 0 ? "–" : spentText(day))]
]

interface GroupsProps {
  readonly search: FleetSearch
  readonly by: Grouping
}

const Row = ({ by, group, search }: GroupsProps & { readonly group: FleetGroup }) => (
  <tr data-group={group.key} data-assistants={group.assistants}>
    <th scope="row" className="font-mono">
      <Link to="/fleet" search={{ ...search, group: undefined, [by]: group.key }}>
        <Visible text={group.key} />
      </Link>
    </th>
    {numbers.map(([title, , textOf, room]) => (
      <td
        key={title}
        data-align="end"
        data-title={title}
        className={`${room === "wide" ? "max-md:hidden" : ""} ${title === "Need a person" && group.needPerson > 0 ? "font-medium text-bad" : ""}`}
      >
        {textOf(group)}
      </td>
    ))}
  </tr>
)

const Nothing = ({ by, search }: GroupsProps) =>
  by === "tag" && Object.keys(filterOf(search)).length === 0 ? (
    <Empty title="No tags">
      A definition gives them to its assistants: <code>{'defineAssistant({ tags: ["front"], ... })'}</code>
    </Empty>
  ) : (
    <Empty title="No matches">Search for something else, or choose All above.</Empty>
  )

export const Groups = ({ by, search }: GroupsProps) => {
  const query = { by, ...filterOf(search), limit: MOST }
  const groups = useAnswer("GET /v1/groups", { query }, { everyMillis: EVERY_MILLIS, keep: true })
  return (
    <div className="card min-h-48 flex-1 overflow-auto" tabIndex={0} role="region" aria-label={`By ${by}`}>
      <Answered of={groups} lines={8}>
        {({ items, matched }) =>
          items.length === 0 ? (
            <Nothing by={by} search={search} />
          ) : (
            <>
              <StackTable data-groups={matched} data-by={by}>
                <thead>
                  <tr>
                    <th scope="col">{groupNouns[by]}</th>
                    {numbers.map(([title, hint, , room]) => (
                      <th
                        key={title}
                        scope="col"
                        data-align="end"
                        title={hint}
                        className={room === "wide" ? "max-md:hidden" : undefined}
                      >
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {items.map((group) => (
                    <Row key={group.key} by={by} group={group} search={search} />
                  ))}
                </tbody>
              </StackTable>
              {matched <= items.length ? null : (
                <p className="p-3 text-ink-2">
                  The {count(items.length)} largest of {many(matched, "group")}; a filter makes them fewer.
                </p>
              )}
            </>
          )
        }
      </Answered>
    </div>
  )
}
