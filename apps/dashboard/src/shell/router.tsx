// Router: the addresses of the page.
// Owns the tree of routes; each page comes only when it is opened. What a page reads of the URL stands in search.ts.

import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  redirect
} from "@tanstack/react-router"
import { troubleOf } from "../api/client.ts"
import { memorySearch } from "../pages/memory/search.ts"
import { timelineSearch } from "../pages/timeline/search.ts"
import { Page } from "../parts/page.tsx"
import { Failed } from "../parts/states.tsx"
import { Assistant, Layout } from "./layout.tsx"
import {
  approvalsSearch,
  compactionsSearch,
  contextSearch,
  dreamsSearch,
  fleetSearch,
  liveSearch,
  overviewSearch,
  queuesSearch,
  replaySearch,
  subAgentTreeSearch,
  promptsSearch,
  systemSearch,
  usageSearch
} from "./search.ts"

// Wrong: what is shown where there is no page, or one is broken.

const NoSuchPage = () => (
  <Page name="none" title="There is no such page" ready>
    <p className="text-ink-2">
      Not found: no page has this address. <Link to="/">Go to the overview</Link>.
    </p>
  </Page>
)

/** Loaded anew: after an update of the server the parts of the old page are gone. */
const Broken = ({ error }: ErrorComponentProps) => (
  <Page name="broken" title="This page has stopped" ready>
    <Failed trouble={troubleOf(error)} onRetry={() => location.reload()} />
  </Page>
)

// Routes: one for each page of the fleet and of an assistant.

const root = createRootRoute({ component: Layout, notFoundComponent: NoSuchPage, errorComponent: Broken })

const ofFleet = <const Path extends string>(path: Path) => ({ getParentRoute: () => root, path })

const overview = createRoute({ ...ofFleet("/"), validateSearch: overviewSearch }).lazy(() =>
  import("../pages/overview/page.tsx").then(({ page }) => page)
)
const fleet = createRoute({ ...ofFleet("/fleet"), validateSearch: fleetSearch }).lazy(() =>
  import("../pages/fleet/page.tsx").then(({ page }) => page)
)
const approvals = createRoute({ ...ofFleet("/approvals"), validateSearch: approvalsSearch }).lazy(() =>
  import("../pages/approvals/page.tsx").then(({ page }) => page)
)
const queues = createRoute({ ...ofFleet("/queues"), validateSearch: queuesSearch }).lazy(() =>
  import("../pages/queues/page.tsx").then(({ page }) => page)
)
const usage = createRoute({ ...ofFleet("/usage"), validateSearch: usageSearch }).lazy(() =>
  import("../pages/usage/page.tsx").then(({ page }) => page)
)
const prompts = createRoute({ ...ofFleet("/prompts"), validateSearch: promptsSearch }).lazy(() =>
  import("../pages/prompts/page.tsx").then(({ page }) => page)
)
const system = createRoute({ ...ofFleet("/system"), validateSearch: systemSearch }).lazy(() =>
  import("../pages/system/page.tsx").then(({ page }) => page)
)

const assistant = createRoute({ ...ofFleet("/a/$id"), component: Assistant })

const ofAssistant = <const Path extends string>(path: Path) => ({ getParentRoute: () => assistant, path })

const live = createRoute({ ...ofAssistant("/"), validateSearch: liveSearch }).lazy(() =>
  import("../pages/live/page.tsx").then(({ page }) => page)
)
const context = createRoute({ ...ofAssistant("/context"), validateSearch: contextSearch }).lazy(() =>
  import("../pages/context/page.tsx").then(({ page }) => page)
)
const timeline = createRoute({ ...ofAssistant("/timeline"), validateSearch: timelineSearch }).lazy(() =>
  import("../pages/timeline/page.tsx").then(({ page }) => page)
)
const memory = createRoute({ ...ofAssistant("/memory"), validateSearch: memorySearch }).lazy(() =>
  import("../pages/memory/page.tsx").then(({ page }) => page)
)
const compactions = createRoute({ ...ofAssistant("/compactions"), validateSearch: compactionsSearch }).lazy(() =>
  import("../pages/compactions/page.tsx").then(({ page }) => page)
)
const dreams = createRoute({ ...ofAssistant("/dreams"), validateSearch: dreamsSearch }).lazy(() =>
  import("../pages/dreams/page.tsx").then(({ page }) => page)
)
const subAgentTree = createRoute({ ...ofAssistant("/subagents"), validateSearch: subAgentTreeSearch }).lazy(() =>
  import("../pages/subagents/page.tsx").then(({ page }) => page)
)
const replay = createRoute({
  ...ofAssistant("/replay"),
  validateSearch: replaySearch,
  // A link of the time when forks had no page of their own.
  beforeLoad: ({ params: { id }, search: { fork } }) => {
    if (fork === undefined || fork === 0) return
    throw redirect({ to: "/a/$id/fork/$tick", params: { id, tick: String(fork) }, replace: true })
  }
}).lazy(() => import("../pages/replay/page.tsx").then(({ page }) => page))
const newestFork = createRoute(ofAssistant("/fork")).lazy(() =>
  import("../pages/fork/newest.tsx").then(({ page }) => page)
)
const fork = createRoute(ofAssistant("/fork/$tick")).lazy(() =>
  import("../pages/fork/page.tsx").then(({ page }) => page)
)

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    fleet,
    approvals,
    queues,
    usage,
    prompts,
    system,
    assistant.addChildren([
      live,
      context,
      timeline,
      memory,
      compactions,
      dreams,
      subAgentTree,
      replay,
      newestFork,
      fork
    ])
  ]),
  defaultPreload: "intent",
  scrollRestoration: false
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
