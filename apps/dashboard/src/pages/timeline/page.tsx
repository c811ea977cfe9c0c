// Timeline: the page Timeline.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const TimelinePage = () => (
  <Page name="timeline" title="Timeline" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/timeline")({ component: TimelinePage })
