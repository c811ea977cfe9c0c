import * as Schema from "effect/Schema"

// Limits: what is refused, or shortened, beyond them.

/** Longest text of a message that is shown. */
export const MAX_SHOWN_CHARS = 100_000

/** The version of fixtures that this program writes and reads. */
export const FIXTURE_VERSION = 1

/** Most commits that a fixture carries with it. */
export const MAX_FIXTURE_COMMITS = 5_000

/** Most commits that may stand before a tick that is tried again: all of them are laid out in memory. */
export const MAX_COMMITS_BEFORE = 50_000

/** Most frames of a page of a replay. */
export const MAX_FRAMES = 500

const forkRefusals = ["no-tick", "no-message", "team", "too-long", "deleted", "no-definition", "fixture"] as const

/**
 * A tick that can not be tried again beside the fleet. The caller must ask for another one.
 * @example if (error instanceof ForkRefused) console.error(error.message)
 */
export class ForkRefused extends Schema.TaggedError<ForkRefused>()("ForkRefused", {
  reason: Schema.Literals(forkRefusals),
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}
