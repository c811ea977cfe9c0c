// Layout: what is around every page.
// Owns the bar, the navigation, keys of the shell, and who is asked for a token. Leaves what is in the middle to the page.

import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router"
import { lazy, Suspense, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react"
import { isTokenWanted, onToken, setToken, tokenNow } from "../api/token.ts"
import { type Bindings, useKeys } from "./keys.ts"
import { useApprovalNotifications } from "./notify.ts"
import { assistantPages, fleetPages } from "./pages.ts"
import { Page } from "../parts/page.tsx"
import { useAnswer } from "../api/questions.ts"
import { Visible } from "../parts/text.tsx"
import { type Connection, reconnect, useConnection, useFollowing } from "../live/live.ts"
import { useNow } from "../parts/time.tsx"
import { nextTheme, setTheme, useTheme } from "./theme.ts"

// Bar: the line at the top: where one is, whether what one sees is live, light and dark.

const Breadcrumb = () => {
  const { id } = useParams({ strict: false })
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const last = path.split("/").filter((part) => part !== "")
  const title =
    id === undefined
      ? fleetPages.find(({ to }) => to === path)?.title
      : assistantPages.find(({ page }) => page === (last[2] ?? "live"))?.title
  return (
    <nav aria-label="Breadcrumb" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1.5 text-ink-2">
        {id === undefined ? null : (
          <>
            <li>
              <Link to="/fleet" className="quiet-link">
                Fleet
              </Link>
            </li>
            <li aria-hidden className="text-ink-3">
              /
            </li>
            <li className="min-w-0 truncate" data-crumb="">
              <Link to="/a/$id" params={{ id }} className="quiet-link font-mono text-[0.92em]">
                <Visible text={id} />
              </Link>
            </li>
            <li aria-hidden className="text-ink-3 max-md:hidden">
              /
            </li>
          </>
        )}
        {/* A phone has room for the id, and the line of pages below marks the one that is open. */}
        <li aria-current="page" className={`truncate font-medium text-ink ${id === undefined ? "" : "max-md:hidden"}`}>
          {title ?? "Not found"}
        </li>
      </ol>
    </nav>
  )
}

const words: Readonly<Record<Connection["state"], string>> = {
  off: "Not connected",
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  lost: "Lost"
}

const Waiting = ({ nextAt }: { readonly nextAt: number }) => {
  const now = useNow(1_000)
  const seconds = Math.max(0, Math.ceil((nextAt - now) / 1_000))
  return <span className="tabular text-ink-2">{seconds > 0 ? `again in ${seconds} s` : "now"}</span>
}

const ConnectionState = () => {
  const connection = useConnection()
  const { state } = connection
  const broken = state === "lost" || state === "reconnecting"
  return (
    <div className="flex items-center gap-2 whitespace-nowrap" data-connection={state} role="status">
      <span className="connection-dot" data-connection={state} aria-hidden />
      <span title={broken ? connection.why : undefined}>{words[state]}</span>
      {broken ? (
        <>
          <span aria-hidden>
            <Waiting nextAt={connection.nextAt} />
          </span>
          <button type="button" className="button button-small" onClick={reconnect}>
            Reconnect
          </button>
        </>
      ) : null}
    </div>
  )
}

const themeWords = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" } as const

const Bar = ({ onHelp, onPalette }: { readonly onHelp: () => void; readonly onPalette: () => void }) => {
  const theme = useTheme()
  return (
    <header className="bar">
      <Link to="/" className="brand" aria-label="Reverie, to the overview">
        <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden>
          <path d="M14.5 12.6A6.6 6.6 0 0 1 7.4 3.4a6.9 6.9 0 1 0 7.1 9.2Z" fill="currentColor" />
          <circle cx="14.3" cy="5.4" r="1.5" fill="currentColor" />
        </svg>
        <span className="brand-name">Reverie</span>
      </Link>
      <Breadcrumb />
      <div className="ml-auto flex items-center gap-3">
        <button
          type="button"
          className="button button-quiet"
          onClick={onPalette}
          aria-label="Ctrl K: go to, or do"
          aria-keyshortcuts="Control+K Meta+K"
          data-open-palette=""
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden>
            <path
              d="M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2Zm3.6 8.6L14 14"
              fill="none"
              stroke="currentColor"
              strokeWidth="1.6"
            />
          </svg>
          <kbd className="max-md:hidden">Ctrl K</kbd>
        </button>
        <ConnectionState />
        <button
          type="button"
          className="button button-quiet max-md:hidden"
          data-theme-switch={theme}
          onClick={() => setTheme(nextTheme(theme))}
        >
          {themeWords[theme]}
        </button>
        <button type="button" className="button button-quiet" onClick={onHelp} aria-label="Keys and help">
          <kbd>?</kbd>
        </button>
      </div>
    </header>
  )
}

// Navigation: the pages of the fleet, and those of the assistant that is open.

const BADGE_MILLIS = 15_000

const Badge = ({ count, what }: { readonly count: number; readonly what: string }) =>
  count === 0 ? null : (
    <span className="badge" data-badge={count}>
      {count > 99 ? "99+" : count}
      <span className="sr-only"> {what}</span>
    </span>
  )

const ApprovalsBadge = () => {
  const { data } = useAnswer("GET /v1/approvals", {}, { everyMillis: BADGE_MILLIS })
  return <Badge count={data?.items.length ?? 0} what="waiting for a person" />
}

const DeadBadge = () => {
  const { data } = useAnswer("GET /v1/dead-letters", {}, { everyMillis: BADGE_MILLIS })
  return <Badge count={data?.items.length ?? 0} what="dead letters" />
}

const badges: Readonly<Record<string, () => React.ReactNode>> = {
  approvals: ApprovalsBadge,
  queues: DeadBadge
}

const FleetPages = () => (
  <ul className="nav-list">
    {fleetPages.map(({ page, title, to }) => {
      const Of = badges[page]
      return (
        <li key={page}>
          <Link to={to} className="nav-link" activeOptions={{ exact: true, includeSearch: false }} data-nav={page}>
            <span>{title}</span>
            {Of === undefined ? null : <Of />}
          </Link>
        </li>
      )
    })}
  </ul>
)

const AssistantPages = ({ id }: { readonly id: string }) => (
  <>
    <h2 className="nav-title" title={id}>
      <Visible text={id} />
    </h2>
    <ul className="nav-list">
      {assistantPages.map(({ page, title, to }) => (
        <li key={page}>
          <Link
            to={to}
            params={{ id }}
            className="nav-link"
            // The playground is one page, whichever run is in its address.
            activeOptions={{ exact: page !== "fork", includeSearch: false }}
            data-nav={page}
          >
            {title}
          </Link>
        </li>
      ))}
    </ul>
  </>
)

/** In a narrow window the navigation is one line: the pages of the assistant come first, and the open one is in view. */
const Navigation = () => {
  const { id } = useParams({ strict: false })
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    const show = () =>
      place.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" })
    // Also when a number comes to stand beside a name, and the line gets longer.
    const watch = new ResizeObserver(show)
    for (const each of [place.current, ...(place.current?.querySelectorAll("li") ?? [])]) {
      if (each !== null) watch.observe(each)
    }
    return () => watch.disconnect()
  }, [path])
  return (
    <nav aria-label="Pages" className="navigation" ref={place}>
      <FleetPages />
      {id === undefined ? null : <AssistantPages id={id} />}
    </nav>
  )
}

// SignIn: asks for a token when the server wants one.

const SignIn = () => {
  const [token, write] = useState("")
  const refused = tokenNow() !== undefined
  return (
    <Page name="sign-in" title="A token is needed" ready>
      <form
        className="card max-w-lg space-y-4 p-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() !== "") setToken(token.trim())
        }}
      >
        <p className="text-ink-2">
          {refused ? "The server refused the token of this tab." : "This server answers only who has a token."} Tokens
          are in its configuration. What you write here is kept in this tab and forgotten when it is closed.
        </p>
        <label className="block space-y-1.5">
          <span className="font-medium">Token</span>
          <input
            className="field w-full font-mono"
            type="password"
            autoComplete="off"
            name="token"
            value={token}
            onChange={({ target }) => write(target.value)}
          />
        </label>
        <button type="submit" className="button button-primary" disabled={token.trim() === ""}>
          Go on
        </button>
      </form>
    </Page>
  )
}

const Help = lazy(() => import("./help.tsx").then(({ Help }) => ({ default: Help })))

const Palette = lazy(() => import("./palette.tsx").then(({ Palette }) => ({ default: Palette })))

/** From anywhere, also while one types: it is no letter. */
const usePaletteKey = (open: () => void): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return
      event.preventDefault()
      open()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [open])
}

const focusSearch = (): void => {
  const field = document.querySelector<HTMLInputElement>("[data-search]")
  field?.focus()
  field?.select()
}

const useShellKeys = (showHelp: () => void): void => {
  const navigate = useNavigate()
  const { id } = useParams({ strict: false })
  const bindings: Record<string, Bindings[string]> = { "/": focusSearch, "?": showHelp }
  for (const { key, to } of fleetPages) bindings[`g ${key}`] = () => void navigate({ to })
  if (id !== undefined) {
    for (const { key, to } of assistantPages) bindings[`g ${key}`] = () => void navigate({ to, params: { id } })
  }
  useKeys(bindings)
}

export const Layout = () => {
  const [help, setHelp] = useState(false)
  const [palette, setPalette] = useState(false)
  const openPalette = useCallback(() => setPalette(true), [])
  const navigate = useNavigate()
  const tokenWanted = useSyncExternalStore(onToken, isTokenWanted)
  useShellKeys(() => setHelp(true))
  usePaletteKey(openPalette)
  useApprovalNotifications(() => void navigate({ to: "/approvals" }))
  return (
    <div className="grid h-dvh grid-cols-[13rem_minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)] max-md:grid-cols-1 max-md:grid-rows-[auto_auto_minmax(0,1fr)]">
      <a href="#main" className="skip-link">
        Skip to the page
      </a>
      <Bar onHelp={() => setHelp(true)} onPalette={openPalette} />
      <Navigation />
      <main id="main" tabIndex={-1} className="min-h-0 min-w-0 overflow-auto outline-none">
        {tokenWanted ? <SignIn /> : <Outlet />}
      </main>
      {palette ? (
        <Suspense>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      ) : null}
      {help ? (
        <Suspense>
          <Help onClose={() => setHelp(false)} />
        </Suspense>
      ) : null}
    </div>
  )
}

// Assistant: what the pages of one assistant have in common: the stream follows it.

export const Assistant = () => {
  const { id } = useParams({ from: "/a/$id" })
  useFollowing(id)
  return <Outlet key={id} />
}
