import { assert, describe, it } from "@effect/vitest"
import { Recall } from "@reverie/memory"
import { hashedEmbedder, memoryRecall } from "@reverie/testkit"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import { contractIfThere, startQdrantServer } from "@reverie/testkit/qdrant-server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { deployedRecallLayer, type RecallChoice, recallLayer } from "../src/opening/deployment.ts"
import { aDirectory, openFleet } from "./rig.ts"

const SECRET = "The spare key of the boathouse hangs behind the blue barrel."
const QUESTION = "Where does the spare key of the boathouse hang?"

const server = (apiKey?: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      startQdrantServer({ contract: contractIfThere(), ...(apiKey === undefined ? {} : { apiKey }) })
    ),
    ({ close }) => Effect.promise(close)
  )

const chosen = <A, E>(
  env: Readonly<Record<string, string>>,
  choice: RecallChoice | undefined,
  use: (recall: Option.Option<Recall["Service"]>) => Effect.Effect<A, E>,
  data: string = aDirectory()
) =>
  Effect.serviceOption(Recall).pipe(
    Effect.flatMap(use),
    Effect.provide(Layer.provide(recallLayer(data, choice), ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
  )

const ada = { tenant: "harbor", assistant: "ada" } as never

const positionOf = (recall: Option.Option<Recall["Service"]>) =>
  Effect.flatMap(Effect.fromOption(recall), ({ position }) => Effect.map(position(ada), ({ no }) => no))

describe("the index of a profile", () => {
  it.live("the server that the environment names, with its key", () =>
    Effect.gen(function* () {
      const { faults, requests, url } = yield* server("secret-key")
      const env = { QDRANT_URL: url, QDRANT_API_KEY: "secret-key" }
      assert.strictEqual(yield* chosen(env, undefined, positionOf), 0)
      assert.isNotEmpty(requests)
      assert.deepStrictEqual(faults, [])
      yield* chosen({ ...env, QDRANT_COLLECTION: "south" }, undefined, positionOf)
      assert.isTrue(requests.some(({ body }) => JSON.stringify(body ?? "").includes("south")))
      const refused = yield* Effect.flip(chosen({ ...env, QDRANT_API_KEY: "another-key" }, undefined, positionOf))
      assert.notInclude(String(refused), "another-key")
    })
  )

  it.live("R3 an option goes before the environment; nothing named is a file beside the store", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server()
      const env = { QDRANT_URL: url }
      assert.strictEqual(yield* chosen(env, "embedded", positionOf), 0)
      assert.strictEqual(yield* chosen(env, undefined, positionOf, ":memory:"), 0)
      assert.strictEqual(yield* chosen(env, memoryRecall(), positionOf), 0)
      assert.isTrue(yield* chosen(env, "none", (recall) => Effect.succeed(Option.isNone(recall))))
      assert.strictEqual(yield* chosen({}, undefined, positionOf), 0)
      assert.deepStrictEqual(requests, [])
      assert.strictEqual(yield* chosen({}, { url }, positionOf), 0)
      assert.isNotEmpty(requests)
    })
  )

  it.live("an address that is none is reported at the opening", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(chosen({ QDRANT_URL: "not an address" }, undefined, positionOf))
      assert.include(String(refused), "QDRANT_URL")
    })
  )
})

describe("a fleet on a server", () => {
  it("a question is one request for where the index stands, one for who is named, and one for both rounds", async () => {
    const { faults, requests, url, close } = await startQdrantServer({ contract: contractIfThere() })
    const { embedder } = hashedEmbedder(8)
    const fleet = await openFleet({ data: aDirectory(), recall: { url }, embedder, says: [{ text: "Noted." }] })
    await fleet.send("desk", SECRET, { from: "Ann" })
    await fleet.sleep("desk")
    await fleet.idle()
    await fleet.memory.recall("desk", QUESTION)
    const from = requests.length
    const { degraded, hits, mode } = await fleet.memory.recall("desk", `${QUESTION} And the doctor?`)
    assert.deepStrictEqual([degraded, mode, hits[0]?.entry.text], [undefined, "hybrid", SECRET])
    const asked = requests
      .slice(from)
      .map(({ method, path }) => `${method} ${path.replace("/collections/reverie", "")}`)
    assert.deepStrictEqual(asked, ["POST /points", "POST /points/query/batch", "POST /points/query/batch"])
    await fleet.close()
    await close()
    assert.deepStrictEqual(faults, [])
  })

  it.live("R2 a server that is down costs depth and says so; nothing is lost, and everything is there later", () =>
    Effect.gen(function* () {
      const { decide, faults, url } = yield* server()
      const data = aDirectory()
      decide(() => "no-answer")
      const fleet = yield* Effect.promise(() => openFleet({ data, recall: { url }, says: [{ text: "Noted." }] }))
      yield* Effect.promise(async () => {
        await fleet.send("desk", SECRET, { from: "Ann" })
        await fleet.idle()
        const poorer = await fleet.memory.recall("desk", QUESTION)
        assert.include(poorer.degraded, "does not answer")
        assert.strictEqual(poorer.hits[0]?.entry.text, SECRET)
        decide(() => undefined)
        const whole = await fleet.memory.recall("desk", QUESTION)
        assert.isUndefined(whole.degraded)
        assert.strictEqual(whole.hits[0]?.entry.text, SECRET)
        await fleet.close()
      })
      assert.deepStrictEqual(faults, [])
    })
  )
})

const postgres = sharePostgres({ fsync: false })

postgres.describe("a deployment", () => {
  const deployed = (env: Readonly<Record<string, string>>, choice?: RecallChoice) =>
    Effect.serviceOption(Recall).pipe(
      Effect.flatMap(positionOf),
      Effect.provide(
        Layer.provide(
          deployedRecallLayer({ database: postgres.server().url, name: "harbour" }, choice),
          ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
        )
      )
    )
  const schemas = Effect.map(
    Effect.promise(() =>
      postgresSays(postgres.server().url, "select nspname from pg_namespace where nspname like 'harbour%'")
    ),
    (rows) => rows.flat()
  )

  it.live("R3 a Qdrant that is named is its index; without one its own database is, and when that is asked for", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server()
      assert.strictEqual(yield* deployed({ QDRANT_URL: url }), 0)
      assert.isNotEmpty(requests)
      assert.deepStrictEqual(yield* schemas, [])
      assert.strictEqual(yield* deployed({ QDRANT_URL: "http://127.0.0.1:1" }, "embedded"), 0)
      assert.deepStrictEqual(yield* schemas, ["harbour_recall"])
      assert.strictEqual(yield* deployed({}), 0)
    })
  )
})
