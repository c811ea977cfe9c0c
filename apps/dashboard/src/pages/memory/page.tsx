// Memory: what an assistant remembers: blocks, facts, profiles, journal, and asking for it.
// M1  Everything is shown as it is kept, also what is not used, and says where it is from.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { useKeys } from "../../shell/keys.ts"
import { Action } from "../../parts/action.tsx"
import { count, many } from "../../parts/format.ts"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Export } from "../../parts/export/export.tsx"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, Failed, isReady } from "../../parts/states.tsx"
import { Blocks } from "./blocks.tsx"
import { Entries, Facts, type ListProps, Trust } from "./facts.tsx"
import { Profiles } from "./profiles.tsx"
import { Recall } from "./recall.tsx"
import { type List, lists, type MemorySearch } from "./search.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"
import { Paged, usePaged } from "./paged.tsx"

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

// Forgetting: what is erased for good, of this assistant or of all.
// E1  What would go is counted first, and stands in the question: nothing goes before it is answered.

const FORGET = "POST /v1/forget"
type Receipt = Answer<typeof FORGET>

const ways = {
  text: "what contains",
  topic: "what is about",
  person: "what was said by",
  message: "the message"
} as const
type Way = keyof typeof ways

const placeholders: Readonly<Record<Way, string>> = {
  text: "a text, at least 4 characters",
  topic: "words, in any form",
  person: "a name",
  message: "m/12/0"
}

const whatOf = (way: Way, said: string, id: string, isEverywhere: boolean) => {
  const whose = isEverywhere && way !== "message" ? {} : { assistant: id }
  if (way === "message") return { ...whose, messages: [said] }
  return { ...whose, [way]: said }
}

/** As the other pages call them. */
const partWords: Readonly<Record<string, readonly [one: string, more?: string]>> = {
  blob: ["attached file", "attached files"],
  entry: ["event", "events"],
  envelope: ["message", "messages"],
  send: ["delivery", "deliveries"]
}

const Gone = ({ of }: { readonly of: Receipt }): ReactNode => {
  const kinds = Object.entries(of.gone)
  if (kinds.length === 0) return "nothing of it is kept"
  const counted = kinds
    .map(([kind, number]) => {
      const [one, more] = partWords[kind] ?? [kind.replaceAll("-", " ")]
      return many(number, one, more)
    })
    .join(", ")
  return `${counted}, of ${many(of.assistants, "assistant")}`
}

const became = { missing: "missing", damaged: "damaged, of before", removed: "damaged, taken away" } as const

const Unread = ({ of: { unread = [] } }: { readonly of: Receipt }): ReactNode =>
  unread.map(({ assistant, from, segment, state, to }) => (
    <p key={segment} className="text-bad" data-unread={state}>
      {assistant}, events {from} to {to}: segment {segment} is {became[state]}
    </p>
  ))

const Found = ({ of: { found } }: { readonly of: Receipt }): ReactNode =>
  found === undefined || found.samples.length === 0 ? null : (
    <ul className="max-h-64 overflow-y-auto py-2" data-found="">
      {found.samples.map(({ assistant, kind, text, where }) => (
        <li key={`${assistant} ${kind} ${where}`} className="truncate" title={text}>
          {[assistant, kind, where].filter(Boolean).join(" ")}: {text}
        </li>
      ))}
    </ul>
  )

interface Asked {
  readonly way: Way
  readonly said: string
  readonly isEverywhere: boolean
}

const Asking = ({
  asked,
  isBusy,
  onAsk,
  onChange
}: {
  readonly asked: Asked
  readonly isBusy: boolean
  readonly onAsk: () => void
  readonly onChange: (next: Partial<Asked>) => void
}) => (
  <form
    className="flex flex-wrap items-center gap-2 p-3"
    data-forget=""
    onSubmit={(event) => {
      event.preventDefault()
      onAsk()
    }}
  >
    <select
      className="field"
      name="way"
      aria-label="What is forgotten"
      value={asked.way}
      onChange={({ target }) => onChange({ way: target.value as Way })}
    >
      {Object.entries(ways).map(([each, says]) => (
        <option key={each} value={each}>
          {says}
        </option>
      ))}
    </select>
    <input
      className="field min-w-0 grow"
      name="said"
      aria-label={ways[asked.way]}
      placeholder={placeholders[asked.way]}
      maxLength={asked.way === "text" ? 2_000 : 200}
      value={asked.said}
      onChange={({ target }) => onChange({ said: target.value })}
    />
    {asked.way === "message" ? null : (
      <label className="flex items-center gap-1">
        <input
          type="checkbox"
          name="everywhere"
          checked={asked.isEverywhere}
          onChange={({ target }) => onChange({ isEverywhere: target.checked })}
        />
        in all assistants
      </label>
    )}
    <button type="submit" className="button button-small" disabled={asked.said.trim() === "" || isBusy}>
      Count
    </button>
  </form>
)

const Forgetting = ({ id }: Pick<ListProps, "id">) => {
  const [asked, ask] = useState<Asked>({ way: "text", said: "", isEverywhere: false })
  const trial = useChange(FORGET)
  const erasing = useChange(FORGET)
  const payload = whatOf(asked.way, asked.said.trim(), id, asked.isEverywhere)
  const would = trial.data
  const isNothing = would !== undefined && Object.keys(would.gone).length === 0
  const countIt = () => {
    erasing.reset()
    trial.mutate({ payload: { ...payload, dryRun: true } })
  }
  return (
    <Section title="Forget for good">
      <Asking
        asked={asked}
        isBusy={trial.isPending}
        onAsk={countIt}
        onChange={(next) => ask((before) => ({ ...before, ...next }))}
      />
      {trial.error === null ? null : <Failed trouble={trial.error} />}
      {erasing.data === undefined ? null : (
        <p className="px-3 pb-3 text-ink-2" role="status" data-forgotten="">
          Erased: <Gone of={erasing.data} />. Exports and backups made before still hold it.
        </p>
      )}
      {isNothing ? (
        <p className="px-3 pb-3 text-ink-2" role="status" data-kept="none">
          Nothing of it is kept.
        </p>
      ) : null}
      {would === undefined || isNothing ? null : (
        <ConfirmLater
          title="Erase it for good?"
          verb="Erase"
          danger
          onClose={() => trial.reset()}
          onConfirm={() => erasing.mutateAsync({ payload })}
        >
          <span data-would="">
            <Gone of={would} />
          </span>
          . It goes from the ledger, memory, index and files, and can not be brought back; numbers and sums of use stay.
          <Found of={would} />
        </ConfirmLater>
      )}
      {would === undefined ? null : (
        <div className="px-3">
          <Unread of={erasing.data ?? would} />
        </div>
      )}
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
