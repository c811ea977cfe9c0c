// Activity: how much the assistants in view have done, hour by hour.

import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { failures } from "../errors.ts"

/** At most so many at once: as many as a screen shows. */
const MOST_IDS = 100

/** Ids as an address carries them: none of them holds a comma. */
const Ids = Schema.NonEmptyString.check(
  Schema.isMaxLength(13_000),
  Schema.isPattern(new RegExp(`^[A-Za-z0-9._:@#+-]{1,128}(,[A-Za-z0-9._:@#+-]{1,128}){0,${MOST_IDS - 1}}$`))
)

/** Tokens of the model calls of these assistants, an hour of UTC each, the hour that runs last; of an unknown one there are none. */
export const activity = HttpApiEndpoint.get("activity", "/v1/activity", {
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
