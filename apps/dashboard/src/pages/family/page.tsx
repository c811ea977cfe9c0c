// Family: the page Sub-agents & budget.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const FamilyPage = () => (
  <Page name="family" title="Sub-agents & budget" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/family")({ component: FamilyPage })
