// Approvals: the page Approvals.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const ApprovalsPage = () => (
  <Page name="approvals" title="Approvals" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/approvals")({ component: ApprovalsPage })
