// Dreams: the page Dreams.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const DreamsPage = () => (
  <Page name="dreams" title="Dreams" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/dreams")({ component: DreamsPage })
