// Replay: the page Replay.

import { createLazyRoute } from "@tanstack/react-router"
import { Page } from "../../parts/page.tsx"

const ReplayPage = () => (
  <Page name="replay" title="Replay" ready>
    <p className="text-ink-2">Nothing is here yet.</p>
  </Page>
)

export const page = createLazyRoute("/a/$id/replay")({ component: ReplayPage })
