// One process of the night lane: lives through a day and a night until it is done or killed, and tells what is left.
// N7  Its clock stands still, so that no night differs from another one by its times.

import { join } from "node:path"
import { leftIn } from "./night-left.ts"
import { EVENING, liveNight } from "./night-life.ts"

Date.now = () => EVENING

const [data = "", place, passing = "1"] = process.argv.slice(2)

const passed = await liveNight({
  data,
  ...(place === undefined ? {} : { killAt: { place, passing: Number(passing) } })
})
process.stdout.write(JSON.stringify({ passed, left: await leftIn({ data: join(data, "store") }) }))
