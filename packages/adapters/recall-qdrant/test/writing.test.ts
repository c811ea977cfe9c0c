import { assert, it } from "@effect/vitest"
import { INDEX_START, type IndexChange, Recall } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import type { QdrantServer } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import { applied, at, begin, lines, put, recallOn, textsFound, withServer } from "./bench.ts"

const ada = anAddress("ada")
const bob = anAddress("bob")
const north = { id: "north", dimensions: 2 }

const apply = (changes: ReadonlyArray<IndexChange>, no: number) => applied(ada, changes, no)

const attach = (of: string, fact: string, text: string | null): IndexChange => ({ type: "fact", of, fact, text })

/** What a server was told to change, operation by operation. */
const operations = ({ requests }: QdrantServer, from: number): ReadonlyArray<string> =>
  requests
    .slice(from)
    .flatMap(({ body }) => (body as { operations?: ReadonlyArray<object> }).operations ?? [])
    .flatMap(Object.keys)

it.effect("W1 the position is the last thing that is written", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        yield* apply(
          Array.from({ length: 250 }, (_, n) => put(`m/${n}/0`, `tide ${n}`)),
          250
        )
        const written = server.requests.filter(({ path }) => path.endsWith("/points/batch"))
        assert.strictEqual(written.length, 3)
        const positions = written.map(({ body }) => JSON.stringify(body).includes('"position"'))
        assert.deepStrictEqual(positions, [false, false, true])
        assert.match(
          JSON.stringify(written[2]?.body),
          /"position":250,"digest":"entry 250"}}],"update_mode":"insert_only"}}]}$/
        )
        assert.isTrue(written.every(({ query }) => query.get("wait") === "true" && query.get("ordering") === "strong"))
      })
    )
  )
)

it.effect("W1 a write that breaks off anywhere, its answer lost or not, is done again to the same end", () =>
  withServer((server) =>
    Effect.gen(function* () {
      const day = [
        ...Array.from({ length: 150 }, (_, n) => put(`m/${n}/0`, `tide ${n}`)),
        attach("m/1/0", "f1", "Kim owns a lantern"),
        attach("m/140/0", "f2", "Lee owns a lantern"),
        { type: "remove", id: "m/3/0" } as const
      ]
      const state = Effect.gen(function* () {
        const recall = yield* Recall
        const found = yield* textsFound(ada, "lantern")
        return [yield* recall.count(ada), (yield* recall.position(ada)).no, found.toSorted()]
      })
      for (const fate of ["no-answer", { after: "no-answer" }] as const) {
        for (const fuse of [1, 2, 3, 4]) {
          const options = { collection: `c-${fuse}-${typeof fate}` }
          yield* recallOn(
            server,
            Recall.use((recall) => recall.position(ada)),
            options
          )
          let served = 0
          server.decide(() => (++served < fuse ? undefined : fate))
          const exit = yield* Effect.exit(recallOn(server, apply(day, 9), options))
          assert.strictEqual(exit._tag, "Failure")
          server.decide(() => undefined)
          yield* recallOn(server, apply(day, 9), options)
          assert.deepStrictEqual(yield* recallOn(server, state, options), [149, 9, ["tide 1", "tide 140"]])
        }
      }
    })
  )
)

it.effect("W4 anyone who was erased or overtaken by another process moves no position, and learns so", () =>
  withServer((server) =>
    Effect.gen(function* () {
      const others = {
        erased: Recall.use((recall) => recall.erase(ada)),
        overtaken: apply([put("m/3/0", "the third berth")], 3)
      }
      for (const [name, other] of Object.entries(others)) {
        for (const from of [0, 1]) {
          const options = { collection: `${name}-${from}` }
          const elsewhere = <A, E>(effect: Effect.Effect<A, E, Recall>) => recallOn(server, effect, options)
          if (from === 1) yield* elsewhere(apply([put("m/1/0", "the tide is high")], 1))
          else yield* elsewhere(Recall.use((recall) => recall.position(ada)))
          let isOver = false
          // The other one comes between the reading of the position and its writing.
          server.decide(({ path }) => {
            if (isOver || !path.endsWith("/points/batch")) return undefined
            isOver = true
            return { before: () => Effect.runPromise(elsewhere(other)) }
          })
          const span = from === 0 ? begin(2) : { from: at(1), to: at(2) }
          const stands = yield* elsewhere(
            Recall.use((recall) => recall.apply(ada, [put("m/2/0", "the ebb is low")], span))
          )
          server.decide(() => undefined)
          assert.isTrue(isOver)
          const there = yield* elsewhere(Recall.use((recall) => recall.position(ada)))
          assert.deepStrictEqual(stands, there)
          assert.strictEqual(there.no, name === "overtaken" ? 3 : from === 0 ? 2 : 0, `${name} from ${from}`)
        }
      }
    })
  )
)

it.effect("W5 points that were written after another process began the index anew do not stay", () =>
  withServer((server) =>
    Effect.gen(function* () {
      const stand = (no: number, beginning: string) => ({ no, digest: `${beginning}.entry ${no}` })
      const anew = Recall.use((recall) =>
        Effect.andThen(
          recall.erase(ada),
          recall.apply(ada, [put("m/1/0", "the tide is high")], { from: INDEX_START, to: stand(1, "b") })
        )
      )
      for (const other of [anew, Recall.use((recall) => recall.erase(ada))]) {
        yield* recallOn(
          server,
          Recall.use((recall) =>
            recall.apply(ada, [put("m/1/0", "the tide is high")], { from: INDEX_START, to: stand(1, "a") })
          )
        )
        let isOver = false
        server.decide(({ path }) => {
          if (isOver || !path.endsWith("/points/batch")) return undefined
          isOver = true
          return { before: () => Effect.runPromise(recallOn(server, other)) }
        })
        const span = { from: stand(1, "a"), to: stand(2, "a") }
        const late = Recall.use((recall) => recall.apply(ada, [put("m/2/0", "a secret lantern")], span))
        assert.notDeepEqual(yield* recallOn(server, late), span.to)
        server.decide(() => undefined)
        assert.isTrue(isOver)
        assert.deepStrictEqual(yield* recallOn(server, textsFound(ada, "lantern")), [])
        yield* recallOn(
          server,
          Recall.use((recall) => recall.erase(ada))
        )
      }
    })
  )
)

it.effect("W2 a change that leaves the text leaves the vectors too", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        yield* recall.prepareVectors(north)
        yield* apply([put("m/1/0", "the tide is high"), put("m/2/0", "the ebb is low")], 1)
        yield* recall.putVectors(
          north.id,
          ["m/1/0", "m/2/0"].map((id) => ({ address: ada, id, vector: [1, 0] }))
        )
        const from = server.requests.length
        yield* apply([put("m/1/0", "the tide is high", { context: "a berth" }), attach("m/2/0", "f", "a lantern")], 2)
        assert.deepStrictEqual(operations(server, from), [
          "update_vectors",
          "overwrite_payload",
          "update_vectors",
          "overwrite_payload",
          "upsert"
        ])
        assert.deepStrictEqual(yield* recall.missingVectors(north.id, 10), [])
        assert.deepStrictEqual(yield* textsFound(ada, "lantern"), ["the ebb is low"])
        yield* apply([put("m/1/0", "the tide was high")], 3)
        assert.deepStrictEqual(
          (yield* recall.missingVectors(north.id, 10)).map(({ id }) => id),
          ["m/1/0"]
        )
      })
    )
  )
)

it.effect("W3 what is as it was is not written, in whatever order its fields come", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const full = put("m/1/0", "the tide \ud800 is high", {
          speaker: "Kim",
          thread: "t",
          context: "a berth",
          readers: [bob.assistant],
          entities: ["Kim"],
          tags: ["sea"]
        })
        yield* apply([full, attach("m/1/0", "f", "a lantern")], 1)
        const from = server.requests.length
        const reversed = Object.fromEntries(Object.entries(full.entry).toReversed()) as unknown as typeof full.entry
        yield* apply([{ type: "put", entry: reversed }, attach("m/1/0", "f", "a lantern")], 2)
        assert.deepStrictEqual(operations(server, from), ["upsert"])
        assert.deepStrictEqual(lines(server, from), ["POST points", "POST points", "POST points/batch", "POST points"])
      })
    )
  )
)

it.effect("W1 requests stay far below what the server takes, however long the texts are", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const long = "tide ".repeat(200_000)
        yield* apply(
          Array.from({ length: 5 }, (_, n) => put(`m/${n}/0`, long)),
          1
        )
        const sizes = server.requests.map(({ body }) => JSON.stringify(body)?.length ?? 0)
        assert.isBelow(Math.max(...sizes), 4_000_000)
        assert.strictEqual(yield* Recall.use((recall) => recall.count(ada)), 5)
      })
    )
  )
)

it.effect("R1 facts that are attached at the same time are all kept", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        yield* apply([put("m/1/0", "the tide is high")], 1)
        yield* Effect.all(
          Array.from({ length: 20 }, (_, n) => apply([attach("m/1/0", `f${n}`, `lantern number${n}`)], 1)),
          { concurrency: "unbounded" }
        )
        const [hit] = yield* Recall.use((recall) =>
          recall.search(ada, { text: "lantern", search: "fts", scope: "own", limit: 1, now: 0 })
        )
        assert.strictEqual(hit?.why.facts.length, 20)
      })
    )
  )
)

it.effect("M2 vectors of entries that are gone are passed over, those of the others are kept", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        yield* recall.prepareVectors(north)
        yield* apply([put("m/1/0", "the tide is high"), put("m/2/0", "the ebb is low")], 1)
        yield* apply([{ type: "remove", id: "m/2/0" }], 2)
        const vectors = ["m/1/0", "m/2/0", "m/3/0"].map((id) => ({ address: ada, id, vector: [0, 1] }))
        yield* recall.putVectors(north.id, vectors)
        assert.deepStrictEqual(yield* recall.missingVectors(north.id, 10), [])
        assert.strictEqual(yield* recall.count(ada), 1)
      })
    )
  )
)
