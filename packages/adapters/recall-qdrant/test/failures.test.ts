import { assert, it } from "@effect/vitest"
import { createServer } from "node:net"
import { Recall, type RecallUnavailable } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import { type QdrantMode, qdrantModes, type QdrantServer } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { asking, at, begin, NOW, put, recallOn, textsFound, withServer } from "./bench.ts"

const ada = anAddress("ada")
const north = { id: "north", dimensions: 2 }

/** Every operation of the port. */
const operations = Recall.use((recall) =>
  Effect.succeed({
    apply: recall.apply(ada, [put("m/1/0", "a tide")], { from: at(1), to: at(2) }),
    position: recall.position(ada),
    search: recall.search(ada, asking("tide")),
    count: recall.count(ada),
    erase: recall.erase(ada),
    vectorModels: recall.vectorModels,
    prepareVectors: recall.prepareVectors({ id: "south", dimensions: 3 }),
    missingVectors: recall.missingVectors(north.id, 10),
    putVectors: recall.putVectors(north.id, [{ address: ada, id: "m/0/0", vector: [1, 0] }])
  })
)

/** The failures of every operation on a server with one entry, which misbehaves from then on. */
const failuresOn = (server: QdrantServer, mode: QdrantMode) =>
  recallOn(
    server,
    Effect.gen(function* () {
      const recall = yield* Recall
      yield* recall.apply(ada, [put("m/0/0", "the tide is high")], begin(1))
      yield* recall.prepareVectors(north)
      server.decide(() => mode)
      // What was read of the vector models a moment ago is still known then.
      yield* TestClock.adjust(5_000)
      const failures: Array<RecallUnavailable> = []
      for (const [name, operation] of Object.entries(yield* operations)) {
        const error = yield* Effect.flip(operation)
        assert.strictEqual(error._tag, "RecallUnavailable", `${name}: ${error.message}`)
        if (error._tag === "RecallUnavailable") failures.push(error)
      }
      server.decide(() => undefined)
      assert.deepStrictEqual(yield* textsFound(ada, "tide"), ["the tide is high"])
      return failures
    }),
    { timeoutMs: mode.startsWith("hang") ? 250 : 5_000 }
  )

const sentences: Readonly<Record<QdrantMode, RegExp>> = {
  "internal-error": /refused the request \(500: Service internal error: the disk is on fire\)$/,
  "too-many-requests": /is busy and wants to be left alone for a while \(429\)$/,
  "too-many-until": /is busy and wants to be left alone for a while \(429\)$/,
  forbidden: /does not let us in \(403: Forbidden: .*\); check the API key$/,
  hang: /did not answer within 250 ms$/,
  "hang-in-body": /did not answer within 250 ms$/,
  "cut-body": /can not be reached, or broke off \(.+\)$/,
  "no-answer": /can not be reached, or broke off \(.+\)$/,
  "not-json": /did not answer as it should \(.+\)$/,
  "no-result": /did not answer as it should \(.+\)$/,
  "strange-result": /did not answer as it should \(.+\)$/
}

it.effect.each(Object.keys(qdrantModes) as ReadonlyArray<QdrantMode>)(
  "failure I1 I2 every operation says in one line that recall is not there: %s",
  (mode) =>
    withServer((server) =>
      Effect.gen(function* () {
        for (const { message, operation, recovery } of yield* failuresOn(server, mode)) {
          assert.match(message, sentences[mode])
          assert.isTrue(message.startsWith(`${operation}: Qdrant at ${server.url} `), message)
          assert.notInclude(message, "\n")
          assert.strictEqual(recovery, "retry")
        }
      })
    )
)

it.effect(
  "R2 a server that is not there fails every operation and costs nothing before; when it comes, all is well",
  () =>
    withServer((server) =>
      recallOn(
        server,
        Effect.gen(function* () {
          server.decide(() => "no-answer")
          assert.strictEqual(server.requests.length, 0)
          const error = yield* Effect.flip(Recall.use((recall) => recall.position(ada)))
          assert.match(error.message, /can not be reached/)
          server.decide(() => undefined)
          assert.strictEqual((yield* Recall.use((recall) => recall.position(ada))).no, 0)
        })
      )
    )
)

/** A port of the loopback on which no one listens. */
const freePort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const probe = createServer().listen(0, "127.0.0.1", () => {
        const address = probe.address()
        probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
      })
    })
)

it.effect("failure I1 a refused connection is reported with its reason", () =>
  Effect.gen(function* () {
    const url = `http://127.0.0.1:${yield* freePort}`
    const server = { url } as QdrantServer
    const error = yield* Effect.flip(recallOn(server, textsFound(ada, "tide")))
    assert.match(error.message, /^open: Qdrant at http:\S+ can not be reached, or broke off \(.*ECONNREFUSED.*\)$/)
  })
)

it.effect("failure I1 an address that is none is reported as such", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(recallOn({ url: "qdrant, please" } as QdrantServer, textsFound(ada, "tide")))
    assert.match(error.message, /Invalid URL/)
  })
)

it.effect("the key is sent with every request, is shown to no one, and a wrong one is reported as such", () =>
  withServer(
    (server) =>
      Effect.gen(function* () {
        const apiKey = "the-right-key"
        yield* recallOn(
          server,
          Recall.use((recall) => recall.apply(ada, [put("m/1/0", "tide", { at: NOW })], begin(1))),
          { apiKey }
        )
        assert.isTrue(server.requests.every(({ headers }) => headers["api-key"] === apiKey))
        const error = yield* Effect.flip(recallOn(server, textsFound(ada, "tide"), { apiKey: "the-wrong-key" }))
        assert.match(error.message, /does not let us in \(401: .*\); check the API key$/)
        assert.notInclude(JSON.stringify(error), "the-wrong-key")
      }),
    { apiKey: "the-right-key" }
  )
)
