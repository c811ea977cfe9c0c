// Assistants: the group about who lives in the fleet, and the orders they are given.
// Owns its schemas and endpoints. Leaves messages to messages.ts.

import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Access, Fitting } from "./access.ts"
import { failures } from "./errors.ts"
import { filter, groups } from "./fleet/groups.ts"
import { AssistantDetail, AssistantRow, Budget, Counts, Outage, sorts, StoredAssistant } from "./fleet/rows.ts"
import {
  cursor,
  Id,
  Key,
  bodyParsing,
  limit,
  LimitsRequest,
  LimitsView,
  next,
  ofAssistant,
  Receipt,
  Switch,
  Text,
  Totals,
  UsagePoint,
  UsageSum,
  WholeFromQuery
} from "./words.ts"

export const usageGroups = ["assistant", "hour", "model", "purpose"] as const
export const usagePurposes = ["answer", "assess", "dream", "profile", "compact"] as const
export const usageSteps = ["hour", "day"] as const

/** Entries of the ledger, and the messages that began them; of a dry run entries alone. */
const PutAway = Schema.Struct({ entries: Schema.Int, envelopes: Schema.Int })

const Most = Schema.optionalKey(Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e12 }))))

export const orders = ["wake", "sleep", "compact", "stop", "halt", "resume", "retire"] as const
export const Order = Schema.Literals(orders)
// Activity: how much the assistants in view have done, hour by hour.

/** At most so many at once: as many as a screen shows. */
const MOST_IDS = 100

/** Ids as an address carries them: none of them holds a comma. */
const Ids = Schema.NonEmptyString.check(
  Schema.isMaxLength(13_000),
  Schema.isPattern(new RegExp(`^[A-Za-z0-9._:@#+-]{1,128}(,[A-Za-z0-9._:@#+-]{1,128}){0,${MOST_IDS - 1}}$`))
)

/** Tokens of the model calls of these assistants, an hour of UTC each, the hour that runs last; of an unknown one there are none. */
const activity = HttpApiEndpoint.get("activity", "/v1/activity", {
  query: {
    /** Up to 100, divided by commas. */
    ids: Ids
  },
  success: Schema.Struct({
    /** The beginning of the first hour. */
    from: Schema.Finite,
    items: Schema.Array(Schema.Struct({ id: Schema.String, tokens: Schema.Array(Schema.Finite) }))
  }),
  error: failures
})

export class AssistantsGroup extends HttpApiGroup.make("assistants").add(
  HttpApiEndpoint.get("list", "/v1/assistants", {
    query: {
      ...filter,
      sort: Schema.optionalKey(Schema.Literals(sorts)),
      descending: Schema.optionalKey(Switch),
      limit,
      cursor
    },
    success: Schema.Struct({
      items: Schema.Array(AssistantRow),
      next,
      matched: Schema.Int,
      counts: Counts,
      /** Servers of models that are away, and how many wait for each. */
      outages: Schema.Array(Outage)
    }),
    error: failures
  }),
  groups,
  activity,
  /** In the order of their ids, read from the store for this answer: cheap where few are asked for, whatever their number. */
  HttpApiEndpoint.get("views", "/v1/views", {
    query: {
      /** How their ids begin. */
      start: Schema.optionalKey(Text(128)),
      /** Those of this definition or label only: as many are looked at as it takes. */
      definition: filter.definition,
      tag: filter.tag,
      limit,
      cursor
    },
    success: Schema.Struct({
      items: Schema.Array(StoredAssistant),
      next,
      /** Of the whole store, every tenant together: told only to the tenant that the process is opened for. */
      totals: Schema.optionalKey(Totals)
    }),
    error: failures
  }),
  HttpApiEndpoint.get("view", "/v1/views/:id", {
    params: ofAssistant,
    success: StoredAssistant,
    error: failures
  }),
  HttpApiEndpoint.post("create", "/v1/assistants", {
    payload: Schema.Struct({ id: Id, definition: Schema.optionalKey(Text(128)) }),
    success: Schema.Struct({ outcome: Schema.Literals(["created", "exists"]), id: Id }),
    error: failures
  }),
  HttpApiEndpoint.get("inspect", "/v1/assistants/:id", {
    params: ofAssistant,
    success: AssistantDetail,
    error: failures
  }),
  HttpApiEndpoint.post("order", "/v1/assistants/:id/orders", {
    params: ofAssistant,
    payload: Schema.Struct({
      order: Order,
      reason: Schema.optionalKey(Text(2_000)),
      /** Of a sleep. */
      forMs: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 604_800_000 }))),
      /** Of a stop: the tick that is meant, so that a late order ends no other; the one in progress when left out. */
      tick: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
      id: Schema.optionalKey(Key)
    }),
    success: Receipt,
    error: failures
  }),
  /** Bounds what it may spend in its whole life: a number of each, null for any amount; what is left out stays as it is. */
  HttpApiEndpoint.put("setBudget", "/v1/assistants/:id/budget", {
    params: ofAssistant,
    payload: Schema.Struct({ tokens: Most, costMicros: Most, calls: Most, id: Schema.optionalKey(Key) }),
    success: Receipt,
    error: failures
  }),
  /** Who may spend how much, the most used up first, and the limits of the tenant with what it has used and reserved of them. */
  HttpApiEndpoint.get("budgets", "/v1/budgets", {
    query: { limit },
    success: Schema.Struct({
      items: Schema.Array(Budget),
      /** How many have one. */
      matched: Schema.Int,
      tenant: LimitsView
    }),
    error: failures
  }),
  /**
   * Sets limits of a tenant from the next model call on: a number of each, null for what the program says; what is left out stays. A token
   * of the deployment's own tenant may, for any tenant; others may look at theirs.
   */
  HttpApiEndpoint.put("setLimits", "/v1/limits", {
    payload: Schema.Struct({ ...LimitsRequest.fields, tenant: Schema.optionalKey(Id) }),
    success: LimitsView,
    error: failures
  }),
  /** The same order for everyone that the filter means; with `dryRun` only their number. */
  HttpApiEndpoint.post("orderAll", "/v1/orders", {
    payload: Schema.Struct({
      order: Order,
      reason: Schema.optionalKey(Text(2_000)),
      ids: Schema.optionalKey(Schema.Array(Id).check(Schema.isMaxLength(10_000))),
      ...filter,
      dryRun: Schema.optionalKey(Schema.Boolean)
    }),
    success: Schema.Struct({ matched: Schema.Int, told: Schema.Int, ids: Schema.Array(Id) }),
    error: failures
  }),
  /**
   * Erases for good, in ledger, memory, index and files: one assistant, all of the tenant, or, in one assistant or in all, what
   * contains a text or says a topic, or what was said, answered and learnt: by a person, in messages, in a span of time. Numbers and sums
   * of use stay true. With `dryRun` nothing goes, and the answer says what would.
   */
  HttpApiEndpoint.post("forget", "/v1/forget", {
    payload: Schema.Struct({
      assistant: Schema.optionalKey(Id),
      /** At least 4 characters; the case of letters counts for nothing. A dry run lists what contains it (`found`). */
      text: Schema.optionalKey(Text(2_000)),
      /** Words; what says all of them in one line, in any form. A dry run lists it (`found`). */
      topic: Schema.optionalKey(Text(200)),
      everything: Schema.optionalKey(Schema.Literal(true)),
      /** The one who spoke under this name; the case of letters counts for nothing. */
      person: Schema.optionalKey(Text(200)),
      /** Ids of messages of the assistant, like `m/12/0`. */
      messages: Schema.optionalKey(Schema.Array(Text(40)).check(Schema.isMaxLength(1_000))),
      /** In milliseconds since the epoch, both inclusive. */
      since: Schema.optionalKey(Schema.Finite),
      until: Schema.optionalKey(Schema.Finite),
      dryRun: Schema.optionalKey(Schema.Boolean)
    }),
    success: Schema.Struct({
      at: Schema.Finite,
      dryRun: Schema.Boolean,
      /** How many something went of. */
      assistants: Schema.Int,
      /** How many of each kind: `entry`, `envelope`, `record`, `block`, `blob` and the like. */
      gone: Schema.Record(Schema.String, Schema.Int),
      /** Segments that could not be read: `missing`, `damaged` and of no account, or `removed` because they may have held some of it. */
      unread: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            assistant: Id,
            segment: Schema.String,
            from: Schema.Int,
            to: Schema.Int,
            state: Schema.Literals(["missing", "damaged", "removed"]),
            /** A whole one that is put back is read again: forget once more then. */
            comesBack: Schema.Boolean
          })
        )
      ),
      /** In a dry run: what says a topic or a text, or goes with what was said, of each kind how much and the first few. */
      found: Schema.optionalKey(
        Schema.Struct({
          counts: Schema.Record(Schema.String, Schema.Int),
          samples: Schema.Array(
            Schema.Struct({
              assistant: Schema.optionalKey(Id),
              kind: Schema.String,
              where: Schema.String,
              text: Schema.String
            })
          )
        })
      )
    }),
    error: failures
  }),
  /**
   * Puts away what is due by `retention` in all assistants of the tenant, and gives back its room: files of a data directory are
   * written anew, tables of PostgreSQL vacuumed. With `dryRun` nothing changes, and the answer counts the entries that are due.
   */
  HttpApiEndpoint.post("vacuum", "/v1/vacuum", {
    payload: Schema.Struct({ dryRun: Schema.optionalKey(Schema.Boolean) }),
    success: Schema.Struct({
      at: Schema.Finite,
      dryRun: Schema.Boolean,
      /** How many it went over. */
      assistants: Schema.Int,
      /** How many of them were left as they are: the fleet does not have their definition, and so not their policy. */
      left: Schema.Int,
      /** What was compressed. */
      archived: PutAway,
      /** What lost its words for good. */
      deleted: PutAway,
      /** Of the store and its index, of all tenants. */
      bytesBefore: Schema.Int,
      bytesAfter: Schema.Int,
      /** Of segments that lie apart from the store, of all tenants. */
      segments: Schema.optionalKey(
        Schema.Struct({
          place: Schema.String,
          /** False where no place is named: then all that lies apart counts as missing. */
          isNamed: Schema.optionalKey(Schema.Literal(false)),
          segments: Schema.Int,
          bytes: Schema.Int,
          removed: Schema.Int,
          missing: Schema.Array(Schema.String),
          unknown: Schema.Int
        })
      )
    }),
    error: failures
  }),
  /** What waits in its mailbox. */
  HttpApiEndpoint.get("mailbox", "/v1/assistants/:id/mailbox", {
    params: ofAssistant,
    query: { limit },
    success: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          id: Schema.String,
          lane: Schema.String,
          seq: Schema.Int,
          type: Schema.String,
          from: Schema.String,
          text: Schema.optionalKey(Schema.String),
          acceptedAt: Schema.optionalKey(Schema.Finite),
          hops: Schema.Int
        })
      )
    }),
    error: failures
  }),
  /**
   * What model calls used, by assistant, hour, model or purpose (answer, assess, dream, profile, compact), as the ledger has
   * summed it with each commit: of all assistants, the retired too, or of one. Hours and days are those of UTC. With `step` each
   * item, and all of them together, have their course: `points` are those hours or days in which something was used.
   */
  HttpApiEndpoint.get("usage", "/v1/usage", {
    query: {
      /** From the hour of this moment on; the last 24 hours when left out. */
      from: Schema.optionalKey(WholeFromQuery),
      /** Before the hour of this moment. */
      to: Schema.optionalKey(WholeFromQuery),
      by: Schema.optionalKey(Schema.Literals(usageGroups)),
      assistant: Schema.optionalKey(Id),
      model: Schema.optionalKey(Text(200)),
      purpose: Schema.optionalKey(Schema.Literals(usagePurposes)),
      /** Those that cost most first: one page, without `next`. */
      order: Schema.optionalKey(Schema.Literal("greatest")),
      /** Of at most 50 items; of more than 1,000 hours a point is a day, and of more than 1,000 days the newest are given. */
      step: Schema.optionalKey(Schema.Literals(usageSteps)),
      limit,
      cursor
    },
    success: Schema.Struct({
      from: Schema.Finite,
      to: Schema.NullOr(Schema.Finite),
      by: Schema.Literals(usageGroups),
      /** In the order of their keys, or the greatest first; the key of an hour is its beginning. */
      items: Schema.Array(
        Schema.Struct({
          key: Schema.String,
          ...UsageSum.fields,
          points: Schema.optionalKey(Schema.Array(UsagePoint))
        })
      ),
      /** Of all pages. */
      total: UsageSum,
      next,
      series: Schema.optionalKey(Schema.Struct({ step: Schema.Literals(usageSteps), points: Schema.Array(UsagePoint) }))
    }),
    error: failures
  })
) {}

/** The group alone, for a process that asks nothing else: every list of a command line. */
export const AssistantsApi = HttpApi.make("reverie")
  .add(AssistantsGroup)
  .middleware(Access)
  .middleware(Fitting)
  .annotate(HttpApi.PayloadParseOptions, bodyParsing)
