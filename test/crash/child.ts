// One process of the crash lane: lives on a directory until it is done or killed.

import type { FaultPoint } from "@reverie/runtime"
import { live } from "./life.ts"

const [data = "", events = "0", point, passing = "1"] = process.argv.slice(2)

await live(
  {
    data,
    events: Number(events),
    ...(point === undefined ? {} : { killAt: { point: point as FaultPoint, passing: Number(passing) } })
  },
  () => process.stdout.write("ready\n")
)
process.stdout.write("done\n")
