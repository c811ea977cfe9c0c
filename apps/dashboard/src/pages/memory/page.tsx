// Memory: the page Memory.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const MemoryPage = () => (
  <Page name="memory" title="Memory" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/memory")({ component: MemoryPage })
