// BlockCreation: the first version of a block.
// Owns the defaults of a draft and what makes it none. Leaves keeping it to `changing.ts`.
// N1  What a block begins with was put there by whoever made it, within its limit and its schema.

import * as Result from "effect/Result"
import type { BlockRefused, ConsentNeeded } from "../errors.ts"
import { blockIdOf, type BlockDraft, DEFAULT_CHAR_LIMIT, type KeptBlock } from "./block.ts"
import { type Bench, keep } from "./changing.ts"
import { operationsFor } from "./content.ts"
import { StructuredDocument } from "./document.ts"
import { refused } from "./kept.ts"
import { peerOf } from "./loro.ts"
import { blockPermissions, blockTypes } from "./permission.ts"
import { type BlockSchema, PLAIN_TEXT, readBlockSchema } from "./schema.ts"
import { isCharLimit, MAX_CHAR_LIMIT } from "./settings.ts"

const LABEL = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u

/** Why it can not become a block, apart from its schema and content; undefined when it can. */
export const flawOfDraft = ({ charLimit = DEFAULT_CHAR_LIMIT, label, permission, pinned, type }: BlockDraft) => {
  if (!LABEL.test(label)) return "its label must have letters, digits and _ . -, at most 64, and no sign first but _"
  if (!blockTypes.includes(type)) return `its type must be one of ${blockTypes.join(", ")}`
  if (permission !== undefined && !blockPermissions.includes(permission)) {
    return `its permission must be one of ${blockPermissions.join(", ")}`
  }
  if (!isCharLimit(charLimit)) return `its limit must be a whole number from 1 to ${MAX_CHAR_LIMIT}`
  return pinned === true && type !== "working" ? "only a working block is pinned" : undefined
}

const unwritten = (draft: BlockDraft, schema: BlockSchema, id: string, at: number): KeptBlock => ({
  id,
  owner: draft.owner,
  label: draft.label,
  type: draft.type,
  permission: draft.permission ?? "ReadWrite",
  schema,
  description: (draft.description ?? "").toWellFormed(),
  pinned: draft.pinned ?? false,
  charLimit: draft.charLimit ?? DEFAULT_CHAR_LIMIT,
  shares: [],
  createdAt: at,
  updatedAt: at,
  version: 0,
  text: "",
  chars: 0,
  shows: 0,
  past: [],
  future: [],
  snapshot: { version: 0, bytes: 0, since: 0 },
  place: []
})

export const created = (bench: Bench, draft: BlockDraft) =>
  Result.gen(function* () {
    const { loro, request, rows } = bench
    const { content, label, owner } = draft
    const fail = (reason: BlockRefused["reason"], message: string) => Result.fail(refused(draft, reason, message))
    if (request.isSystem !== true && owner !== request.by) return yield* fail("setting", "others make their own blocks")
    const flaw = flawOfDraft(draft)
    if (flaw !== undefined) return yield* fail("setting", flaw)
    if (rows.isTaken(request.tenant, owner, label)) return yield* fail("label-taken", "there is one of that label")
    const asSchema = (message: string): BlockRefused => refused(draft, "schema", message)
    const schema = yield* Result.mapError(readBlockSchema(draft.schema ?? PLAIN_TEXT), asSchema)
    const operations = content === undefined ? [] : yield* Result.mapError(operationsFor(schema, content), asSchema)
    const block = unwritten(draft, schema, blockIdOf(request.tenant, draft, request.key), request.at)
    const document = StructuredDocument.empty(loro, label, schema)
    document.writeAs(peerOf("author", block.id, request.by))
    const from = document.place
    const author = { by: request.by, at: request.at, isSystem: true, accessTo: () => "allowed" as const }
    const made: Result.Result<ReadonlyArray<boolean>, BlockRefused | ConsentNeeded> = Result.all(
      operations.map((operation) => document.change(operation, author))
    )
    yield* made
    return yield* keep(bench, block, document, from, { kind: "edit" })
  })
