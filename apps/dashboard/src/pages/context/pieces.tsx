// Pieces: a prompt as the bar and the table show it: its parts, the tools, the reserve for the answer, and what is free.
// Owns names, colours, and what the context window is. Leaves the report to the server.
// K1  The pieces of a window are the whole window: parts, tools, free and reserve together.
// K2  A part has the same colour in every report.

import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, percent } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"

export type Report = Answer<"GET /v1/assistants/:id/context">

export interface Piece {
  readonly key: string
  readonly name: string
  readonly tokens: number
  readonly messages?: number
  readonly colour: string
  readonly kind: "part" | "tools" | "free" | "reserve"
}

const colours: Readonly<Record<string, string>> = {
  system_prompt: "light-dark(#2f5fb3, #6c9be8)",
  core_blocks: "light-dark(#7a4fc4, #a98bee)",
  working_blocks: "light-dark(#955ab3, #c9a6f2)",
  activity: "light-dark(#5d6fb8, #9aa8e6)",
  tool_rules: "light-dark(#8a5a3c, #cf9c78)",
  plan_first: "light-dark(#7d6a55, #bfa98f)",
  character_context: "light-dark(#85700f, #d3be52)",
  active_project: "light-dark(#567a00, #b0cd55)",
  session_memory: "light-dark(#3f7a52, #7fc797)",
  entity_context: "light-dark(#3f7d22, #86c567)",
  semantic_memories: "light-dark(#0b776b, #37bfae)",
  context_buffer: "light-dark(#1b7891, #5cc3db)",
  goals: "light-dark(#a8447c, #e38abb)",
  conversation_history: "light-dark(#a85a0c, #eea24c)",
  pending_event: "light-dark(#39424d, #d7dee6)",
  tool_result: "light-dark(#b0493c, #ee8f80)",
  tools: "light-dark(#5f6d7c, #8a98a8)"
}

const others = [
  "light-dark(#3573c9, #8db5f2)",
  "light-dark(#a8447c, #e38abb)",
  "light-dark(#85710f, #d3be52)",
  "light-dark(#1a7d94, #5cc3db)",
  "light-dark(#b0493c, #ee8f80)",
  "light-dark(#5d6fb8, #9aa8e6)",
  "light-dark(#5f7c0c, #b0cd55)",
  "light-dark(#8a5a3c, #cf9c78)"
]

const hashOf = (key: string): number => [...key].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) >>> 0, 7)

const colourOf = (key: string): string => colours[key] ?? others[hashOf(key) % others.length] ?? "gray"

export const nameOf = (key: string): string => key.replaceAll("_", " ")

/** What prompt and answer may be together: told by the share, which is of the whole window. */
export const windowOf = ({ limit, share, tokens }: Report): number =>
  share > 0 ? Math.max(limit, Math.round(tokens / share)) : Math.max(limit, 1)

export const piecesOf = (report: Report): ReadonlyArray<Piece> => {
  const { limit, parts, tokens, toolTokens } = report
  const window = windowOf(report)
  const seen = new Map<string, number>()
  const named = parts.map(({ key, messages, tokens }): Piece => {
    const before = seen.get(key) ?? 0
    seen.set(key, before + 1)
    return {
      key: before === 0 ? key : `${key}.${before + 1}`,
      name: nameOf(key),
      tokens,
      messages,
      colour: colourOf(key),
      kind: "part"
    }
  })
  const tools: Piece = {
    key: "tools",
    name: "tool schemas",
    tokens: toolTokens,
    colour: colourOf("tools"),
    kind: "tools"
  }
  return [
    ...named,
    ...(toolTokens > 0 ? [tools] : []),
    { key: "free", name: "free", tokens: Math.max(0, limit - tokens), colour: "transparent", kind: "free" },
    {
      key: "reserve",
      name: "reserved for output",
      tokens: Math.max(0, window - Math.max(limit, tokens)),
      colour: "var(--context-reserve)",
      kind: "reserve"
    }
  ]
}

/** Whether there are words behind it. */
export const hasWords = ({ kind }: Piece): boolean => kind === "part" || kind === "tools"

// Figures: what a call took, as we estimated it and as the provider counted it.

const Figure = ({ children, name, of, what }: { name: string; of: string; what?: string; children: ReactNode }) => (
  <div className="figure" data-figure={of} title={what}>
    <dt className="text-ink-2">{name}</dt>
    <dd className="tabular font-semibold">{children}</dd>
  </div>
)

const Counted = ({ report: { tokens, usage } }: { readonly report: Report }) => {
  if (usage === undefined) return <span className="font-normal text-ink-3">not reported</span>
  if (usage.source !== "provider") return <span className="font-normal text-ink-2">local count</span>
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
    <span className="font-normal text-ink-3">not reported</span>
  ) : (
    <>
      {percent(usage.cachedInputTokens / usage.inputTokens)}{" "}
      <span className="font-normal text-ink-2">{count(usage.cachedInputTokens)}</span>
    </>
  )

const AnswerTokens = ({ usage }: Pick<Report, "usage">) =>
  usage === undefined ? (
    <span className="font-normal text-ink-3">not reported</span>
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
        {percent(share)} <span className="font-normal text-ink-2">of {count(windowOf(report))} tokens</span>
      </Figure>
      <Figure name="Estimated tokens" of="estimated" what="As we count before it is sent">
        {count(tokens)} <span className="font-normal text-ink-2">of {count(limit)}</span>
      </Figure>
      <Figure name="Provider's tokens" of="provider" what="As the one who ran the model reports">
        <Counted report={report} />
      </Figure>
      <Figure name="Cached tokens" of="cached" what="Read from the provider's cache">
        <Cached {...(usage === undefined ? {} : { usage })} />
      </Figure>
      <Figure name="Answer" of="answer">
        {ok ? <AnswerTokens {...(usage === undefined ? {} : { usage })} /> : <Chip tone="bad" text="the call failed" />}
      </Figure>
      <Figure name="Model" of="model">
        <span className="font-normal">
          <Visible text={model ?? "–"} />
          {context === undefined ? null : (
            <span className="block text-ink-2" title="The kind of context, as System lists them">
              kind <Visible text={context} />
            </span>
          )}
        </span>
      </Figure>
    </dl>
  )
}
