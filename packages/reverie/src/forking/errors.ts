import * as Schema from "effect/Schema"

const forkRefusals = ["no-tick", "no-message", "team", "too-long", "no-definition", "fixture"] as const

/**
 * A tick that can not be tried again beside the fleet. Whoever asked must ask for another one.
 * @example if (error instanceof ForkRefused) console.error(error.message)
 */
export class ForkRefused extends Schema.TaggedError<ForkRefused>()("ForkRefused", {
  reason: Schema.Literals(forkRefusals),
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}
