import { blackHole } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Redacted from "effect/Redacted"
import { test } from "vitest"
import { addressOf, openLine, sleep, takenInTheEnd } from "./line.ts"
import { optionsAt } from "./place.ts"

const postgres = sharePostgres()

postgres.describe("queue-bullmq in trouble with PostgreSQL", () => {
  test.each(["cut", "hang"] as const)("B2 it is away (%s) when the queue is closed: closing ends", async (away) => {
    const hole = await blackHole(postgres.server().url)
    const line = openLine(optionsAt({ postgres: Redacted.make(hole.url) }, { deadlineMillis: 1_000 }))
    await line.done(await takenInTheEnd(line, addressOf("ada")))
    await hole[away]()
    await sleep(300)
    await line.close()
    await hole.close()
  })
})
