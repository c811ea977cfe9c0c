// Usage: what model calls took, and what that cost: by assistant, model, purpose and hour.

import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { defined } from "../../api/defined.ts"
import { useAnswer } from "../../api/questions.ts"
import { Export } from "../../parts/export/export.tsx"
import { count, many, percent, spentText, tokens } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { useNow } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import {
  type UsageKind,
  usageKinds,
  usageMeasures,
  type UsageRange,
  usageRanges,
  type UsageSearch
} from "../../shell/search.ts"
import { BudgetsOfAll } from "./budgets.tsx"
import { Chart, type Usage } from "./chart.tsx"

const route = getRouteApi("/usage")

type Use = Usage["total"]

const HOUR_MILLIS = 3_600_000
/** Of a day, and of more: sums of many hours of a large fleet are read less often. */
const EVERY_MILLIS = 10_000
const SELDOM_MILLIS = 60_000
const MINUTE_MILLIS = 60_000
const ROWS = 50

const nouns = { assistant: "Assistant", model: "Model", purpose: "Purpose" } as const
const titles = { assistant: "Top assistants", model: "Top models", purpose: "Top purposes" } as const
const measured = { costMicros: "Cost", tokens: "Tokens", calls: "Model calls" } as const

const cachedText = ({ cachedTokens, inputTokens }: Use): string =>
  inputTokens === 0 ? "–" : percent(cachedTokens / inputTokens)

const Totals = ({ total }: { readonly total: Use }) => {
  const parts = [
    ["Cost", spentText(total), `${count(total.unpricedCalls)} calls of models whose price no one knows`],
    ["Model calls", count(total.calls), "calls that were answered"],
    ["Tokens in", tokens(total.inputTokens), `${count(total.inputTokens)} tokens that models were shown`],
    ["Cached", cachedText(total), `${count(total.cachedTokens)} of them out of the provider's cache`],
    ["Tokens out", tokens(total.outputTokens), `${count(total.outputTokens)} tokens, those of reasoning among them`],
    ["Reasoning tokens", tokens(total.reasoningTokens), `${count(total.reasoningTokens)} tokens of reasoning`]
  ] as const
  return (
    <section className="card" aria-label="In all">
      <dl className="grid grid-cols-6 max-lg:grid-cols-3 max-sm:grid-cols-2" data-usage-total={total.tokens}>
        {parts.map(([title, value, what]) => (
          <div key={title} className="totals" title={what} data-usage-of={title}>
            <dt className="text-ink-2">{title}</dt>
            <dd className="tabular text-[1.35rem] font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const heads = ["Calls", "Tokens in", "Cached", "Tokens out", "Reasoning tokens", "Cost"]

/** On a phone the cost is in view, and these stand in the figures above. */
const onWide = (title: string): string | undefined =>
  ["Calls", "Cached", "Reasoning tokens"].includes(title) ? "max-md:hidden" : undefined

interface SumsProps {
  readonly usage: Usage
  readonly by: UsageKind
  readonly side: ReactNode
}

/** Who took most stands first. */
const Sums = ({ by, side, usage: { items } }: SumsProps) => (
  <Section title={titles[by]} className="overflow-x-auto" side={side}>
    <StackTable data-usage-by={by}>
      <thead>
        <tr>
          <th scope="col">{nouns[by]}</th>
          {heads.map((title) => (
            <th key={title} scope="col" data-align="end" className={onWide(title)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((row) => (
          <tr key={row.key} data-usage-key={row.key} data-tokens={row.tokens}>
            <th scope="row" className="font-mono text-ink max-md:break-all">
              <Link to="/usage" search={(before) => ({ ...before, [by]: row.key })}>
                <Visible text={row.key} />
              </Link>
            </th>
            <td data-align="end" className={onWide("Calls")}>
              {count(row.calls)}
            </td>
            <td data-align="end">{count(row.inputTokens)}</td>
            <td data-align="end" className={onWide("Cached")}>
              {cachedText(row)}
            </td>
            <td data-align="end">{count(row.outputTokens)}</td>
            <td data-align="end" className={onWide("Reasoning tokens")}>
              {count(row.reasoningTokens)}
            </td>
            <td data-align="end" className="md:whitespace-nowrap">
              {spentText(row)}
            </td>
          </tr>
        ))}
      </tbody>
    </StackTable>
    {items.length < ROWS ? null : (
      <p className="p-3 text-ink-2">The {count(ROWS)} that cost most; a file has all of them.</p>
    )}
  </Section>
)

/** Links of which one is chosen; each changes one name of the address. */
const Choice = <Name extends string>({ label, names, now, of, textOf }: ChoiceProps<Name>) => (
  <nav className="segmented" aria-label={label}>
    {names.map((name) => (
      <Link
        key={name}
        to="/usage"
        search={(before) => ({ ...before, [of]: name })}
        aria-current={name === now ? "true" : undefined}
        {...{ [`data-${of}`]: name }}
      >
        {textOf(name)}
      </Link>
    ))}
  </nav>
)

interface ChoiceProps<Name extends string> {
  readonly label: string
  readonly of: "range" | "by" | "measure"
  readonly names: ReadonlyArray<Name>
  readonly now: Name
  readonly textOf: (name: Name) => string
}

/** Of whom, of which model, for what: each is taken away with a click. */
const Filters = ({ search }: { readonly search: UsageSearch }) =>
  usageKinds.map((kind) => {
    const value = search[kind]
    return value === undefined ? null : (
      <Link
        key={kind}
        to="/usage"
        search={({ [kind]: _, ...before }) => before}
        className="button button-small"
        data-clear-filter={kind}
      >
        {kind}: <Visible text={value} /> · show all
      </Link>
    )
  })

const useUsage = ({ assistant, by = "assistant", model, purpose, range = "day" }: UsageSearch) => {
  const now = useNow(MINUTE_MILLIS)
  const hour = Math.floor(now / HOUR_MILLIS)
  const from = (hour - usageRanges[range] + 1) * HOUR_MILLIS
  const filter = { by, from, ...defined({ assistant, model, purpose }) }
  const step = range === "day" ? "hour" : "day"
  const query = { ...filter, order: "greatest", step, limit: ROWS } as const
  const everyMillis = range === "day" ? EVERY_MILLIS : SELDOM_MILLIS
  const isLive = range === "day" ? {} : { staleMillis: SELDOM_MILLIS }
  return { now, filter, sums: useAnswer("GET /v1/usage", { query }, { everyMillis, keep: true, ...isLive }) }
}

const Course = ({
  now,
  search,
  usage
}: {
  readonly usage: Usage
  readonly search: UsageSearch
  readonly now: number
}) => {
  // Where no one knows a price, tokens tell who took most.
  const { by = "assistant", measure = usage.total.costMicros > 0 ? "costMicros" : "tokens" } = search
  const { unpricedCalls } = usage.total
  return (
    <Section
      title="Over time"
      side={
        <span className="flex flex-wrap gap-2">
          <Choice label="Divided by" of="by" names={usageKinds} now={by} textOf={(name) => nouns[name]} />
          <Choice
            label="Measured in"
            of="measure"
            names={usageMeasures}
            now={measure}
            textOf={(name) => measured[name]}
          />
        </span>
      }
    >
      {measure === "costMicros" && unpricedCalls > 0 ? (
        <p className="px-3 pt-2 text-warn" data-unpriced={unpricedCalls}>
          Without {many(unpricedCalls, "unpriced call")}: no one knows what they cost.
        </p>
      ) : null}
      <Chart usage={usage} measure={measure} now={now} />
    </Section>
  )
}

const UsagePage = () => {
  const search = route.useSearch()
  const { by = "assistant", range = "day" } = search
  const { filter, now, sums } = useUsage(search)
  const ranges = Object.keys(usageRanges) as ReadonlyArray<UsageRange>
  return (
    <Page
      name="usage"
      title="Usage"
      ready={isReady(sums)}
      side={
        <>
          <Choice
            label="How far back"
            of="range"
            names={ranges}
            now={range}
            textOf={(name) => (name === "day" ? "24 hours" : many(usageRanges[name] / 24, "day"))}
          />
          <Filters search={search} />
        </>
      }
    >
      <Answered of={sums} lines={8}>
        {(usage) =>
          usage.total.calls === 0 ? (
            <div className="card">
              <Empty title="No model was asked">Every call is counted here as soon as it is answered.</Empty>
            </div>
          ) : (
            <>
              <Totals total={usage.total} />
              <Course usage={usage} search={search} now={now} />
              <Sums
                usage={usage}
                by={by}
                side={<Export name={`usage by ${by}`} route="GET /v1/usage" asked={{ query: filter }} />}
              />
            </>
          )
        }
      </Answered>
      <BudgetsOfAll assistant={search.assistant} now={now} />
    </Page>
  )
}

export const page = createLazyRoute("/usage")({ component: UsagePage })
