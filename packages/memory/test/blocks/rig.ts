// Rig: documents of one schema, changed by anybody.
// Owns the short forms. Leaves what is asserted to the tests.

import { type BlockOperation, type BlockSchema, loadLoro, StructuredDocument } from "../../src/index.ts"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Access } from "../../src/blocks/operation.ts"
import { peerOf } from "../../src/blocks/document/document.ts"

export const loro = await Effect.runPromise(loadLoro)

const AT = Date.UTC(2025, 0, 1)

export const aDocument = (schema: BlockSchema = { kind: "text" }, peer = "first"): StructuredDocument => {
  const document = StructuredDocument.empty(loro, "block", schema)
  document.writeAs(peerOf(peer))
  return document
}

/** Carries it out and commits it. Answers whether anything was changed, or what was refused. */
export const act = (
  document: StructuredDocument,
  operation: BlockOperation,
  { access = "allowed", at = AT, isSystem = false }: { access?: Access; at?: number; isSystem?: boolean } = {}
): boolean | string => {
  const done = document.change(operation, { by: "ada", at, isSystem, accessTo: () => access })
  document.commit("ada")
  if (Result.isSuccess(done)) return done.success
  return done.failure._tag === "BlockRefused" ? `${done.failure.reason}: ${done.failure.message}` : done.failure._tag
}

export const assertRefused = (answer: boolean | string, text: string): void => {
  assert.typeOf(answer, "string", "it was done")
  assert.include(String(answer), text)
}
