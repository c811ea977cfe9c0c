// Round: one question to the model and its judged reply.
// Owns the joining of writing, retrying, counting and judging. Leaves a second round to `openai-model.ts`.
// I1  An answer that was filtered away is a refusal, not an empty reply.
// I2  A preview of text is scrubbed like the reply; of a reply in plain JSON only the answer in it is shown.

import type { InferOptions, ModelError, Prompt, Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import { Answer } from "./answer.ts"
import type { Assembly } from "./assembly.ts"
import { attempt, type AttemptContext } from "./attempt.ts"
import { readPlainReply } from "./json-tools.ts"
import type { Limits } from "./options.ts"
import { isEmpty, type Judged, judge } from "./reply.ts"
import { retried } from "./retry.ts"
import type { Scrub } from "./scrub.ts"
import { roughCount, usageOf } from "./usage.ts"
import { type BodyWriter, type WireMessages, wireTools } from "./wire.ts"

export interface RoundContext extends AttemptContext<string> {
  readonly limits: Limits
  readonly model: string
  /** Whether tools are spoken of in plain text. */
  readonly isPlain: boolean
  /** Whether to stream; undefined streams for whoever listens. */
  readonly stream: boolean | undefined
  readonly scrub: Scrub
  readonly tokens: Tokens["Service"] | undefined
  readonly writeBody: BodyWriter
}

/** `said` is the text before calls were read out of it. */
export interface Round extends Judged {
  readonly said: string
}

const usedBy = Effect.fnUntraced(function* (prompt: Prompt, assembly: Assembly, { tokens }: RoundContext) {
  if (tokens === undefined || assembly.usage !== undefined) return usageOf(prompt, assembly, roughCount)
  const count = yield* tokens.ready
  return yield* tokens.inSlices(() => usageOf(prompt, assembly, count))
})

/** Asks once, with its retries. `until` is milliseconds since the epoch. */
export const round = Effect.fnUntraced(function* (
  prompt: Prompt,
  messages: WireMessages,
  until: number,
  onText: InferOptions["onText"],
  context: RoundContext
): Effect.fn.Return<Round, ModelError> {
  const { failures, isPlain, limits, scrub, writeBody } = context
  const tools = wireTools(prompt.tools)
  const isStream = context.stream ?? onText !== undefined
  const body = writeBody(messages, isPlain ? "" : tools.json, isStream, prompt.maxOutputTokens)
  const preview = onText === undefined || isPlain ? undefined : (text: string) => onText(scrub.kept(text))
  const assembly = yield* retried(
    attempt(body, until, () => new Answer(failures, preview), context),
    until,
    context
  )
  const usage = yield* usedBy(prompt, assembly, context)
  const said = assembly.text
  const broken = isPlain ? readPlainReply(assembly, prompt.tools.length > 0) : undefined
  const { nameByWire } = tools
  const judged = judge(assembly, { prompt, nameByWire, usage, model: context.model, maxCalls: limits.maxCalls, scrub })
  if (isEmpty(judged) && judged.reply.finish === "content-filter") {
    return yield* failures.filtered("the answer was filtered away")
  }
  if (isPlain && onText !== undefined && judged.reply.text !== "") onText(judged.reply.text)
  return { ...judged, complaint: broken ?? judged.complaint, said }
})
