// Fleet: the page Fleet.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const FleetPage = () => (
  <Page name="fleet" title="Fleet" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/")({ component: FleetPage })
