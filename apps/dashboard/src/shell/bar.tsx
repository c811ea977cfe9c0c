// Bar: the line at the top: where one is, whether what one sees is live, light and dark.

import { Link, useParams, useRouterState } from "@tanstack/react-router"
import { type Connection, reconnect, useConnection } from "../live/live.ts"
import { Visible } from "../parts/text.tsx"
import { useNow } from "../parts/time.tsx"
import { assistantPages, fleetPages } from "./pages.ts"
import { nextTheme, setTheme, useTheme } from "./theme.ts"

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
              <Link to="/" className="quiet-link">
                Fleet
              </Link>
            </li>
            <li aria-hidden className="text-ink-3">
              /
            </li>
            <li className="min-w-0 truncate">
              <Link to="/a/$id" params={{ id }} className="quiet-link font-mono text-[0.92em]">
                <Visible text={id} />
              </Link>
            </li>
            <li aria-hidden className="text-ink-3">
              /
            </li>
          </>
        )}
        <li aria-current="page" className="truncate font-medium text-ink">
          {title ?? "Nowhere"}
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

export const Bar = ({ onHelp }: { readonly onHelp: () => void }) => {
  const theme = useTheme()
  return (
    <header className="bar">
      <Link to="/" className="brand" aria-label="Reverie, to the fleet">
        <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden>
          <path d="M14.5 12.6A6.6 6.6 0 0 1 7.4 3.4a6.9 6.9 0 1 0 7.1 9.2Z" fill="currentColor" />
          <circle cx="14.3" cy="5.4" r="1.5" fill="currentColor" />
        </svg>
        <span>Reverie</span>
      </Link>
      <Breadcrumb />
      <div className="ml-auto flex items-center gap-3">
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
