// Newest: the playground without a run in its address: it opens the newest one that asked a model.

import { createLazyRoute, getRouteApi, Navigate } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { Page } from "../../parts/page.tsx"
import { Answered, Empty } from "../../parts/states.tsx"
import { lastTicks } from "./runs.ts"

const route = getRouteApi("/a/$id/fork")

const NewestPage = () => {
  const { id } = route.useParams()
  const newest = useQuery({ queryKey: ["newest run", id], queryFn: () => lastTicks(id, 1) })
  const [tick] = newest.data ?? []
  return tick === undefined ? (
    <Page name="fork" title="Playground" ready={!newest.isPending}>
      <Answered of={newest}>
        {() => (
          <Empty title="Nothing to run again">
            It has not answered anything with a model yet. Write to it on its page Live.
          </Empty>
        )}
      </Answered>
    </Page>
  ) : (
    <Navigate to="/a/$id/fork/$tick" params={{ id, tick: String(tick) }} replace />
  )
}

export const page = createLazyRoute("/a/$id/fork")({ component: NewestPage })
