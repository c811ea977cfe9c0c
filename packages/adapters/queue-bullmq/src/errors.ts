// What may go wrong between this queue and its server.

import * as Schema from "effect/Schema"

/** The server did not answer in time, or is known to be away. Wake-ups are disposable: the store gives them again. */
export class QueueSilent extends Schema.TaggedError<QueueSilent>()("QueueSilent", {
  doing: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "retry" as const
  override get message(): string {
    return `the queue's server did not ${this.doing}: ${this.reason}`
  }
}

/** Hours of sleep that are no schedule. */
export class SleepScheduleRefused extends Schema.TaggedError<SleepScheduleRefused>()("SleepScheduleRefused", {
  address: Schema.String,
  pattern: Schema.String,
  timeZone: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `the sleep schedule "${this.pattern}" (${this.timeZone}) of ${this.address} are refused: ${this.reason}; give a cron pattern and a known time zone`
  }
}
