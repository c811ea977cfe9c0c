// Layout: what is around every page.
// Owns the bar, the navigation, keys of the shell, and who is asked for a token. Leaves what is in the middle to the page.

import { Outlet, useNavigate, useParams } from "@tanstack/react-router"
import { lazy, Suspense, useState, useSyncExternalStore } from "react"
import { isTokenWanted, onToken } from "../api/token.ts"
import { Bar } from "./bar.tsx"
import { useKeys, type Bindings } from "./keys.ts"
import { Navigation } from "./navigation.tsx"
import { assistantPages, fleetPages } from "./pages.ts"
import { SignIn } from "./sign-in.tsx"

const Help = lazy(() => import("./help.tsx").then(({ Help }) => ({ default: Help })))

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
  const tokenWanted = useSyncExternalStore(onToken, isTokenWanted)
  useShellKeys(() => setHelp(true))
  return (
    <div className="grid h-dvh grid-cols-[13rem_minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)] max-md:grid-cols-1 max-md:grid-rows-[auto_auto_minmax(0,1fr)]">
      <a href="#main" className="skip-link">
        Skip to the page
      </a>
      <Bar onHelp={() => setHelp(true)} />
      <Navigation />
      <main id="main" tabIndex={-1} className="min-h-0 min-w-0 overflow-auto outline-none">
        {tokenWanted ? <SignIn /> : <Outlet />}
      </main>
      {help ? (
        <Suspense>
          <Help onClose={() => setHelp(false)} />
        </Suspense>
      ) : null}
    </div>
  )
}
