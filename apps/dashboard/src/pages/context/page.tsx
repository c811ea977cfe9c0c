// Context: the page Context.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const ContextPage = () => (
  <Page name="context" title="Context" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/context")({ component: ContextPage })
