// Queues: the page Queues.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const QueuesPage = () => (
  <Page name="queues" title="Queues" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/queues")({ component: QueuesPage })
