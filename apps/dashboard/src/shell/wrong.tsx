// Wrong: what is shown where there is no page, or one is broken.

import { Link, type ErrorComponentProps } from "@tanstack/react-router"
import { troubleOf } from "../api/client.ts"
import { Page } from "../parts/page.tsx"
import { Failed } from "../parts/states.tsx"

export const NoSuchPage = () => (
  <Page name="none" title="There is no such page" ready>
    <p className="text-ink-2">
      Not found: no page has this address. <Link to="/">Go to the fleet</Link>.
    </p>
  </Page>
)

/** Loaded anew: after an update of the server the parts of the old page are gone. */
export const Broken = ({ error }: ErrorComponentProps) => (
  <Page name="broken" title="This page has stopped" ready>
    <Failed trouble={troubleOf(error)} onRetry={() => location.reload()} />
  </Page>
)
