// SleepTools: go_to_sleep.
// Owns what the model is offered. Leaves the safeguards to `assistant`, falling asleep to the statechart.
// I1  The order leaves with the commit of the result, waits behind the mail before it, and is heard once.

import { sleepOrder, whyAwake } from "@reverie/assistant"
import * as Schema from "effect/Schema"
import { selfTool } from "./self-tool.ts"

const HOUR_MILLIS = 3_600_000

export const goToSleepTool = selfTool({
  name: "go_to_sleep",
  description:
    "Ends your day: after what is already waiting you fall asleep and dream. A mention or a direct message wakes you.",
  input: Schema.Struct({
    hours: Schema.optionalKey(
      Schema.Finite.check(Schema.isBetween({ minimum: 0.1, maximum: 23 })).annotate({
        description: "How long; as long as usual when not said"
      })
    )
  }),
  run: ({ hours }, { records }) => {
    const refused = whyAwake(records.loop.sleepBlockers)
    if (refused !== undefined) return refused
    const { key, kind, value } = sleepOrder(hours === undefined ? undefined : Math.round(hours * HOUR_MILLIS))
    records.write(kind, key, value)
    return { success: true }
  }
})
