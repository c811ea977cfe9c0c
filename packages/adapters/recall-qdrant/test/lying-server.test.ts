import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { Recall, recallScopes } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { recallQdrantLayer } from "../src/index.ts"
import { payloadOf } from "../src/point.ts"
import { asking, entry } from "./bench.ts"

const ada = anAddress("ada")
const bob = anAddress("bob")
const otherAda = anAddress("ada", "tower")

const payload = (address: typeof ada, key: string, readers: Parameters<typeof entry>[2] = {}) =>
  payloadOf(address, { entry: entry(`p/${key}`, `tide ${key}`, { kind: "passage", ...readers }), facts: [] })

/** Points that a server without any filter would give to everybody. */
const everything = [
  payload(ada, "own"),
  payload(ada, "profile", { kind: "profile" }),
  payload(bob, "bobs"),
  payload(bob, "named", { readers: [ada.assistant] }),
  payload(bob, "fleet", { readers: "fleet" }),
  payload(otherAda, "namesake"),
  payload(otherAda, "their-fleet", { readers: "fleet" }),
  payload(otherAda, "their-named", { readers: [ada.assistant] }),
  // Forged: owner and tenant say one thing, the key by which the server divides another.
  { ...payload(otherAda, "forged"), agent: "harbor/ada" },
  { ...payload(ada, "forged-too"), agent: "tower/ada" },
  { ...payload(ada, "unreadable"), trust: "high" },
  { ...payload(ada, "inexact"), exact: "{" },
  { position: 4, agent: "harbor/ada" },
  null
]

const lyingServer = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<ReturnType<typeof createServer>>((resolve) => {
        const points = everything.map((each, index) => ({ id: index, version: 0, score: 1, payload: each }))
        const server = createServer(({ method }, response) => {
          const result = method === "GET" ? { config: { metadata: { schema: 2 } } } : [{ points }]
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ result }))
        }).listen(0, "127.0.0.1", () => resolve(server))
      })
  ),
  (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

it.effect("Q1 P2 whatever a server gives, no one finds what he may not read or did not ask for", () =>
  Effect.gen(function* () {
    const server = yield* lyingServer
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    yield* Effect.gen(function* () {
      const recall = yield* Recall
      const found = yield* Effect.forEach(recallScopes, (scope) =>
        Effect.map(recall.search(ada, asking("tide", { scope, limit: 100 })), (hits) =>
          hits.map(({ entry: { id }, owner }) => `${owner} ${id}`).toSorted()
        )
      )
      assert.deepStrictEqual(found, [
        ["ada p/own"],
        ["ada p/own", "bob p/named"],
        ["ada p/own", "bob p/fleet", "bob p/named"]
      ])
    }).pipe(Effect.provide(recallQdrantLayer({ url })))
  }).pipe(Effect.scoped)
)
