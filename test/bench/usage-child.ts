// The server of one tree over a large store: it fills the store through its ports, opens, says where, and ends with its input.
// Owns nothing but its process. Leaves what is asked of it to usage.ts.
// C1  The store, the fleet and the server are those of the tree that is named, whichever this file is of.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { DEFAULT_TENANT } from "@reverie/protocol"
import type * as Server from "@reverie/server"
import type * as Store from "@reverie/store-sqlite"
import type * as Testkit from "@reverie/testkit"
import * as Effect from "effect/Effect"
import type * as Reverie from "reverie"

const [tree = "", assistants = "1000", days = "1"] = process.argv.slice(2)
const from = async <A>(path: string): Promise<A> => (await import(pathToFileURL(join(tree, path)).href)) as A
const { storeSqliteLayer } = await from<typeof Store>("packages/adapters/store-sqlite/src/index.ts")
const { gather } = await from<typeof Testkit>("packages/testkit/src/index.ts")
const { defineAssistant, defineFleet, Fleet } = await from<typeof Reverie>("packages/reverie/src/index.ts")
const { openServer } = await from<typeof Server>("apps/server/src/index.ts")

const data = await mkdtemp(join(tmpdir(), "reverie-bench-usage-"))
const definition = defineAssistant({ id: "crowd", instructions: "You are many." })
const crowd = { count: Number(assistants), tenant: DEFAULT_TENANT, definition, now: Date.now(), days: Number(days) }
const layer = storeSqliteLayer(data, { durability: "normal" })
await Effect.runPromise(Effect.scoped(Effect.provide(gather(crowd), layer)))
const fleet = await Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [definition] }) })
const server = await openServer({ fleet, role: "all", tokens: [], port: 0 })
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
process.stdin.resume()
process.stdin.once("end", () => {
  void (async () => {
    await server.close()
    await fleet.close()
    await rm(data, { recursive: true, force: true })
  })()
})
