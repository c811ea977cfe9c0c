// Context: the group about what an assistant's model was shown.
// Owns reading reports as the contract has them. Leaves their making to `context`, finding them to the SDK.
// C1  A point of the slider is one model call; however long a life is, a page of points reads a bounded part of it.

import { defined } from "@reverie/protocol"
import { compareReports, type ContextReport, contextReportOf, type Json, prefixOf, type TickPrompt } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, type ContextPoint, type ContextView, type PromptText } from "../../api/index.ts"
import { clip, WHOLE_CHARS } from "../../views/message-view.ts"
import { asking, type ReadFleet } from "../../gateway.ts"
import { entryPage } from "../../views/entry-page.ts"
import { found, living, unworded } from "../../views/facts.ts"

/** Entries that one page of points may read. */
const MAX_READ = 4_000
const READ_AT_ONCE = 200

const viewOf = ({ scores: _scores, ...report }: ContextReport): ContextView => ({ recalled: [], ...report })

/** A report, and the one before it of the same kind of context. */
const pointOf = (report: ContextReport, before: ContextReport | undefined): ContextPoint => {
  const { at, context, iteration, parts, share, tick, tokens, usage } = report
  const conversation = parts.filter(({ key }) => key === "conversation_history")
  return {
    tick,
    iteration,
    at,
    tokens,
    share,
    conversationTokens: conversation.reduce((sum, part) => sum + part.tokens, 0),
    ...defined({
      context,
      prefix: before === undefined ? undefined : prefixOf(before, report),
      cachedTokens: usage === undefined ? undefined : usage.cachedInputTokens
    })
  }
}

const pointsOf = (reports: ReadonlyArray<ContextReport>, limit: number): ReadonlyArray<ContextPoint> =>
  reports.slice(0, limit).map((report, at) =>
    pointOf(
      report,
      reports.slice(at + 1).find(({ context }) => context === report.context)
    )
  )

/** So many older calls are read for what the oldest ones of a page are held against. */
const READ_BEYOND = 4

/** Points of calls in entries before a number, the newest first; `next` is where the page after it begins. */
const pointsBefore = async (fleet: ReadFleet, id: string, before: number, limit: number) => {
  const reports: Array<ContextReport> = []
  let next: number | null = null
  const least = Math.max(1, before - MAX_READ)
  for (let end = before; end > least && reports.length < limit + READ_BEYOND; end -= READ_AT_ONCE) {
    const from = Math.max(least, end - READ_AT_ONCE)
    const { rows } = await entryPage(fleet, id, from, end - 1)
    for (const { entry } of rows.toReversed()) {
      const report = contextReportOf(entry)
      if (report === undefined) continue
      reports.push(report)
      if (reports.length === limit) next = entry.no > 1 ? entry.no : null
    }
  }
  const isPage = reports.length >= limit
  return { items: pointsOf(reports, limit), next: isPage ? next : least > 1 ? least : null }
}

const reportOf = async (
  fleet: ReadFleet,
  id: string,
  question: { readonly tick?: number; readonly iteration?: number }
) => found(await fleet.history.contextReport(id, question), `model call of ${id} that left a report there`)

/** What stands for a message that only calls tools. */
const toldCalls = (calls: TickPrompt["messages"][number]["calls"] = []): string =>
  clip(calls.map(({ arguments: asked, tool }) => `${tool}(${JSON.stringify(asked)})`).join("\n"), WHOLE_CHARS)

const wordsOf = ({ diverged, iteration, messages, parts, tick, tools }: TickPrompt): PromptText => ({
  tick,
  iteration,
  parts: parts.map(({ exact, id, key }) => ({
    id,
    key,
    exact,
    messages: messages
      .filter(({ part }) => part.id === id && part.key === key)
      .map(({ calls, content, role }) => ({ role, content: content === "" ? toldCalls(calls) : content }))
  })),
  tools: tools.map(({ description, name, parameters }) => ({ name, description, schema: parameters })),
  ...defined({ diverged })
})

export const contextLive = HttpApiBuilder.group(
  Api,
  "context",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll({
      report: ({ params: { id }, query }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          return viewOf(await reportOf(fleet, id, query))
        }),
      points: ({ params: { id }, query: { before, limit } }) =>
        asking(async (fleet) => {
          const { version } = await living(fleet, id)
          return pointsBefore(fleet, id, Math.min(before ?? version + 1, version + 1), limit)
        }),
      retrieved: ({ params: { id }, query }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          return { items: await fleet.history.retrieved(id, query) }
        }),
      kinds: ({ params: { id } }) =>
        asking(async (fleet, { readOnly }) => {
          const { state } = await living(fleet, id)
          const { contexts } = found(
            (await fleet.definitions()).find(({ name }) => name === state.definition),
            `definition ${state.definition} in this process, from which ${id} was made`
          )
          return { definition: state.definition, items: readOnly ? contexts.map(unworded) : contexts }
        }),
      compare: ({ params: { id }, query }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          const one = await reportOf(fleet, id, { tick: query.tick })
          const other = await reportOf(fleet, id, { tick: query.with })
          const comparison = compareReports(one, other) as unknown as Json
          return { one: viewOf(one), other: viewOf(other), comparison }
        }),
      prompt: ({ params: { id }, query }) =>
        asking(async (fleet) => {
          await living(fleet, id)
          const { iteration, tick } = await reportOf(fleet, id, query)
          const prompt = await fleet.replay.prompt({ assistant: id, tick, iteration, maxChars: WHOLE_CHARS })
          return wordsOf(found(prompt, `prompt of tick ${tick} of ${id} that can be made again`))
        })
    })
  })
)
