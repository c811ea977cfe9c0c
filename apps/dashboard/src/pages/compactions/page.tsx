// Compactions: the compactions of one history: what stood before, what stands now, and the way back.
// C1  The list has the long texts cut; what is opened is whole, with the messages that it took out of sight.

import { useState } from "react"
import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { Chip } from "../../parts/chip.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Export } from "../../parts/export/export.tsx"
import { many, percent, tokens } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, Failed, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"
import { Opened } from "./opened.tsx"

// Order: compacting the history now, offered where the present state accepts it.

/** What an order would compact now, before it is given. */
const Preview = ({ id, onClose, onGo }: { id: string; onClose: () => void; onGo: () => Promise<unknown> }) => {
  const { data: window, isPending } = useAnswer("GET /v1/assistants/:id/window", { params: { id } })
  const { maxTokens, share, skipped, would } = window ?? {}
  return (
    <ConfirmLater
      title="Compact this history now?"
      verb="Compact"
      waiting={isPending}
      onClose={onClose}
      onConfirm={onGo}
    >
      {window === undefined ? null : (
        <span data-preview={would?.compact ?? 0}>
          {would === undefined
            ? skipped === undefined
              ? "What it would do is known where the definition is. "
              : `It would compact nothing: ${skipped}. `
            : `${many(would.compact, "message")} would leave the window behind a summary, and ${would.keep} would stay. `}
          The window holds {many(window.messages, "message")}, {tokens(window.tokens)} tokens
          {share === undefined || maxTokens === undefined ? "" : ` (${percent(share)} of ${tokens(maxTokens)})`}.
          {window.hold === undefined ? "" : ` The undo of ${window.hold.compaction} holds it: an order ends that.`}
        </span>
      )}
    </ConfirmLater>
  )
}

const Order = ({ id }: { readonly id: string }) => {
  const { data: detail } = useAnswer("GET /v1/assistants/:id", { params: { id } })
  const { isSuccess, mutateAsync } = useChange("POST /v1/assistants/:id/orders")
  const [asks, ask] = useState(false)
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      {isSuccess ? (
        <span role="status" className="text-ink-2" data-told="compact">
          It was asked to compact. Where nothing can be compacted, the Live page says why.
        </span>
      ) : null}
      {detail?.accepts.includes("compact") === true ? (
        <Action className="button button-small" data-order="compact" onClick={() => ask(true)}>
          Compact history
        </Action>
      ) : null}
      {asks ? (
        <Preview
          id={id}
          onClose={() => ask(false)}
          onGo={() => mutateAsync((key) => ({ params: { id }, payload: { order: "compact", id: key } }))}
        />
      ) : null}
    </div>
  )
}

// Release: an undo holds the history; the way to let it be compacted again.

type Hold = NonNullable<Answer<"GET /v1/assistants/:id/compactions">["hold"]>

const Release = ({ hold, id }: { readonly id: string; readonly hold: Hold }) => {
  const { error, isPending, isSuccess, mutate } = useChange("POST /v1/assistants/:id/compactions/release")
  return (
    <section className="card flex flex-wrap items-center gap-2" data-held={hold.compaction}>
      <span role="status">
        {isSuccess
          ? "It was asked to, and does at rest."
          : `The undo of ${hold.compaction} holds this history: nothing is compacted until the window overflows.`}
      </span>
      {error === null ? null : <Failed trouble={error} />}
      <Action
        className="button button-small"
        data-order="release"
        disabled={isPending || isSuccess}
        onClick={() => mutate((key) => ({ params: { id }, headers: { "idempotency-key": key } }))}
      >
        Release history
      </Action>
    </section>
  )
}

type CompactionItem = Answer<"GET /v1/assistants/:id/compactions">["items"][number]

const route = getRouteApi("/a/$id/compactions")

/** What it was made for. */
const whys: Readonly<Record<string, string>> = {
  sleep: "asleep",
  emergency: "the window was nearly full",
  order: "requested"
}

const saved = ({ afterTokens, beforeTokens }: CompactionItem): string =>
  beforeTokens === 0 ? "–" : percent(Math.max(0, 1 - afterTokens / beforeTokens))

interface RowProps {
  readonly item: CompactionItem
  /** The prompt begins with its summary. */
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly onOpen: () => void
}

const State = ({ isActive, undone }: { isActive: boolean; undone: boolean }) =>
  undone ? (
    <Chip tone="retired" text="reverted" />
  ) : isActive ? (
    <Chip tone="compacting" text="active" />
  ) : (
    <Chip tone="idle" text="superseded" />
  )

const Row = ({ isActive, isOpen, item, onOpen }: RowProps) => {
  const { afterTokens, at, beforeTokens, id, messages, reason, undone } = item
  return (
    <tr data-compaction={id} data-undone={undone} {...(isOpen ? { "data-open": "", "aria-current": "true" } : {})}>
      <td>
        <button
          type="button"
          className="text-left font-mono text-[0.893rem] text-accent hover:underline"
          onClick={onOpen}
          data-open-item={id}
        >
          <Visible text={id} />
        </button>
      </td>
      <td className="text-ink-2" data-title="When">
        <Ago at={at} />
      </td>
      <td data-why={reason} data-title="Why">
        <Visible text={whys[reason] ?? reason} />
      </td>
      <td data-align="end" data-title="Messages">
        {messages}
      </td>
      <td data-align="end" data-title="Tokens before">
        {tokens(beforeTokens)}
      </td>
      <td data-align="end" data-title="Tokens after">
        {tokens(afterTokens)}
      </td>
      <td data-align="end" data-title="Saved">
        {saved(item)}
      </td>
      <td>
        <State isActive={isActive} undone={undone} />
      </td>
    </tr>
  )
}

interface ListProps {
  readonly items: ReadonlyArray<CompactionItem>
  readonly active: string | null
  readonly shown: string | undefined
  readonly onOpen: (id: string) => void
}

const List = ({ active, items, onOpen, shown }: ListProps) => (
  <Section title="Compactions">
    <div className="max-h-72 overflow-auto" tabIndex={0} role="region" aria-label="List of compactions">
      <table className="plain-table tight-table sticky-head stack-table">
        <thead>
          <tr>
            {["Compaction", "When", "Why"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            {["Messages", "Tokens before", "Tokens after", "Saved"].map((title) => (
              <th key={title} scope="col" data-align="end">
                {title}
              </th>
            ))}
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row
              key={item.id}
              item={item}
              isActive={item.id === active}
              isOpen={item.id === shown}
              onOpen={() => onOpen(item.id)}
            />
          ))}
        </tbody>
      </table>
    </div>
  </Section>
)

const None = () => (
  <section className="card">
    <Empty title="Nothing was compacted yet">
      When the window fills, the older part of the history is compacted behind a summary: at 70 % asleep, at 80 % awake.
      It can be asked to compact at any time. The messages stay in the ledger, and each item can be reverted here.
    </Empty>
  </section>
)

const CompactionsPage = () => {
  const { id } = route.useParams()
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const all = useAnswer("GET /v1/assistants/:id/compactions", { params: { id }, query: { limit: 200 } })
  const { hold = null, items = [] } = all.data ?? {}
  const shown = open ?? items[0]?.id
  const show = (item: string) => void navigate({ search: { open: item } })
  return (
    <Page
      name="compactions"
      title="Compactions"
      ready={isReady(all)}
      side={
        <>
          {items.length === 0 ? null : <span className="text-ink-2">{many(items.length, "compaction")}</span>}
          <Export name={`compactions of ${id}`} route="GET /v1/assistants/:id/compactions" asked={{ params: { id } }} />
          <Order id={id} />
        </>
      }
    >
      {hold === null ? null : <Release id={id} hold={hold} />}
      <Answered of={all}>
        {(found) =>
          found.items.length === 0 ? (
            <None />
          ) : (
            <List items={found.items} active={found.current} shown={shown} onOpen={show} />
          )
        }
      </Answered>
      {shown === undefined ? null : <Opened id={id} compaction={shown} />}
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/compactions")({ component: CompactionsPage })
