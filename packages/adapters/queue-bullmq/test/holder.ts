// Holder: a process that takes as many wake-ups as it receives and never ends them. Arguments: url, prefix, count.

import * as Redacted from "effect/Redacted"
import { openLine } from "./line.ts"

const [url = "", prefix = "", count = "1"] = process.argv.slice(2)
const line = openLine({ backend: { redis: Redacted.make(url) }, prefix, concurrency: 16 })
for (let i = 0; i < Number(count); i++) {
  const { address } = await line.take()
  console.log(address.assistant)
}
setInterval(() => undefined, 1_000)
