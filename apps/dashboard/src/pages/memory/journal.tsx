// Journal: its diary, the newest first.
// J1  An entry that can not be read is shown as the JSON that it is.

import { defined } from "@reverie/protocol/defined"
import type { Answer } from "../../api/contract.ts"
import { JsonView } from "../../parts/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"
import { Entries, Trust } from "./belief.tsx"
import type { ListProps } from "./facts.tsx"
import { Paged, usePaged } from "./paged.tsx"

const JOURNAL = "GET /v1/assistants/:id/memory/journal"
type Row = Answer<typeof JOURNAL>["items"][number]

interface Entry {
  readonly content: string
  readonly timestamp: string
  readonly source_type?: string
  readonly source_trust?: number
  readonly source_entity?: string | null
  readonly importance?: number
  readonly tags?: ReadonlyArray<string>
  readonly evidence?: ReadonlyArray<string>
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === "object" &&
  value !== null &&
  typeof Reflect.get(value, "content") === "string" &&
  typeof Reflect.get(value, "timestamp") === "string"

const Written = ({ entry }: { readonly entry: Entry }) => {
  const {
    content,
    evidence = [],
    importance,
    source_entity: about,
    source_trust: trust,
    source_type: type,
    tags = []
  } = entry
  const at = Date.parse(entry.timestamp)
  return (
    <>
      <p className="break-words whitespace-pre-wrap">
        <Visible text={content} />
      </p>
      <p className="flex flex-wrap items-baseline gap-x-3 text-ink-2">
        {Number.isNaN(at) ? <Visible text={entry.timestamp} /> : <Ago at={at} />}
        {type === undefined ? null : (
          <span>
            <Visible text={type} />
          </span>
        )}
        {typeof about === "string" ? (
          <span>
            about <Visible text={about} />
          </span>
        ) : null}
        {trust === undefined ? null : <Trust of={trust} />}
        {importance === undefined ? null : <span className="tabular">importance {importance.toFixed(1)}</span>}
        {tags.map((tag) => (
          <span key={tag} className="rounded border border-line px-1">
            <Visible text={tag} />
          </span>
        ))}
        {evidence.length === 0 ? null : <Entries of={evidence} />}
      </p>
    </>
  )
}

const Line = ({ row: { key, value } }: { readonly row: Row }) => (
  <li className="px-3 py-2" data-journal={key}>
    {isEntry(value) ? <Written entry={value} /> : <JsonView value={value} label={key} />}
  </li>
)

export const Journal = ({ id }: Pick<ListProps, "id">) => {
  const journal = usePaged(JOURNAL, (cursor) => ({
    params: { id },
    query: { limit: 50, ...defined({ cursor }) }
  }))
  return (
    <Section title="Journal, the newest first">
      <Paged
        of={journal}
        empty={<Empty title="Its diary is empty">It writes when it thinks that something should be kept.</Empty>}
      >
        {(items) => (
          <ol className="divide-y divide-line" data-entries={items.length}>
            {items.map((row) => (
              <Line key={row.key} row={row} />
            ))}
          </ol>
        )}
      </Paged>
    </Section>
  )
}
