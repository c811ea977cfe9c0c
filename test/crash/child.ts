// One process of the crash lane: lives on a directory until it is done or killed.

import type { FaultPoint } from "@reverie/runtime"
import type { ModelChoice } from "reverie"
import { live } from "./life.ts"

const [data = "", events = "0", point = "", passing = "1", model] = process.argv.slice(2)

await live(
  {
    data,
    events: Number(events),
    ...(point === "" ? {} : { killAt: { point: point as FaultPoint, passing: Number(passing) } }),
    ...(model === undefined ? {} : { model: JSON.parse(model) as ModelChoice })
  },
  () => process.stdout.write("ready\n")
)
process.stdout.write("done\n")
