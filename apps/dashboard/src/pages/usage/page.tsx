// Usage: what model calls took, and what that cost: by assistant, model, purpose and hour.

import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { defined } from "../../api/defined.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, many, percent, spentText, tokens } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { useNow } from "../../parts/time.tsx"
import { type UsageRange, usageRanges } from "../../shell/search.ts"

const route = getRouteApi("/usage")

type Usage = Answer<"GET /v1/usage">
type Use = Usage["total"]
type By = Usage["by"]

const HOUR_MILLIS = 3_600_000
const EVERY_MILLIS = 10_000
const MINUTE_MILLIS = 60_000
const ROWS = 500

const nouns = { assistant: "Assistant", model: "Model", purpose: "Purpose", hour: "From" } as const
const titles = { assistant: "Assistants", model: "Models", purpose: "Purposes", hour: "Hours (UTC)" } as const

const cachedText = ({ cachedTokens, inputTokens }: Use): string =>
  inputTokens === 0 ? "–" : percent(cachedTokens / inputTokens)

const Totals = ({ total }: { readonly total: Use }) => {
  const parts = [
    ["Cost", spentText(total), `${count(total.unpricedCalls)} calls of models whose price no one knows`],
    ["Model calls", count(total.calls), "calls that were answered"],
    ["Tokens in", tokens(total.inputTokens), `${count(total.inputTokens)} tokens that models were shown`],
    ["Cached", cachedText(total), `${count(total.cachedTokens)} of them out of the provider's cache`],
    ["Tokens out", tokens(total.outputTokens), `${count(total.outputTokens)} tokens, those of reasoning among them`],
    ["Reasoning", tokens(total.reasoningTokens), `${count(total.reasoningTokens)} tokens of reasoning`]
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

const Key = ({ by, of }: { readonly by: By; readonly of: string }) => {
  if (by === "hour") return <time dateTime={of}>{of.slice(0, 16).replace("T", " ")}</time>
  if (by !== "assistant") return <Visible text={of} />
  return (
    <Link to="/usage" search={(before) => ({ ...before, assistant: of })}>
      <Visible text={of} />
    </Link>
  )
}

const heads = ["Calls", "In", "Cached", "Out", "Reasoning", "Cost"]

const Sums = ({ usage: { by, items, next } }: { readonly usage: Usage }) => {
  // Who took most stands first; hours stand in their order, the newest first.
  const rows =
    by === "hour"
      ? items.toReversed()
      : items.toSorted((a, b) => b.costMicros - a.costMicros || b.tokens - a.tokens || (a.key < b.key ? -1 : 1))
  return (
    <Section title={titles[by]} className="overflow-x-auto">
      <table className="plain-table" data-usage-by={by}>
        <thead>
          <tr>
            <th scope="col">{nouns[by]}</th>
            {heads.map((title) => (
              <th key={title} scope="col" data-align="end">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} data-usage-key={row.key} data-tokens={row.tokens}>
              <th scope="row" className="font-mono text-ink">
                <Key by={by} of={row.key} />
              </th>
              <td data-align="end">{count(row.calls)}</td>
              <td data-align="end">{count(row.inputTokens)}</td>
              <td data-align="end">{cachedText(row)}</td>
              <td data-align="end">{count(row.outputTokens)}</td>
              <td data-align="end">{count(row.reasoningTokens)}</td>
              <td data-align="end" className="whitespace-nowrap">
                {spentText(row)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {next === null ? null : <p className="p-3 text-ink-2">The first {count(ROWS)} in the order of their names.</p>}
    </Section>
  )
}

const useSums = (by: By, range: UsageRange, assistant: string | undefined) => {
  const hour = Math.floor(useNow(MINUTE_MILLIS) / HOUR_MILLIS)
  const from = (hour - usageRanges[range] + 1) * HOUR_MILLIS
  const query = { by, from, limit: ROWS, ...defined({ assistant }) }
  return useAnswer("GET /v1/usage", { query }, { everyMillis: EVERY_MILLIS })
}

/** How far back, and of whom. */
const Filter = ({ assistant, range }: { readonly assistant: string | undefined; readonly range: UsageRange }) => {
  const names = Object.keys(usageRanges) as ReadonlyArray<UsageRange>
  return (
    <>
      <nav className="segmented" aria-label="How far back">
        {names.map((name) => (
          <Link
            key={name}
            to="/usage"
            search={(before) => ({ ...before, range: name })}
            aria-current={name === range ? "true" : undefined}
            data-range={name}
          >
            {many(usageRanges[name] / 24, "day")}
          </Link>
        ))}
      </nav>
      {assistant === undefined ? null : (
        <Link
          to="/usage"
          search={({ assistant: _, ...before }) => before}
          className="button button-small"
          data-clear-filter=""
        >
          of <Visible text={assistant} /> · show all
        </Link>
      )}
    </>
  )
}

const UsagePage = () => {
  const { assistant, range = "day" } = route.useSearch()
  const first = useSums("assistant", range, assistant)
  const models = useSums("model", range, assistant)
  const purposes = useSums("purpose", range, assistant)
  const hours = useSums("hour", range, assistant)
  return (
    <Page
      name="usage"
      title="Usage"
      ready={isReady(first, models, purposes, hours)}
      side={<Filter assistant={assistant} range={range} />}
    >
      <Answered of={first} lines={8}>
        {(usage) =>
          usage.total.calls === 0 ? (
            <div className="card">
              <Empty title="No model was asked">Every call is counted here as soon as it is answered.</Empty>
            </div>
          ) : (
            <>
              <Totals total={usage.total} />
              <Sums usage={usage} />
              <Answered of={models}>{(sums) => <Sums usage={sums} />}</Answered>
              <Answered of={purposes}>{(sums) => <Sums usage={sums} />}</Answered>
              <Answered of={hours}>{(sums) => <Sums usage={sums} />}</Answered>
            </>
          )
        }
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/usage")({ component: UsagePage })
