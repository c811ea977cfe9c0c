// Navigation: the pages of the fleet, and those of the assistant that is open.

import { Link, useParams } from "@tanstack/react-router"
import { useAnswer } from "../api/questions.ts"
import { Visible } from "../parts/text.tsx"
import { assistantPages, fleetPages } from "./pages.ts"

const BADGE_MILLIS = 15_000

const Badge = ({ count, what }: { readonly count: number; readonly what: string }) =>
  count === 0 ? null : (
    <span className="badge" data-badge={count}>
      {count > 99 ? "99+" : count}
      <span className="sr-only"> {what}</span>
    </span>
  )

const ApprovalsBadge = () => {
  const { data } = useAnswer("GET /v1/approvals", {}, { everyMillis: BADGE_MILLIS })
  return <Badge count={data?.items.length ?? 0} what="waiting for a person" />
}

const DeadBadge = () => {
  const { data } = useAnswer("GET /v1/dead-letters", {}, { everyMillis: BADGE_MILLIS })
  return <Badge count={data?.items.length ?? 0} what="dead letters" />
}

const badges: Readonly<Record<string, () => React.ReactNode>> = { approvals: ApprovalsBadge, queues: DeadBadge }

const FleetPages = () => (
  <ul className="nav-list">
    {fleetPages.map(({ page, title, to }) => {
      const Of = badges[page]
      return (
        <li key={page}>
          <Link to={to} className="nav-link" activeOptions={{ exact: true, includeSearch: false }} data-nav={page}>
            <span>{title}</span>
            {Of === undefined ? null : <Of />}
          </Link>
        </li>
      )
    })}
  </ul>
)

const AssistantPages = ({ id }: { readonly id: string }) => (
  <>
    <h2 className="nav-title" title={id}>
      <Visible text={id} />
    </h2>
    <ul className="nav-list">
      {assistantPages.map(({ page, title, to }) => (
        <li key={page}>
          <Link
            to={to}
            params={{ id }}
            className="nav-link"
            activeOptions={{ exact: true, includeSearch: false }}
            data-nav={page}
          >
            {title}
          </Link>
        </li>
      ))}
    </ul>
  </>
)

export const Navigation = () => {
  const { id } = useParams({ strict: false })
  return (
    <nav aria-label="Pages" className="navigation">
      <FleetPages />
      {id === undefined ? null : <AssistantPages id={id} />}
    </nav>
  )
}
