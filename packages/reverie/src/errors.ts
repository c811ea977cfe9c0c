import * as Schema from "effect/Schema"

/**
 * A fleet or an assistant was described wrongly. The developer must correct the description.
 * @example if (error instanceof FleetDefinitionInvalid) console.error(error.message)
 */
export class FleetDefinitionInvalid extends Schema.TaggedError<FleetDefinitionInvalid>()("FleetDefinitionInvalid", {
  subject: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

/**
 * What was sent is no envelope: too long, an unknown event, an impossible id. The sender must correct it.
 * @example if (error instanceof EnvelopeInvalid) console.error(error.message)
 */
export class EnvelopeInvalid extends Schema.TaggedError<EnvelopeInvalid>()("EnvelopeInvalid", {
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * A name or role fits several assistants, or none. The sender must say whom it means.
 * @example if (error instanceof TargetAmbiguous) console.error(error.message)
 */
export class TargetAmbiguous extends Schema.TaggedError<TargetAmbiguous>()("TargetAmbiguous", {
  message: Schema.String,
  candidates: Schema.Array(Schema.String)
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * An assistant may not hand this task on, or has nothing left for it. The message holds the refusal as JSON.
 * @example if (error instanceof DelegationRefused) console.error(error.message)
 */
export class DelegationRefused extends Schema.TaggedError<DelegationRefused>()("DelegationRefused", {
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * An assistant takes no budget, or not this one: it is a sub-agent, it has retired, or no one knows what its model costs. Or a limit of
 * a tenant is none.
 * @example if (error instanceof BudgetRefused) console.error(error.message)
 */
export class BudgetRefused extends Schema.TaggedError<BudgetRefused>()("BudgetRefused", {
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * The fleet was closed, or its store failed, while something was still asked of it.
 * @example if (error instanceof FleetClosed) console.error(error.message)
 */
export class FleetClosed extends Schema.TaggedError<FleetClosed>()("FleetClosed", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "stop" as const
}

/**
 * What was given as the id of an assistant can be none. The caller must correct it.
 * @example if (error instanceof IdInvalid) console.error(error.message)
 */
export class IdInvalid extends Schema.TaggedError<IdInvalid>()("IdInvalid", {
  id: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * No definition of the fleet has this name. The caller must name one of those there are.
 * @example if (error instanceof DefinitionUnknown) console.error(error.message)
 */
export class DefinitionUnknown extends Schema.TaggedError<DefinitionUnknown>()("DefinitionUnknown", {
  definition: Schema.String,
  known: Schema.Array(Schema.String),
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * No letter of this id was dead-lettered, or what stood in it can not be read any more. The caller must name another one.
 * @example if (error instanceof DeadLetterUnknown) console.error(error.message)
 */
export class DeadLetterUnknown extends Schema.TaggedError<DeadLetterUnknown>()("DeadLetterUnknown", {
  assistant: Schema.String,
  envelope: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * A dead letter is not sent again, because its assistant has retired: it can be discarded.
 * @example if (error instanceof DeadLetterRefused) console.error(error.message)
 */
export class DeadLetterRefused extends Schema.TaggedError<DeadLetterRefused>()("DeadLetterRefused", {
  assistant: Schema.String,
  envelope: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * An order about a memory names a fact, a passage, an attribute, a dream or an item of one that the assistant does not have. The caller
 * must name one of those that there are.
 * @example if (error instanceof MemoryUnknown) console.error(error.message)
 */
export class MemoryUnknown extends Schema.TaggedError<MemoryUnknown>()("MemoryUnknown", {
  assistant: Schema.String,
  memory: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * An order about a memory means nothing any more, as things stand: it corrects a fact that holds no more, or takes back a dream of which
 * retention has deleted what stood before. Nothing was accepted. The message says what to do in its place.
 * @example if (error instanceof MemoryRefused) console.error(error.message)
 */
export class MemoryRefused extends Schema.TaggedError<MemoryRefused>()("MemoryRefused", {
  assistant: Schema.String,
  memory: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * A reminder is no rule, or has no time that is still to come. The message says what is wrong.
 * @example if (error instanceof ReminderInvalid) console.error(error.message)
 */
export class ReminderInvalid extends Schema.TaggedError<ReminderInvalid>()("ReminderInvalid", {
  reminder: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * A reminder is to be cancelled that the assistant does not have, or that is over. The caller must name one of those that there are.
 * @example if (error instanceof ReminderUnknown) console.error(error.message)
 */
export class ReminderUnknown extends Schema.TaggedError<ReminderUnknown>()("ReminderUnknown", {
  assistant: Schema.String,
  reminder: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * An assistant gave no whole answer: its tick failed, it ran out of steps or of budget, its answer has not the form it must have, a
 * hook refused it or the message, or it is halted. `code` is the name of the error behind it, `StepsSpent`, `BudgetSpent`,
 * `AnswerMisshapen`, `AnswerRefused`, `HookRefused`, `HookFailed` or `Halted`; a halted one answers after `fleet.resume`.
 * @example
 * const reply = await fleet.answer("desk", "Hello.").catch((error: unknown) => {
 *   if (error instanceof AnswerFailed) return `no answer: ${error.message}`
 *   throw error
 * })
 */
export class AnswerFailed extends Schema.TaggedError<AnswerFailed>()("AnswerFailed", {
  assistant: Schema.String,
  code: Schema.String,
  message: Schema.String,
  /** What it had said when its steps or its budget ran out, or what does not fit. */
  reply: Schema.optionalKey(Schema.String)
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * The time that the caller gave is over. The message is durable and goes on: asking again with the same `id` reads its answer.
 * @example
 * const id = "mail-17"
 * const reply = await fleet.answer("desk", "Hello.", { id, timeoutMs: 30_000 }).catch((error: unknown) => {
 *   if (error instanceof AnswerLate) return `not yet: ${error.message}`
 *   throw error
 * })
 */
export class AnswerLate extends Schema.TaggedError<AnswerLate>()("AnswerLate", {
  assistant: Schema.String,
  id: Schema.String,
  timeoutMs: Schema.Finite,
  message: Schema.String
}) {
  readonly recovery = "retry" as const
}

/**
 * An id that stands for one message was given to another one. Nothing was accepted; the sender must take a new id.
 * @example if (error instanceof IdReused) console.error(error.message)
 */
export class IdReused extends Schema.TaggedError<IdReused>()("IdReused", {
  assistant: Schema.String,
  id: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * No tool call waits under this approval: it was decided, has expired, or was never asked for. Nothing was accepted.
 * @example if (error instanceof ApprovalUnknown) console.error(error.message)
 */
export class ApprovalUnknown extends Schema.TaggedError<ApprovalUnknown>()("ApprovalUnknown", {
  assistant: Schema.String,
  approval: Schema.String,
  open: Schema.Array(Schema.String),
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}
