// RecallVectors: an embedder behind an address, and an index on PostgreSQL, for the benchmark of recall.
// Owns asking it, every text once, and waiting until the index misses no vector. Leaves the score to recall.ts.

import { Recall } from "@reverie/memory"
import { type Embedder, ModelUnavailable, type Vector } from "@reverie/model"
import { recallPostgresLayer } from "@reverie/recall-postgres"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { startPostgres } from "@reverie/testkit/servers"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"

/** Texts of one request. */
const BATCH = 64

const vectorsIn = (answer: unknown): ReadonlyArray<Vector> => {
  const { data } = answer as { readonly data: ReadonlyArray<{ readonly index: number; readonly embedding: Vector }> }
  return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding)
}

const asked = async (url: string, input: ReadonlyArray<string>): Promise<ReadonlyArray<Vector>> => {
  const answer = await fetch(`${url.replace(/\/+$/, "")}/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", input })
  })
  if (!answer.ok) throw new Error(`${answer.status} of the embedder: ${(await answer.text()).slice(0, 200)}`)
  return vectorsIn(await answer.json())
}

/** The embedder at an address as OpenAI's (`http://127.0.0.1:8099/v1`). */
export const embedderAt = async (url: string): Promise<Embedder["Service"]> => {
  const [first] = await asked(url, ["the tide"])
  const known = new Map<string, Vector>()
  const learn = async (texts: ReadonlyArray<string>): Promise<ReadonlyArray<Vector>> => {
    const news = [...new Set(texts)].filter((text) => !known.has(text))
    for (let from = 0; from < news.length; from += BATCH) {
      const some = news.slice(from, from + BATCH)
      for (const [at, vector] of (await asked(url, some)).entries()) known.set(some[at] ?? "", vector)
    }
    return texts.map((text) => known.get(text) ?? [])
  }
  return {
    model: { id: "bench", dimensions: first?.length ?? 0 },
    embed: (texts) =>
      Effect.tryPromise({
        try: () => learn(texts),
        catch: (cause) => new ModelUnavailable({ provider: "bench", kind: "network", message: String(cause), cause })
      })
  }
}

/** Fills in whatever vectors the index in a directory misses, and answers how many. */
export const fillVectors = (directory: string, { embed, model }: Embedder["Service"]): Promise<number> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const recall = yield* Recall
      yield* recall.prepareVectors(model)
      for (let filled = 0; ;) {
        const missing = yield* recall.missingVectors(model.id, BATCH)
        if (missing.length === 0) return filled
        const vectors = yield* embed(missing.map(({ text }) => text))
        yield* recall.putVectors(
          model.id,
          missing.map(({ address, id }, at) => ({ address, id, vector: vectors[at] ?? [] }))
        )
        filled += missing.length
      }
    }).pipe(Effect.provide(recallSqliteLayer(directory)), Effect.scoped)
  )

/** An index on a PostgreSQL of its own, for as long as something is asked of it. */
export const withPostgresIndex = async <A>(use: (recall: Recall["Service"]) => Promise<A>): Promise<A> => {
  const server = await startPostgres()
  const runtime = ManagedRuntime.make(recallPostgresLayer({ url: Redacted.make(server.url), schema: "bench_recall" }))
  try {
    return await use(await runtime.runPromise(Recall))
  } finally {
    await runtime.dispose()
    await server.stop()
  }
}
