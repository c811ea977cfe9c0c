// Memory: what an assistant remembers: blocks, facts, profiles, journal, and asking for it.
// M1  Everything is shown as it is kept, also what is not used, and says where it is from.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { useKeys } from "../../house/keys.ts"
import { count, many } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { Answered, isReady } from "../../parts/states.tsx"
import { Blocks } from "./blocks.tsx"
import { Facts } from "./facts.tsx"
import { Journal } from "./journal.tsx"
import { Profiles } from "./profiles.tsx"
import { Recall } from "./recall.tsx"
import { type MemorySearch, type Shelf, shelves } from "./search.ts"

type Overview = Answer<"GET /v1/assistants/:id/memory">

const route = getRouteApi("/a/$id/memory")

const titles: Readonly<Record<Shelf, string>> = {
  blocks: "Blocks",
  facts: "Facts",
  profiles: "Profiles",
  journal: "Journal",
  recall: "Recall"
}

const countOf = (overview: Overview | undefined, shelf: Shelf): number | undefined => {
  if (overview === undefined || shelf === "recall") return undefined
  return shelf === "blocks" ? overview.blocks.length : overview[shelf]
}

const Shelves = ({
  onPick,
  overview,
  tab
}: {
  tab: Shelf
  overview: Overview | undefined
  onPick: (tab: Shelf) => void
}) => (
  <div className="segmented" role="group" aria-label="Kinds of memory" title="1 to 5 lead to them">
    {shelves.map((shelf) => {
      const number = countOf(overview, shelf)
      return (
        <button
          key={shelf}
          type="button"
          aria-pressed={shelf === tab}
          onClick={() => onPick(shelf)}
          data-shelf={shelf}
          data-count={number}
        >
          {titles[shelf]}
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
  const pick = (shelf: Shelf) => void navigate({ search: { tab: shelf === "blocks" ? undefined : shelf } })
  useKeys(Object.fromEntries(shelves.map((shelf, at) => [String(at + 1), () => pick(shelf)])))
  const shelfProps = { id, search, onChange: change }
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
            {tab === "facts" ? <Facts {...shelfProps} quarantined={quarantined} /> : null}
            {tab === "profiles" ? <Profiles {...shelfProps} /> : null}
            {tab === "journal" ? <Journal id={id} /> : null}
            {tab === "recall" ? <Recall {...shelfProps} /> : null}
          </>
        )}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/memory")({ component: MemoryPage })
