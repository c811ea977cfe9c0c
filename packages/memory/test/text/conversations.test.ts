import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { INDEX_START, type MemoryEntry, messageId, Recall } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { amidst, memoryRecallLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"

// Real conversations stand beside the checkout, never in it. Without them this file says so and runs nothing.
const directory = resolve(import.meta.dirname, "../../../../../shared/data/locomo-dev")
const names = (existsSync(directory) ? readdirSync(directory) : []).flatMap((name) =>
  name.endsWith(".questions.jsonl") ? [name.slice(0, -".questions.jsonl".length)] : []
)
const isHere = names.length > 0
if (!isHere) console.warn(`real conversations are not at ${directory}: nothing of this file runs`)

interface Turn {
  readonly id: string
  readonly at: string
  readonly from: string
  readonly text: string
  readonly image?: string
}

interface Question {
  readonly question: string
  readonly evidence: ReadonlyArray<string>
}

const linesOf = (name: string): ReadonlyArray<unknown> =>
  readFileSync(join(directory, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))

const entryOf = ({ at, from, image, text }: Turn, no: number): MemoryEntry => ({
  id: messageId({ no, index: 0 }),
  kind: "message",
  at: Date.parse(at),
  text: image === undefined ? text : `${text} [image: ${image}]`,
  speaker: from,
  entities: [],
  tags: [],
  trust: 1,
  importance: 5,
  readers: "owner"
})

/** The share of the evidence among the first hits, for every question that has evidence. */
const sharesOf = (name: string, depths: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const recall = yield* Recall
    const address = { tenant: TenantId.make("harbor"), assistant: AssistantId.make(name) }
    const turns = linesOf(`${name}.jsonl`) as ReadonlyArray<Turn>
    const said = turns.map(entryOf)
    const changes = said.map((_, place) => ({ type: "put" as const, entry: amidst(said, place) }))
    yield* recall.apply(address, changes, { from: INDEX_START, to: { no: turns.length, digest: "the last" } })
    const now = (said.at(-1)?.at ?? 0) + 86_400_000
    const asked = linesOf(`${name}.questions.jsonl`) as ReadonlyArray<Question>
    const questions = asked.filter(({ evidence }) => evidence.length > 0)
    return yield* Effect.forEach(questions, ({ evidence, question }) =>
      Effect.map(
        recall.search(address, { text: question, search: "fts", scope: "own", limit: Math.max(...depths), now }),
        (hits) => {
          const found = hits.map(({ entry }) => turns[said.findIndex(({ id }) => id === entry.id)]?.id)
          return depths.map(
            (depth) => evidence.filter((id) => found.slice(0, depth).includes(id)).length / evidence.length
          )
        }
      )
    )
  })

describe.runIf(isHere)("real conversations", () => {
  it.effect("I3 lexical recall@5, @10 and @25 of evidence is at least 0.70, 0.79 and 0.87", () =>
    Effect.gen(function* () {
      const shares = (yield* Effect.forEach(names, (name) => sharesOf(name, [5, 10, 25]))).flat()
      const [at5 = 0, at10 = 0, at25 = 0] = [0, 1, 2].map(
        (depth) => shares.reduce((sum, share) => sum + (share[depth] ?? 0), 0) / shares.length
      )
      assert.isAtLeast(at5, 0.7)
      assert.isAtLeast(at10, 0.79)
      assert.isAtLeast(at25, 0.87)
    }).pipe(Effect.provide(memoryRecallLayer()))
  )
})
