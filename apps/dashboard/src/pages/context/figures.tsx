// Figures: what a call took, as we estimated it and as the provider counted it.

import type { ReactNode } from "react"
import { Chip } from "../../parts/chip.tsx"
import { count, percent } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"
import { type Report, windowOf } from "./pieces.ts"

const Figure = ({ children, name, of, what }: { name: string; of: string; what?: string; children: ReactNode }) => (
  <div className="figure" data-figure={of} title={what}>
    <dt className="text-ink-2">{name}</dt>
    <dd className="tabular font-semibold">{children}</dd>
  </div>
)

const Counted = ({ report: { tokens, usage } }: { readonly report: Report }) => {
  if (usage === undefined) return <span className="font-normal text-ink-3">not told</span>
  if (usage.source !== "provider") return <span className="font-normal text-ink-2">counted by us</span>
  const off = tokens === 0 ? 0 : (usage.inputTokens - tokens) / tokens
  return (
    <>
      {count(usage.inputTokens)}{" "}
      <span className={`font-normal ${Math.abs(off) > 0.15 ? "text-warn" : "text-ink-2"}`}>
        {off >= 0 ? "+" : "−"}
        {percent(Math.abs(off))}
      </span>
    </>
  )
}

const Cached = ({ usage }: Pick<Report, "usage">) =>
  usage?.cachedInputTokens === undefined || usage.inputTokens === 0 ? (
    <span className="font-normal text-ink-3">not told</span>
  ) : (
    <>
      {percent(usage.cachedInputTokens / usage.inputTokens)}{" "}
      <span className="font-normal text-ink-2">{count(usage.cachedInputTokens)}</span>
    </>
  )

const AnswerTokens = ({ usage }: Pick<Report, "usage">) =>
  usage === undefined ? (
    <span className="font-normal text-ink-3">not told</span>
  ) : (
    <>
      {count(usage.outputTokens)} <span className="font-normal text-ink-2">tokens</span>
    </>
  )

export const Figures = ({ report }: { readonly report: Report }) => {
  const { context, limit, model, ok, share, tokens, usage } = report
  return (
    <dl className="figures" data-tokens={tokens} data-share={share}>
      <Figure name="Window" of="share" what="All that prompt and answer may be together">
        {percent(share)} <span className="font-normal text-ink-2">of {count(windowOf(report))}</span>
      </Figure>
      <Figure name="Estimated" of="estimated" what="As we count before it is sent">
        {count(tokens)} <span className="font-normal text-ink-2">of {count(limit)}</span>
      </Figure>
      <Figure name="Provider" of="provider" what="As whoever ran the model reports">
        <Counted report={report} />
      </Figure>
      <Figure name="Cached" of="cached" what="Read from the provider's cache">
        <Cached {...(usage === undefined ? {} : { usage })} />
      </Figure>
      <Figure name="Answer" of="answer">
        {ok ? <AnswerTokens {...(usage === undefined ? {} : { usage })} /> : <Chip tone="bad" text="the call failed" />}
      </Figure>
      <Figure name="Model" of="model">
        <span className="font-normal">
          <Visible text={model ?? "–"} />
          {context === undefined ? null : (
            <span className="text-ink-2">
              , <Visible text={context} />
            </span>
          )}
        </span>
      </Figure>
    </dl>
  )
}
