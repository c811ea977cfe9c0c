// Approvals: every call of the fleet that waits for a person, exactly as it would run.

import type { ApprovalAsked } from "@reverie/server/api"
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { useState } from "react"
import { useAnswer } from "../../api/questions.ts"
import { useKeys } from "../../shell/keys.ts"
import { Export } from "../../parts/export/export.tsx"
import { setNotifying, useNotifying } from "../../shell/notify.ts"
import { many } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import type { ApprovalsSearch } from "../../shell/search.ts"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Bulk, keyOf, toolsIn } from "./bulk.tsx"
import { Card } from "./card.tsx"
import { History } from "./history.tsx"

const route = getRouteApi("/approvals")
const EVERY_MILLIS = 10_000

/** `j` and `k` go from card to card; the focus itself says which is current. */
const useCardKeys = (): void => {
  const move = (by: number) => {
    const cards = [...document.querySelectorAll<HTMLElement>("[data-approval]")]
    const at = cards.findIndex((card) => card.contains(document.activeElement))
    const next = cards[Math.max(0, Math.min(cards.length - 1, at + by))]
    next?.focus()
    next?.scrollIntoView({ block: "nearest" })
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
}

const Cards = ({ items }: { readonly items: ReadonlyArray<ApprovalAsked> }) => {
  // What was decided here stays where it was, with what came of it, until one leaves the page.
  const [kept, keep] = useState<ReadonlyArray<ApprovalAsked>>([])
  const open = new Set(items.map(keyOf))
  const gone = kept.filter((each) => !open.has(keyOf(each)))
  const all = [...items, ...gone].toSorted((one, other) => one.askedAt - other.askedAt)
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string) =>
    select((before) => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  if (all.length === 0) {
    return (
      <div className="card max-w-[64rem]" data-approvals={0}>
        <Empty title="No open approvals">
          Calls that are dangerous come here before they run. You need not keep this page open: the number beside
          Approvals tells.
        </Empty>
      </div>
    )
  }
  return (
    <>
      {items.length === 0 ? null : (
        <Bulk
          shown={items}
          selected={items.filter((asked) => selected.has(keyOf(asked)))}
          onSelect={(keys) => select(new Set(keys))}
        />
      )}
      <ul className="grid max-w-[64rem] gap-4" data-approvals={items.length}>
        {all.map((asked) => (
          <li key={keyOf(asked)}>
            <Card
              asked={asked}
              selecting={{ isSelected: selected.has(keyOf(asked)), onToggle: () => toggle(keyOf(asked)) }}
              onDecided={() => keep((before) => [...before, asked])}
            />
          </li>
        ))}
      </ul>
    </>
  )
}

/** Off until it is clicked; the browser asks then. */
const Notify = () => {
  const state = useNotifying()
  if (state === "unsupported") return null
  if (state === "denied") return <span className="text-ink-2">This browser allows no notifications here.</span>
  return (
    <button
      type="button"
      className="button button-small"
      aria-pressed={state === "on"}
      onClick={() => void setNotifying(state === "off")}
      data-notify={state}
    >
      {state === "on" ? "Notifications on" : "Notify me"}
    </button>
  )
}

/** The calls of one tool: those that are alike are judged together. */
const Tools = ({
  items,
  search
}: {
  readonly items: ReadonlyArray<ApprovalAsked>
  readonly search: ApprovalsSearch
}) => {
  const tools = toolsIn(items)
  if (tools.length < 2 && search.tool === undefined) return null
  const all = [[undefined, items.length] as const, ...tools]
  return (
    <nav className="flex flex-wrap gap-1.5" aria-label="By tool" data-tools={tools.length}>
      {all.map(([tool, calls]) => (
        <Link
          key={tool ?? ""}
          to="/approvals"
          search={{ ...search, tool }}
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={tool === search.tool ? "true" : undefined}
          className={`button button-small ${tool === search.tool ? "border-accent bg-selected font-semibold" : ""}`}
          data-tool={tool ?? ""}
        >
          {tool === undefined ? "All tools" : <Visible text={tool} />} <span className="tabular">{calls}</span>
        </Link>
      ))}
    </nav>
  )
}

const ApprovalsPage = () => {
  const search = route.useSearch()
  const { of, tool } = search
  const open = useAnswer("GET /v1/approvals", {}, { everyMillis: EVERY_MILLIS })
  const ofOne = (items: ReadonlyArray<ApprovalAsked>) =>
    items.filter(({ assistant }) => (of ?? assistant) === assistant)
  const shown = (items: ReadonlyArray<ApprovalAsked>) =>
    ofOne(items).filter((each) => (tool ?? each.tool) === each.tool)
  useCardKeys()
  return (
    <Page
      name="approvals"
      title="Approvals"
      ready={isReady(open)}
      side={
        <>
          <span className="text-ink-2">
            {open.data === undefined ? "" : many(shown(open.data.items).length, "call waits", "calls wait")}
          </span>
          {of === undefined ? null : (
            <Link to="/approvals" className="button button-small" data-clear-filter="">
              of <Visible text={of} /> · show all
            </Link>
          )}
          <Export
            name="approvals"
            route="GET /v1/approvals"
            asked={{}}
            isPaged={false}
            isMeant={(each) => (of ?? each.assistant) === each.assistant && (tool ?? each.tool) === each.tool}
          />
          <Notify />
          <span className="label ml-auto max-md:hidden">
            <kbd>j</kbd> <kbd>k</kbd> from card to card, then <kbd>a</kbd> approves, <kbd>d</kbd> denies
          </span>
        </>
      }
    >
      <Answered of={open} lines={8}>
        {({ items }) => (
          <>
            <Tools items={ofOne(items)} search={search} />
            <Cards key={tool ?? ""} items={shown(items)} />
          </>
        )}
      </Answered>
      <History />
    </Page>
  )
}

export const page = createLazyRoute("/approvals")({ component: ApprovalsPage })
