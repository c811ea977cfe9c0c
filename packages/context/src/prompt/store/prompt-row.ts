// PromptRow: a version of a line as a store keeps it, and how it is read back.
// Owns its columns but for what they are found by. Leaves the table to the stores, what a body says to `stored.ts`.

import { parseJson, defined } from "@reverie/protocol"
import * as Result from "effect/Result"
import { PromptUnreadable } from "../errors.ts"
import type { PromptKind, PromptVersion } from "./prompt-store.ts"

export interface PromptRow {
  readonly key: string
  readonly version: number
  readonly at: number
  readonly restores: number | null
  /** Null takes the key away. */
  readonly body: string | null
}

export const readPromptRow = (kind: PromptKind, row: PromptRow): Result.Result<PromptVersion, PromptUnreadable> => {
  const { at, body, key, restores, version } = row
  const facts = { kind, key, version, at, ...defined({ restores: restores === null ? undefined : restores }) }
  if (body === null) return Result.succeed({ ...facts, body })
  return Result.mapBoth(parseJson(body), {
    onSuccess: (value) => ({ ...facts, body: value }),
    onFailure: (reason) => new PromptUnreadable({ kind, key, reason: `version ${version}: ${reason}` })
  })
}
