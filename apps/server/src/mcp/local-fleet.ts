// LocalFleet: an open fleet.
// Owns asking it in this process. Leaves the interface to mcp-fleet.ts.
// E1  What it answers is what the HTTP API would.

import { defined } from "@reverie/protocol"
import { type AssistantRecord, type Fleet, viewOf } from "reverie"
import type { AgUiEvent } from "../ag-ui/events.ts"
import { toldRun } from "../ag-ui/run.ts"
import { clip, TEXT_CHARS } from "../views/message-view.ts"
import { apiFailureOf } from "../failure.ts"
import type { Drops } from "../live.ts"
import { factCache, living } from "../views/facts.ts"
import { factsPage, journalPage, overviewOf, profilesPage, recalledPage } from "../views/memory-pages.ts"
import { answerIn } from "./answer-in.ts"
import type { Answer, McpFleet, Page, Patience } from "./mcp-fleet.ts"
import { blockLine, factLine, hitLine, journalLine, outageLine, profileLine } from "./lines.ts"

const lineOf = (record: AssistantRecord) => {
  const { approvals, definition, id, state, waiting } = viewOf(record)
  return { agent: id, definition, state, waiting, approvals: approvals.length }
}

const statusOf = (record: AssistantRecord) => {
  const { approvals, commits, haltReason, jobs, outage, ticks } = viewOf(record)
  return {
    ...lineOf(record),
    ticks,
    commits,
    jobs,
    asked: approvals,
    ...defined({
      haltReason: haltReason === undefined ? undefined : clip(haltReason, TEXT_CHARS),
      outage: outage === undefined ? undefined : outageLine(outage)
    })
  }
}

export interface LocalFleetOptions {
  /** Of a server that lets go of what it keeps. */
  readonly drops?: Drops
  /** Of the tenant that is served. */
  readonly fleet: Fleet
  readonly onTrouble?: (line: string) => void
}

/** Closing it leaves the fleet open. */
export const localFleet = ({ drops, fleet, onTrouble = () => {} }: LocalFleetOptions): McpFleet => {
  const factsOf = factCache(drops)
  const explain = (error: unknown): string => apiFailureOf(error, onTrouble).message
  const answered = (
    agent: string,
    envelope: string,
    { signal, waitMs }: Patience,
    prepare: () => Promise<unknown>
  ): Promise<Answer> => {
    const leaving = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
    const request = { assistant: agent, envelope, threadId: agent, runId: envelope }
    const run: AsyncIterable<AgUiEvent> = toldRun(fleet, request, { signal: leaving, explain, prepare })
    return answerIn(agent, envelope, run as AsyncIterable<AgUiEvent & { readonly [key: string]: unknown }>)
  }
  const read: McpFleet["read"] = async ({ agent, kind, ...asked }): Promise<Page> => {
    switch (kind) {
      case "facts": {
        const { items, next } = await factsPage(factsOf, fleet, agent, asked)
        return { memories: items.map(factLine), next }
      }
      case "journal": {
        const { items, next } = await journalPage(fleet, agent, asked)
        return { memories: items.map(journalLine), next }
      }
      case "profiles": {
        const { items, next } = await profilesPage(fleet, agent, asked)
        return { memories: items.map(profileLine), next }
      }
      case "blocks": {
        const { blocks } = await overviewOf(factsOf, fleet, agent)
        return { memories: blocks.slice(0, asked.limit).map(blockLine), next: null }
      }
    }
  }
  return {
    list: async ({ cursor, limit }) => {
      const records = await fleet.list(cursor, limit)
      const last = records.at(-1)
      return {
        agents: records.map(lineOf),
        next: last === undefined || records.length < limit ? null : last.address.assistant
      }
    },
    status: async (agent) => statusOf(await living(fleet, agent)),
    send: ({ agent, id, text }, patience) => answered(agent, id, patience, () => fleet.send(agent, text, { id })),
    answer: ({ agent, envelope }, patience) => answered(agent, envelope, patience, () => Promise.resolve()),
    search: async ({ agent, limit, query }) => {
      const { certainty, degraded, items } = await recalledPage(fleet, agent, { q: query, limit })
      return { memories: items.map(hitLine), ...defined({ certainty, degraded }) }
    },
    read,
    close: () => Promise.resolve()
  }
}
