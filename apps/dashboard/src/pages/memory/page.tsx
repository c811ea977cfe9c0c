// Memory: what an assistant remembers: blocks, facts, profiles, journal, and asking for it.
// M1  Everything is shown as it is kept, also what is not used, and says where it is from.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { useKeys } from "../../shell/keys.ts"
import { Action } from "../../parts/action.tsx"
import { count, many } from "../../parts/format.ts"
import { Export } from "../../parts/export/export.tsx"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Blocks } from "./blocks.tsx"
import { Entries, Facts, type ListProps, Trust } from "./facts.tsx"
import { Profiles } from "./profiles.tsx"
import { Recall } from "./recall.tsx"
import { type List, lists, type MemorySearch } from "./search.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"
import { Paged, usePaged } from "./paged.tsx"
import { Forgetting } from "./forgetting.tsx"

// Journal: its diary, the newest first.
// J1  An entry that can not be read is shown as the JSON that it is.

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
        {trust === undefined ? null : (
          <span>
            trust <Trust of={trust} />
          </span>
        )}
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

const Journal = ({ id }: Pick<ListProps, "id">) => {
  const journal = usePaged(JOURNAL, (cursor) => ({
    params: { id },
    query: { limit: 50, ...defined({ cursor }) }
  }))
  return (
    <Section
      title="Journal, the newest first"
      side={<Export name={`journal of ${id}`} route={JOURNAL} asked={{ params: { id } }} />}
    >
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

type Overview = Answer<"GET /v1/assistants/:id/memory">

const route = getRouteApi("/a/$id/memory")

const titles: Readonly<Record<List, string>> = {
  blocks: "Blocks",
  facts: "Facts",
  profiles: "Profiles",
  journal: "Journal",
  recall: "Recall"
}

const countOf = (overview: Overview | undefined, list: List): number | undefined => {
  if (overview === undefined || list === "recall") return undefined
  return list === "blocks" ? overview.blocks.length : overview[list]
}

const Lists = ({
  onPick,
  overview,
  tab
}: {
  tab: List
  overview: Overview | undefined
  onPick: (tab: List) => void
}) => (
  <div className="segmented" role="group" aria-label="Kinds of memory" title="1 to 5 lead to them">
    {lists.map((list) => {
      const number = countOf(overview, list)
      return (
        <button
          key={list}
          type="button"
          aria-pressed={list === tab}
          onClick={() => onPick(list)}
          data-list={list}
          data-count={number}
        >
          {titles[list]}
          {number === undefined ? null : <span className="tabular font-normal text-ink-2"> {count(number)}</span>}
        </button>
      )
    })}
  </div>
)

const MemoryPage = () => {
  const { id } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { tab = "blocks" } = search
  const overview = useAnswer("GET /v1/assistants/:id/memory", { params: { id } })
  const [forgets, forget] = useState(false)
  const change = (next: MemorySearch) => void navigate({ search: { ...search, ...next }, replace: true })
  const pick = (list: List) => void navigate({ search: { tab: list === "blocks" ? undefined : list } })
  useKeys(Object.fromEntries(lists.map((list, at) => [String(at + 1), () => pick(list)])))
  const listProps = { id, search, onChange: change }
  return (
    <Page
      name="memory"
      title="Memory"
      ready={isReady(overview)}
      side={
        <>
          <Lists tab={tab} overview={overview.data} onPick={pick} />
          {overview.data === undefined || overview.data.passages === 0 ? null : (
            <span className="text-ink-2" data-passages={overview.data.passages}>
              {many(overview.data.passages, "archived passage")}
            </span>
          )}
          <Action
            className="button button-small"
            aria-expanded={forgets}
            onClick={() => forget(!forgets)}
            data-forgets=""
          >
            Forget
          </Action>
        </>
      }
    >
      {forgets ? <Forgetting id={id} /> : null}
      <Answered of={overview}>
        {({ blocks, proposed, quarantined }) => (
          <>
            {tab === "blocks" ? <Blocks blocks={blocks} search={search} onChange={change} /> : null}
            {tab === "facts" ? <Facts {...listProps} waiting={{ proposed, quarantined }} /> : null}
            {tab === "profiles" ? <Profiles {...listProps} /> : null}
            {tab === "journal" ? <Journal id={id} /> : null}
            {tab === "recall" ? <Recall {...listProps} /> : null}
          </>
        )}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/memory")({ component: MemoryPage })
