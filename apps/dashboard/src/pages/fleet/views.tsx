// Views: how the fleet is looked at: as rows or in groups, with which filters, and what of that was saved under a name.

import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { Visible } from "../../parts/text.tsx"
import { type FleetSearch, groupings, sortOf } from "../../shell/search.ts"
import { groupNouns } from "./groups.tsx"
import { isSameView, MOST_NAME_CHARS, type SavedView, useSavedViews } from "./saved-views.ts"

interface Looked {
  readonly search: FleetSearch
}

/** A link is the one in view where all of its search is, also what it leaves out. */
const EXACT = { exact: true, explicitUndefined: true } as const

const Grouped = ({ search }: Looked) => (
  <nav className="segmented" aria-label="Show">
    {[undefined, ...groupings].map((by) => (
      <Link
        key={by ?? ""}
        to="/fleet"
        search={{ ...search, group: by }}
        activeOptions={EXACT}
        aria-current={by === search.group ? "true" : undefined}
        data-group-by={by ?? "none"}
      >
        {by === undefined ? "Assistants" : `By ${groupNouns[by].toLowerCase()}`}
      </Link>
    ))}
  </nav>
)

const orders = {
  attention: "Needs attention first",
  since: "Longest in state first",
  cost: "Highest cost first",
  waiting: "Most queued first",
  context: "Fullest context first",
  errors: "Newest error first",
  ticks: "Most runs first",
  id: "By name"
} as const

/** Where the table has one column, its titles sort nothing. */
const Order = ({ search }: Looked) => {
  const navigate = useNavigate()
  return (
    <select
      className="field md:hidden"
      aria-label="Order"
      name="sort"
      value={search.sort ?? "attention"}
      onChange={({ target }) => {
        const sort = sortOf(target.value)
        const isFromFirst = sort === "id" || sort === "since"
        void navigate({
          to: "/fleet",
          search: { ...search, sort, desc: isFromFirst ? undefined : true },
          replace: true
        })
      }}
    >
      {Object.entries(orders).map(([sort, text]) => (
        <option key={sort} value={sort}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** What no counter above shows as chosen; a click takes it away. */
const Filters = ({ search }: Looked) =>
  (["definition", "tag"] as const).map((name) => {
    const value = search[name]
    return value === undefined ? null : (
      <Link
        key={name}
        to="/fleet"
        search={{ ...search, [name]: undefined }}
        className="button button-small"
        data-clear-filter={name}
      >
        {name}: <Visible text={value} /> · show all
      </Link>
    )
  })

const Saved = ({ onRemove, search, view: { name, search: saved } }: SavedProps) => (
  <span className="chip-pair" data-view={name}>
    <Link
      to="/fleet"
      search={saved}
      activeOptions={EXACT}
      aria-current={isSameView(saved, search) ? "true" : undefined}
    >
      <Visible text={name} />
    </Link>
    <button
      type="button"
      aria-label={`Remove the view ${name}`}
      title="Remove this view"
      onClick={() => onRemove(name)}
    >
      ×
    </button>
  </span>
)

interface SavedProps extends Looked {
  readonly view: SavedView
  readonly onRemove: (name: string) => void
}

const Naming = ({ onClose, onSave }: { readonly onSave: (name: string) => void; readonly onClose: () => void }) => {
  const [name, set] = useState("")
  const said = name.trim()
  return (
    <form
      className="flex items-center gap-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        if (said === "") return
        onSave(said)
        onClose()
      }}
    >
      <input
        className="field w-44"
        name="view"
        aria-label="Name of the view"
        placeholder="Name of the view"
        autoFocus
        autoComplete="off"
        maxLength={MOST_NAME_CHARS}
        value={name}
        onChange={({ target }) => set(target.value)}
        onKeyDown={({ key }) => (key === "Escape" ? onClose() : undefined)}
      />
      <button type="submit" className="button button-small" disabled={said === ""}>
        Save
      </button>
    </form>
  )
}

export const Views = ({ search }: Looked) => {
  const { remove, save, views } = useSavedViews()
  const [isNaming, setNaming] = useState(false)
  const isPlain = isSameView(search, {})
  const isSaved = views.some((view) => isSameView(view.search, search))
  return (
    <div className="flex flex-wrap items-center gap-2" data-views={views.length}>
      <Grouped search={search} />
      {search.group === undefined ? <Order search={search} /> : null}
      <Filters search={search} />
      {views.map((view) => (
        <Saved key={view.name} view={view} search={search} onRemove={remove} />
      ))}
      {isNaming ? (
        <Naming onSave={(name) => save({ name, search })} onClose={() => setNaming(false)} />
      ) : isPlain || isSaved ? null : (
        <button
          type="button"
          className="button button-small button-quiet"
          title="Keeps filter, order and groups under a name in this browser."
          data-save-view=""
          onClick={() => setNaming(true)}
        >
          Save this view
        </button>
      )}
    </div>
  )
}
