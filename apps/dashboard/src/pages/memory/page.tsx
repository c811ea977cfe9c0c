// Memory: what an assistant remembers: blocks, facts, profiles, journal, and asking for it.
// M1  Everything is shown as it is kept, also what is not used, and says where it is from.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { useKeys } from "../../shell/keys.ts"
import { count, many } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { Answered, isReady } from "../../parts/states.tsx"
import { Blocks } from "./blocks.tsx"
import { Facts } from "./facts.tsx"
import { Journal } from "./journal.tsx"
import { Profiles } from "./profiles.tsx"
import { Recall } from "./recall.tsx"
import { type MemorySearch, type List, lists } from "./search.ts"

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

const Shelves = ({
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
          <Shelves tab={tab} overview={overview.data} onPick={pick} />
          {overview.data === undefined || overview.data.passages === 0 ? null : (
            <span className="text-ink-2" data-passages={overview.data.passages}>
              and {many(overview.data.passages, "passage")} put away
            </span>
          )}
        </>
      }
    >
      <Answered of={overview}>
        {({ blocks, quarantined }) => (
          <>
            {tab === "blocks" ? <Blocks blocks={blocks} search={search} onChange={change} /> : null}
            {tab === "facts" ? <Facts {...listProps} quarantined={quarantined} /> : null}
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
