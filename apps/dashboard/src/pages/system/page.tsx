// System: the page System.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const SystemPage = () => (
  <Page name="system" title="System" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/system")({ component: SystemPage })
