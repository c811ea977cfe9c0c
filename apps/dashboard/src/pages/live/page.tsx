// Live: the page Live.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const LivePage = () => (
  <Page name="live" title="Live" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/")({ component: LivePage })
