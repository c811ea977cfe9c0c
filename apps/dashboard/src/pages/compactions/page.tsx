// Compactions: the page Compactions.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const CompactionsPage = () => (
  <Page name="compactions" title="Compactions" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/compactions")({ component: CompactionsPage })
