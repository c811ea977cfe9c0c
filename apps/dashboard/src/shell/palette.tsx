// Palette: what one may go to or do, found by its name: assistants, pages, actions of the assistant that is open.
// Owns the list and its keys. Leaves what an action asks first to the dialogs that ask it elsewhere.
// P1  Assistants are found through the API, however many there are.
// P2  A page of an assistant is found by both their names, from anywhere: `ada dreams`.
// P3  It is a combobox with a list: the focus stays in the field, and readers hear which entry is current.

import { useNavigate, useParams } from "@tanstack/react-router"
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react"
import { useAnswer } from "../api/questions.ts"
import { StateChip } from "../parts/chip.tsx"
import { Dialog } from "../parts/dialogs/confirm.tsx"
import { useMayChange } from "../parts/action.tsx"
import { useOrder, verbsFor } from "../parts/dialogs/order.tsx"
import { Failed } from "../parts/states.tsx"
import { Visible } from "../parts/text.tsx"
import { setNotifying, useNotifying } from "./notify.ts"
import { assistantPages, fleetPages } from "./pages.ts"
import { nextTheme, setTheme, useTheme } from "./theme.ts"

const TYPING_MILLIS = 150
const MOST_FOUND = 8

interface Entry {
  readonly key: string
  readonly group: "Actions" | "Pages" | "Assistants"
  readonly title: string
  /** Of the assistant that it is. */
  readonly state?: string
  /** Whether the palette stays open. */
  readonly stays?: true
  readonly go: () => void
}

/** A text when it has not changed for a moment. */
const useSettled = (text: string): string => {
  const [settled, settle] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => settle(text), TYPING_MILLIS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

const matches = (title: string, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => title.toLowerCase().includes(word))

const usePages = (id: string | undefined): ReadonlyArray<Entry> => {
  const navigate = useNavigate()
  const own = id === undefined ? [] : assistantPages
  return [
    ...own.map(({ page, title, to }): Entry => ({
      key: `page-${page}`,
      group: "Pages",
      title: `${title} of ${id ?? ""}`,
      go: () => void navigate({ to, params: { id: id ?? "" } })
    })),
    ...fleetPages.map(({ page, title, to }): Entry => ({
      key: `page-${page}`,
      group: "Pages",
      title,
      go: () => void navigate({ to })
    }))
  ]
}

type AssistantPage = (typeof assistantPages)[number]

interface Wanted {
  /** Of whom. */
  readonly q: string
  /** The pages whose titles begin like the last word; none where there is but one word. */
  readonly pages: ReadonlyArray<AssistantPage>
}

/** `ada dr` is the page Dreams of `ada`; an assistant of that whole name is found as well. */
const wantedIn = (words: string): Wanted => {
  const [, q = "", page = ""] = /^(.*\S)\s+(\S+)$/.exec(words.toLowerCase()) ?? []
  return { q, pages: q === "" ? [] : assistantPages.filter(({ title }) => title.toLowerCase().startsWith(page)) }
}

interface Found {
  readonly entries: ReadonlyArray<Entry>
  readonly isLooking: boolean
}

/** Pages of assistants that both words name, the first of the assistants first. */
const useFoundPages = (words: string): Found => {
  const navigate = useNavigate()
  const { pages, q } = wantedIn(useSettled(words.trim()))
  const { data, isFetching } = useAnswer(
    "GET /v1/assistants",
    { query: { q, limit: MOST_FOUND } },
    { enabled: pages.length > 0, keep: true }
  )
  const items = pages.length === 0 ? [] : (data?.items ?? [])
  return {
    isLooking: isFetching && pages.length > 0,
    entries: items.flatMap(({ id }) =>
      pages.map(({ page, title, to }): Entry => ({
        key: `page-${page}-${id}`,
        group: "Assistants",
        title: `${title} of ${id}`,
        go: () => void navigate({ to, params: { id } })
      }))
    )
  }
}

const useFoundAssistants = (words: string): Found => {
  const navigate = useNavigate()
  const q = useSettled(words.trim())
  const { data, isFetching } = useAnswer(
    "GET /v1/assistants",
    { query: { q, limit: MOST_FOUND } },
    { enabled: q !== "", keep: true }
  )
  const items = q === "" ? [] : (data?.items ?? [])
  return {
    isLooking: isFetching || q !== words.trim(),
    entries: items.map(({ id, state }): Entry => ({
      key: `assistant-${id}`,
      group: "Assistants",
      title: id,
      state,
      go: () => void navigate({ to: "/a/$id", params: { id } })
    }))
  }
}

/** What the server knows by these words. */
const useFound = (words: string): Found => {
  const [assistants, pages] = [useFoundAssistants(words), useFoundPages(words)]
  return {
    entries: [...assistants.entries, ...pages.entries],
    isLooking: assistants.isLooking || pages.isLooking
  }
}

const notifyWords = {
  off: "Notify me of approvals in this browser",
  on: "Do not notify me of approvals any more",
  denied: undefined,
  unsupported: undefined
} as const

const useGeneral = (): ReadonlyArray<Entry> => {
  const theme = useTheme()
  const notifying = useNotifying()
  const navigate = useNavigate()
  const title = notifyWords[notifying]
  return [
    {
      key: "create",
      group: "Actions",
      title: "Create an assistant",
      go: () => void navigate({ to: "/fleet", search: { create: true } })
    },
    ...(title === undefined
      ? []
      : [{ key: "notify", group: "Actions", title, go: () => void setNotifying(notifying === "off") } as const]),
    {
      key: "theme",
      group: "Actions",
      title: `Theme: change from ${theme} to ${nextTheme(theme)}`,
      stays: true,
      go: () => setTheme(nextTheme(theme))
    }
  ]
}

/** What the assistant that is open accepts in its state. */
const useActions = (id: string | undefined, onClose: () => void) => {
  const { data } = useAnswer("GET /v1/assistants/:id", { params: { id: id ?? "" } }, { enabled: id !== undefined })
  const { asked, error, give, question } = useOrder(id ?? "", onClose)
  const mayChange = useMayChange()
  const verbs = data === undefined || !mayChange ? [] : verbsFor(data.accepts)
  const entries = verbs.map((verb): Entry => ({
    key: `order-${verb.order}`,
    group: "Actions",
    title: `${verb.title}: ${id ?? ""}`,
    stays: true,
    go: () => give(verb)
  }))
  return { entries, asked, error, question }
}

const Option = ({
  entry,
  id,
  isCurrent,
  onGo
}: {
  readonly entry: Entry
  readonly id: string
  readonly isCurrent: boolean
  readonly onGo: () => void
}) => (
  <li id={id} role="option" aria-selected={isCurrent} className="palette-option" data-entry={entry.key} onClick={onGo}>
    <span className="min-w-0 truncate">
      <Visible text={entry.title} />
    </span>
    {entry.state === undefined ? null : <StateChip path={entry.state} />}
  </li>
)

const groups = ["Actions", "Assistants", "Pages"] as const

interface ListProps {
  readonly listId: string
  readonly shown: ReadonlyArray<Entry>
  readonly current: number
  readonly onGo: (entry: Entry) => void
}

const List = ({ current, listId, onGo, shown }: ListProps) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [current])
  return (
    <div
      ref={place}
      id={listId}
      role="listbox"
      aria-label="Entries"
      className="palette-list"
      data-entries={shown.length}
    >
      {groups.map((group) => {
        const own = shown.flatMap((entry, at) => (entry.group === group ? [{ entry, at }] : []))
        return own.length === 0 ? null : (
          <ul key={group} role="group" aria-label={group}>
            <li role="presentation" className="palette-group">
              {group}
            </li>
            {own.map(({ at, entry }) => (
              <Option
                key={entry.key}
                id={`${listId}-${at}`}
                entry={entry}
                isCurrent={at === current}
                onGo={() => onGo(entry)}
              />
            ))}
          </ul>
        )
      })}
    </div>
  )
}

const moves: Readonly<Record<string, (at: number, total: number) => number>> = {
  ArrowDown: (at, total) => (at + 1) % Math.max(1, total),
  ArrowUp: (at, total) => (at - 1 + total) % Math.max(1, total),
  Home: () => 0,
  End: (_, total) => total - 1
}

export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const { id } = useParams({ strict: false })
  const [words, write] = useState("")
  const [at, setAt] = useState(0)
  const listId = useId()
  const field = useRef<HTMLInputElement>(null)
  const actions = useActions(id, onClose)
  const [general, pages, found] = [useGeneral(), usePages(id), useFound(words)]
  const named = [...actions.entries, ...general, ...pages].filter(({ title }) => matches(title, words))
  const shown = groups.flatMap((group) => [...named, ...found.entries].filter((entry) => entry.group === group))
  const current = Math.min(at, shown.length - 1)
  const onGo = (entry: Entry) => {
    entry.go()
    if (entry.stays === undefined) onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key]
    const entry = shown[current]
    if (move !== undefined) setAt(move(current, shown.length))
    else if (event.key === "Enter" && entry !== undefined) onGo(entry)
    else return
    event.preventDefault()
  }
  if (actions.asked !== undefined) return actions.question
  return (
    <Dialog title="Go to, or do" first={field} onClose={onClose}>
      <div className="space-y-2" data-palette="">
        <input
          ref={field}
          className="field w-full"
          role="combobox"
          aria-label="Assistants, pages, actions"
          aria-expanded
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={shown.length === 0 ? undefined : `${listId}-${current}`}
          placeholder="An assistant, a page, an action"
          autoComplete="off"
          spellCheck={false}
          value={words}
          onChange={({ target }) => {
            write(target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        {actions.error === null ? null : <Failed trouble={actions.error} />}
        <List listId={listId} shown={shown} current={current} onGo={onGo} />
        <p className="text-ink-2" role="status">
          {shown.length > 0
            ? `${shown.length} found`
            : found.isLooking
              ? "Looking…"
              : "No assistant, page or action has this name."}
        </p>
      </div>
    </Dialog>
  )
}
