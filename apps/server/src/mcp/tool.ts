// Tool: one thing that an MCP client may do with a fleet.
// Owns its shape, and the arguments that tools share. Leaves the tools to agent-tools.ts.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Id } from "../api/index.ts"
import type { McpFleet, Paging, Patience } from "./mcp-fleet.ts"

const MAX_ITEMS = 50
const DEFAULT_ITEMS = 20
const MAX_WAIT_SECONDS = 120
/** Clients wait a minute for an answer when no one told them otherwise. */
const DEFAULT_WAIT_SECONDS = 40
const SECOND_MILLIS = 1_000

export const agent = Id.annotate({ description: "The id of the assistant." })
export const limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_ITEMS })).pipe(
  Schema.withDecodingDefaultKey(Effect.succeed(DEFAULT_ITEMS))
)
export const cursor = Schema.optionalKey(
  Schema.String.check(Schema.isMaxLength(600)).annotate({ description: "`next` of the page before." })
)
export const waitSeconds = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: MAX_WAIT_SECONDS })).pipe(
  Schema.withDecodingDefaultKey(Effect.succeed(DEFAULT_WAIT_SECONDS))
)
export const envelope = Schema.NonEmptyString.check(Schema.isMaxLength(256))

export interface McpTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema.Codec<unknown, unknown>
  readonly output: Schema.Codec<unknown, unknown>
  /** It says something to an assistant. */
  readonly isSaying: boolean
  /** Asking it again changes no more than asking it once. */
  readonly isIdempotent: boolean
  readonly run: (fleet: McpFleet, given: unknown, signal: AbortSignal) => Promise<unknown>
}

interface Draft<In, Out> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema.Codec<In, unknown>
  readonly output: Schema.Codec<Out, unknown>
  readonly isSaying?: boolean
  readonly run: (fleet: McpFleet, given: In, signal: AbortSignal) => Promise<Out>
}

export const tool = <In, Out>({ isSaying = false, ...draft }: Draft<In, Out>): McpTool => ({
  ...draft,
  isSaying,
  isIdempotent: !isSaying,
  run: (fleet, given, signal) => draft.run(fleet, given as In, signal)
})

export const pagingOf = (asked: { readonly limit: number; readonly cursor?: string }): Paging => ({
  limit: asked.limit,
  ...defined({ cursor: asked.cursor })
})

export const patienceOf = (seconds: number, signal: AbortSignal): Patience => ({
  waitMs: seconds * SECOND_MILLIS,
  signal
})
