// Near: whose context window is nearly full and whose budget nearly used up, and which limit of the day of all of them, each with how
// far, before it stops anyone.
// N1  A budget or a limit that is used up is no longer near: no call is sent, and that is red.

import type { Counts } from "@reverie/server/api"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, percent } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"

type Budgets = Answer<"GET /v1/budgets">
type Budget = Budgets["items"][number]

/** As the server counts them. */
const NEARLY = 0.8
/** So many of each kind stand here; the others are a click away. */
const MOST = 5
const EVERY_MILLIS = 15_000

interface LineProps {
  /** An assistant; undefined for all of them. */
  readonly id: string | undefined
  readonly why: "window" | "budget" | "limit"
  readonly isBad?: boolean
  readonly lead: string
  readonly children: ReactNode
}

const Line = ({ children, id, isBad = false, lead, why }: LineProps) => (
  <li className="feed-line" data-tone={isBad ? "bad" : "warn"} data-near={id} data-why={why}>
    <span className="text-ink-2">{why}</span>
    {id === undefined ? (
      <span>all</span>
    ) : (
      <Link to="/a/$id" params={{ id }} className="font-mono text-[0.92em] wrap-anywhere">
        <Visible text={id} />
      </Link>
    )}
    <span className="min-w-0">
      <span className="feed-lead">{lead}</span> {children}
    </span>
  </li>
)

const BudgetLine = ({ budget: { assistant, endsAt, share } }: { readonly budget: Budget }) => (
  <Line
    id={assistant}
    why="budget"
    isBad={share >= 1}
    lead={share >= 1 ? "budget used up: no call is sent" : `budget ${percent(share)} used`}
  >
    {share >= 1 || endsAt === null ? null : (
      <>
        at the pace of the last day used up <Ago at={endsAt} />{" "}
      </>
    )}
    <Link to="/usage" className="underline">
      Budgets
    </Link>
  </Line>
)

const LimitLine = ({ share, what }: { readonly share: number; readonly what: string }) => (
  <Line
    id={undefined}
    why="limit"
    isBad={share >= 1}
    lead={
      share >= 1
        ? `${what} of the day used up: calls wait for the next one`
        : `${what} of the day ${percent(share)} used`
    }
  >
    <Link to="/usage" className="underline">
      Limits
    </Link>
  </Line>
)

const OF_A_DAY = [
  { limit: "costMicrosPerDay", used: "costMicros", what: "cost" },
  { limit: "tokensPerDay", used: "tokens", what: "tokens" },
  { limit: "callsPerDay", used: "calls", what: "model calls" }
] as const

/** Limits of a day, each with how much of it is used. */
const nearOf = (tenant: Budgets["tenant"] | undefined) =>
  OF_A_DAY.flatMap(({ limit, used, what }) => {
    const most = tenant?.limits[limit]
    const share = most === undefined ? 0 : most === 0 ? 1 : (tenant?.inDay[used] ?? 0) / most
    return share >= NEARLY ? [{ share, what }] : []
  })

const More = ({ of, search, to }: { of: number; to: "/fleet" | "/usage"; search: { sort?: "context"; desc?: true } }) =>
  of <= MOST ? null : (
    <li className="px-3 pb-2">
      <Link to={to} search={search} data-more-near={of - MOST}>
        {count(of - MOST)} more
      </Link>
    </li>
  )

const fullest = { sort: "context", descending: "true", limit: MOST } as const

export const Near = ({ counts }: { readonly counts: Counts | undefined }) => {
  const { nearlyFull = 0, nearlySpent = 0 } = counts ?? {}
  const windows = useAnswer(
    "GET /v1/assistants",
    { query: fullest },
    { enabled: nearlyFull > 0, everyMillis: EVERY_MILLIS }
  )
  const budgets = useAnswer("GET /v1/budgets", { query: { limit: MOST } }, { everyMillis: EVERY_MILLIS })
  const full = (windows.data?.items ?? []).filter(({ contextShare = 0 }) => nearlyFull > 0 && contextShare >= NEARLY)
  const spent = (budgets.data?.items ?? []).filter(({ share }) => nearlySpent > 0 && share >= NEARLY)
  const limits = nearOf(budgets.data?.tenant)
  if (full.length + spent.length + limits.length === 0) return null
  return (
    <Section title="Close to a limit">
      <ul className="feed" data-near-lines={limits.length + nearlyFull + nearlySpent}>
        {limits.map((each) => (
          <LimitLine key={each.what} {...each} />
        ))}
        {spent.map((budget) => (
          <BudgetLine key={budget.assistant} budget={budget} />
        ))}
        <More of={nearlySpent} to="/usage" search={{}} />
        {full.map(({ contextShare = 0, id }) => (
          <Line key={id} id={id} why="window" lead={`window ${percent(contextShare)} full`}>
            <Link to="/a/$id/context" params={{ id }} className="underline">
              Context
            </Link>
          </Line>
        ))}
        <More of={nearlyFull} to="/fleet" search={{ sort: "context", desc: true }} />
      </ul>
    </Section>
  )
}
