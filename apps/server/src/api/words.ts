// Words: what the groups of the API share.
// Owns ids, pages and receipts as they cross the wire. Leaves the things themselves to their groups.
// W1  A list is a page: `next` is the cursor of the one after it, null when this was the last.
// W2  What a route knows nothing of is refused in its body; only AG-UI, whose clients may add to it, has bodies that are open.
// W3  Times are milliseconds since the epoch, money is in millionths, and names say so.

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A body has no name that its route has not: a slip is never a wish that was left out. */
export const bodyParsing = { onExcessProperty: "error" } as const

/** As an assistant or a tenant is called. */
export const Id = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9._:@#+-]+$/), Schema.isMaxLength(128))
/** An idempotency key: the same is accepted once. */
export const Key = Schema.NonEmptyString.check(Schema.isMaxLength(256))
export const Text = (maxChars: number) => Schema.String.check(Schema.isMaxLength(maxChars))

export const WholeFromQuery = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))
export const Switch = Schema.Literals(["true", "false"])

export const DEFAULT_PAGE = 50
export const MAX_PAGE = 500

export const limit = WholeFromQuery.check(Schema.isBetween({ minimum: 1, maximum: MAX_PAGE })).pipe(
  Schema.withDecodingDefaultKey(Effect.succeed(String(DEFAULT_PAGE)))
)
export const cursor = Schema.optionalKey(Text(600))
export const next = Schema.NullOr(Schema.String)

export const page = <Item extends Schema.Top>(item: Item) => Schema.Struct({ items: Schema.Array(item), next })

/** The way of an order or message: `duplicate` when the same was accepted before. Durable either way. */
export const Receipt = Schema.Struct({ outcome: Schema.Literals(["accepted", "duplicate"]), envelope: Schema.String })

export const Amount = Schema.Struct({ tokens: Schema.Finite, costMicros: Schema.Finite, calls: Schema.Finite })
/** Where calls are unpriced, their cost is not in `costMicros`: no one knows it. */
export const Spent = Schema.Struct({ ...Amount.fields, unpricedCalls: Schema.Finite })
/** The cached are among the input, those of reasoning among the output; `tokens` is both. */
export const UsageSum = Schema.Struct({
  ...Spent.fields,
  inputTokens: Schema.Finite,
  cachedTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  reasoningTokens: Schema.Finite
})
/** What was used in one hour or day, which begins `at`. */
export const UsagePoint = Schema.Struct({ at: Schema.Finite, ...Spent.fields })
export const Totals = Schema.Struct({
  accepted: Schema.Finite,
  settled: Schema.Finite,
  dead: Schema.Finite,
  /** How many of the dead were sent again or discarded. */
  discarded: Schema.Finite
})
/** Null where nothing bounds it. */
export const Bound = Schema.Struct({
  tokens: Schema.NullOr(Schema.Finite),
  costMicros: Schema.NullOr(Schema.Finite),
  calls: Schema.NullOr(Schema.Finite)
})
const limitOf = Schema.optionalKey(Schema.Finite)
/** What is not named is not limited. */
export const TenantLimits = Schema.Struct({
  callsPerMinute: limitOf,
  callsPerDay: limitOf,
  tokensPerMinute: limitOf,
  tokensPerDay: limitOf,
  costMicrosPerMinute: limitOf,
  costMicrosPerDay: limitOf,
  concurrentCalls: limitOf
})
const limitNames = Object.keys(TenantLimits.fields) as ReadonlyArray<keyof typeof TenantLimits.fields>
/** Whole numbers; null takes back what was set, and what is left out stays as it is. */
const settable = Schema.optionalKey(Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))))
export const LimitsRequest = Schema.Struct(
  Object.fromEntries(limitNames.map((name) => [name, settable])) as Record<(typeof limitNames)[number], typeof settable>
)
/** What a tenant may use of models, and what it has used and reserved of that. */
export const LimitsView = Schema.Struct({
  /** What holds. What is not named is not limited; where nothing is, nothing is counted. */
  limits: TenantLimits,
  /** What was set while the fleet worked, in the place of what its program says. */
  set: TenantLimits,
  /** What the program says. */
  defined: TenantLimits,
  inMinute: Amount,
  /** In this day of UTC. */
  inDay: Amount,
  underWay: Schema.Int
})
export const Usage = Schema.Struct({
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedInputTokens: Schema.optionalKey(Schema.Finite),
  reasoningTokens: Schema.optionalKey(Schema.Finite),
  source: Schema.Literals(["provider", "counted"])
})
export const ofAssistant = { id: Id }

// BlockEdit: one change of a memory block, as it crosses the wire.

const Words = Text(1_000_000)
const field = Text(256)
/** Where in a block that has sections. */
const section = Schema.optionalKey(Text(256))
const index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const value = Schema.Json

const edit = <const Op extends string, Fields extends Schema.Struct.Fields>(op: Op, fields: Fields) =>
  Schema.Struct({ op: Schema.Literal(op), ...fields, section })

export const BlockEdit = Schema.Union([
  edit("set_text", { text: Words }),
  edit("append_text", { text: Words }),
  edit("replace_text", { old: Words, new: Words }),
  edit("set_field", { field, value }),
  edit("set_text_field", { field, text: Words }),
  edit("append_to_list_field", { field, value }),
  edit("increment_counter", { field, by: Schema.Finite }),
  edit("push_item", { value }),
  edit("insert_item", { index, value }),
  edit("delete_item", { index }),
  edit("append_log_entry", { entry: Schema.Record(Schema.String, value) })
])
export type BlockEdit = typeof BlockEdit.Type

/** A change under the same key is made once. */
export const keyed = { "idempotency-key": Schema.optionalKey(Key) }

/** Entries that cannot be read, by their numbers, both included. */
export const LostSpans = Schema.Array(Schema.Struct({ from: Schema.Int, to: Schema.Int, reason: Schema.String }))
