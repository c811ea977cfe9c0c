// KeeperChild: a process that outlives a run of the integration tests by a moment, and ends its containers.
// Owns waiting for the end of its standard input, which only the run holds open. `keeper-child.ts LABEL=VALUE`
// K1  What was being created when the run ended is found too: it looks until nothing has come for a while.

import { setTimeout as sleep } from "node:timers/promises"
import { findClient } from "./engine.ts"

const LOOKS = 4
const PAUSE_MILLIS = 500

const [label = ""] = process.argv.slice(2)

/** How many there were. */
const sweep = async (): Promise<number> => {
  const client = await findClient()
  if (client === undefined) return 0
  const { dockerode } = client.container
  const left = await dockerode.listContainers({ all: true, filters: { label: [label] } })
  for (const { Id } of left) {
    await dockerode
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch(() => undefined)
  }
  return left.length
}

for await (const _ of process.stdin) {
  // Nothing is said; it ends.
}
for (let quiet = 0; quiet < LOOKS;) {
  quiet = (await sweep()) === 0 ? quiet + 1 : 0
  await sleep(PAUSE_MILLIS)
}
