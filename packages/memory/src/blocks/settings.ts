// BlockSettings: everything about a block but what it holds.
// Owns which settings there are to be made, by whom, and what they lead to. Leaves keeping them to `keeper.ts`.
// S1  Who may do what, what is read-only and how long a block may be, the system alone says.
// S2  Core blocks stay in the prompt and logs stay logs, whatever their owner wants.
// S3  A block keeps its kind, and what it holds fits its schema.

import { type AssistantId, defined } from "@reverie/protocol"
import * as Result from "effect/Result"
import { BlockRefused } from "../errors.ts"
import {
  type BlockDraft,
  type BlockSetting,
  type BlockView,
  type BlockViewer,
  DEFAULT_CHAR_LIMIT,
  EVERYBODY,
  isOwner,
  type KeptBlock
} from "./block-store.ts"
import { blockPermissions, blockTypes } from "./operation.ts"
import { type BlockSchema, type PartSchema, readBlockSchema, type Viewport } from "./document/schema.ts"
import { entryId, OF_NO_ONE, type Readers } from "../indexing/messages.ts"
import type { IndexChange } from "../recall.ts"

const MAX_SHARES = 64
const MAX_CHAR_LIMIT = 1_000_000

type Changed = Partial<KeptBlock>

const forSystem = new Set<BlockSetting["set"]>(["schema", "permission", "description", "charLimit"])

/** What an owner may make of a block, the system apart. */
const movable = new Set(["working", "archival"])

const kindsOf = (schema: BlockSchema): ReadonlyMap<string, PartSchema["kind"]> =>
  new Map(
    schema.kind === "composite"
      ? schema.sections.map(({ name, schema: part }) => [name, part.kind])
      : [["", schema.kind]]
  )

const withSchema = ({ schema: before }: KeptBlock, given: BlockSchema): Result.Result<Changed, string> =>
  Result.flatMap(readBlockSchema(given), (schema) => {
    if (schema.kind !== before.kind) return Result.fail(`it is a ${before.kind} and stays one`)
    const kinds = kindsOf(schema)
    const other = [...kindsOf(before)].find(([name, kind]) => (kinds.get(name) ?? kind) !== kind)
    return other === undefined
      ? Result.succeed({ schema })
      : Result.fail(`its section ${JSON.stringify(other[0])} is a ${other[1]} and stays one`)
  })

const seenThrough = (schema: PartSchema, viewport: Viewport | null): Result.Result<PartSchema, string> => {
  if (schema.kind !== "text") return Result.fail("only a text has a viewport")
  return Result.succeed({ kind: "text", ...defined({ viewport: viewport === null ? undefined : viewport }) })
}

const withViewport = (
  { schema }: KeptBlock,
  { section, viewport }: Extract<BlockSetting, { readonly set: "viewport" }>
): Result.Result<Changed, string> => {
  if (schema.kind !== "composite") {
    return section === undefined
      ? Result.flatMap(seenThrough(schema, viewport), (seen) => checkedSchema(seen))
      : Result.fail("it has no sections")
  }
  const found = schema.sections.find(({ name }) => name === section)
  if (found === undefined)
    return Result.fail(`say which section: ${schema.sections.map(({ name }) => name).join(", ")}`)
  return Result.flatMap(seenThrough(found.schema, viewport), (seen) =>
    checkedSchema({
      ...schema,
      sections: schema.sections.map((each) => (each === found ? { ...each, schema: seen } : each))
    })
  )
}

const checkedSchema = (schema: BlockSchema): Result.Result<Changed, string> =>
  Result.map(readBlockSchema(schema), (read) => ({ schema: read }))

const withShare = (
  { owner, shares }: KeptBlock,
  given: Extract<BlockSetting, { readonly set: "share" }>
): Result.Result<Changed, string> => {
  const to = given.with
  if (to === owner) return Result.fail("it is the owner's own")
  if (!blockPermissions.includes(given.permission)) return Result.fail("there is no such permission")
  if (to !== EVERYBODY && !/^[A-Za-z0-9._:@#+-]{1,128}$/.test(to)) return Result.fail("that is no assistant")
  const others = shares.filter((share) => share.with !== to)
  if (others.length >= MAX_SHARES) return Result.fail(`it is shared with ${MAX_SHARES} already`)
  return Result.succeed({ shares: [...others, { with: to, permission: given.permission }] })
}

const typeProblem = ({ type: before }: KeptBlock, type: string, viewer: BlockViewer): string | undefined => {
  if (!blockTypes.some((each) => each === type)) return "there is no such type"
  if (viewer.isSystem === true || type === before) return undefined
  if (before === "core") return "a core block can not be swapped out"
  return movable.has(before) && movable.has(type) ? undefined : `a block of the type ${before} can not become ${type}`
}

const made = (block: KeptBlock, viewer: BlockViewer, setting: BlockSetting): Result.Result<Changed, string> => {
  switch (setting.set) {
    case "pinned": {
      // What was put away comes back with being pinned.
      const isBack = setting.pinned && block.type === "archival"
      if (block.type !== "working" && !isBack) return Result.fail("only a working block is pinned")
      return Result.succeed({ pinned: setting.pinned, ...defined({ type: isBack ? ("working" as const) : undefined }) })
    }
    case "type": {
      const problem = typeProblem(block, setting.type, viewer)
      if (problem !== undefined) return Result.fail(problem)
      return Result.succeed({
        type: setting.type,
        ...defined({ pinned: setting.type === "working" ? undefined : false })
      })
    }
    case "viewport":
      return withViewport(block, setting)
    case "share":
      return withShare(block, setting)
    case "unshare":
      return Result.succeed({ shares: block.shares.filter((share) => share.with !== setting.with) })
    case "schema":
      return withSchema(block, setting.schema)
    case "permission":
      return blockPermissions.includes(setting.permission)
        ? Result.succeed({ permission: setting.permission })
        : Result.fail("there is no such permission")
    case "description":
      return Result.succeed({ description: setting.description.toWellFormed() })
    case "charLimit":
      return isCharLimit(setting.charLimit)
        ? Result.succeed({ charLimit: setting.charLimit })
        : Result.fail(`its limit is a whole number from 1 to ${MAX_CHAR_LIMIT}`)
  }
}

const isCharLimit = (limit: number): boolean => Number.isInteger(limit) && limit >= 1 && limit <= MAX_CHAR_LIMIT

/** The block with the setting made; the same block when that changes nothing. */
export const configured = (
  block: KeptBlock,
  viewer: BlockViewer,
  setting: BlockSetting
): Result.Result<KeptBlock, BlockRefused> => {
  const refused = (message: string) =>
    new BlockRefused({ block: block.label, reason: "setting", message: `block ${block.label}: ${message}` })
  if (!isOwner(block, viewer)) return Result.fail(refused("only its owner does this"))
  if (forSystem.has(setting.set) && viewer.isSystem !== true) {
    return Result.fail(refused(`its ${setting.set} is not for an assistant to change`))
  }
  return Result.mapBoth(made(block, viewer, setting), {
    onFailure: refused,
    onSuccess: (changed) => {
      const after = { ...block, ...changed }
      return JSON.stringify(after) === JSON.stringify(block) ? block : after
    }
  })
}

// Indexed: blocks as an index finds them again.
// X1  A core block is in no index: it is in every prompt of its owner already.
// X2  Only those that a block is shared with find it.

/** What an assistant keeps on purpose is believed as far as the assistant itself. */
const TRUST = 0.6
const IMPORTANCE = 5

const readersOf = ({ shares }: BlockView): Readers => {
  if (shares.some((share) => share.with === EVERYBODY)) return "fleet"
  return shares.length === 0 ? "owner" : shares.map((share) => share.with as AssistantId)
}

/**
 * What an index has to be told of a block as its owner or the system sees it. `text` is all that it holds
 * (`BlockStore.read(...).content`), or the text it is shown with; null when the block is gone.
 */
export const blockChanges = (block: BlockView, text: string | null): ReadonlyArray<IndexChange> => {
  const id = entryId("block", block.id)
  if (text === null || text === "" || block.type === "core") return [{ type: "remove", id }]
  const { description, label, type, updatedAt } = block
  return [
    {
      type: "put",
      entry: {
        id,
        kind: "block",
        at: updatedAt,
        text,
        context: description === "" ? label : `${label}: ${description}`,
        entities: [],
        tags: [type, label],
        thread: OF_NO_ONE,
        trust: TRUST,
        importance: IMPORTANCE,
        readers: readersOf(block)
      }
    }
  ]
}

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
