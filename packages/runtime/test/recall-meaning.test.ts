import { assert, it } from "@effect/vitest"
import { ModelRefused } from "@reverie/model"
import { hashedEmbedder, memoryRecall, RecallDisk } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { recallFor } from "../src/index.ts"
import { type Life, live } from "./rig.ts"

it("V4 the embedder is asked what a question means, without the names of those who speak", () => {
  const { calls, embedder } = hashedEmbedder()
  const life = live({ recall: memoryRecall(), embedder, model: { text: "Noted." } })
  life.say("The spare key of the boathouse hangs behind the blue barrel.", { from: "Ann" })
  life.rest()
  life.pass(20_000)
  const ask = (question: string, options: Parameters<typeof recallFor>[2] = {}) =>
    life.run(Effect.provide(recallFor(life.address(), question, options), life.services()))
  const embedded = (question: string) => {
    ask(question)
    return calls.at(-1)
  }
  assert.deepStrictEqual(embedded("Where did Ann's friend put the spare key of Bob, ANN?"), [
    "Where did friend put the spare key of Bob, ?"
  ])
  assert.deepStrictEqual(embedded("Who is Ann?"), ["Who is Ann?"])
  const before = calls.length
  ask("Where is Ann's key?", { mode: "fts" })
  assert.lengthOf(calls, before)
})

it("Q6 a question is asked again in related words, of the index and of the store", () => {
  for (const options of [{ recall: memoryRecall() }, {}]) {
    const life = live({ model: { text: "Noted." }, ...options })
    life.say("A puppy has moved in with us, and it barks.", { from: "Ann" })
    life.rest()
    life.say("The ferry was late and the gulls were loud.", { from: "Bob" })
    life.rest()
    life.pass(20_000)
    const [first] = life.run(Effect.provide(recallFor(life.address(), "Which pets are there?"), life.services())).hits
    assert.include(first?.entry.text ?? "", "puppy")
    assert.include(first?.why.boosts ?? [], "related")
  }
})

it("V5 a text that the embedder refuses keeps no other from being embedded, and answers say so", () => {
  const { embedder } = hashedEmbedder()
  const embed: typeof embedder.embed = (texts) =>
    texts.some((text) => text.includes("stone"))
      ? Effect.fail(new ModelRefused({ provider: "scripted", kind: "bad-request", message: "not this" }))
      : embedder.embed(texts)
  const recall = memoryRecall()
  const life = live({ recall, embedder: { ...embedder, embed }, model: { text: "Noted." } })
  for (const thing of ["lamp", "stone", "boat", "gull", "crane"])
    life.say(`The ${thing} is at the quay.`, { from: "Ann" })
  life.rest()
  life.pass(20_000)
  const asked = life.run(
    Effect.provide(recallFor(life.address(), "Where is the boat?", { mode: "vector" }), life.services())
  )
  const texts = asked.hits.map(({ entry }) => entry.text)
  for (const thing of ["lamp", "boat", "gull", "crane"]) assert.include(texts, `The ${thing} is at the quay.`)
  assert.strictEqual(asked.degraded, "the embedder refuses 1 of the memories: they are found by words alone")
})

it("V6 where an embedder has no vectors yet, or the index those of another one, answers say that words alone were searched for", () => {
  const disk = new RecallDisk()
  const opened = (bits: number, more: Pick<Parameters<typeof live>[0] & object, "disk" | "startAt"> = {}) =>
    live({ recall: memoryRecall(disk), embedder: hashedEmbedder(bits).embedder, model: { text: "Noted." }, ...more })
  const ask = (life: Life, mode: "fts" | "hybrid" | "vector") => {
    const asked = recallFor(life.address(), "Where is the boat?", { mode })
    const { degraded, mode: searched } = life.run(Effect.provide(asked, life.services()))
    return [searched, degraded]
  }
  const first = opened(32)
  first.say("The boat is at the quay.", { from: "Ann" })
  first.rest()
  const none = "no memory is embedded yet: only words were searched for"
  assert.deepStrictEqual(ask(first, "hybrid"), ["fts", none])
  assert.deepStrictEqual(ask(first, "vector"), ["fts", none])
  assert.deepStrictEqual(ask(first, "fts"), ["fts", undefined])
  first.pass(20_000)
  assert.deepStrictEqual(ask(first, "hybrid"), ["hybrid", undefined])
  const second = opened(64, { disk: first.disk, startAt: first.time.now })
  const others = "the memories are embedded by another model, and not by this one yet: only words were searched for"
  assert.deepStrictEqual(ask(second, "hybrid"), ["fts", others])
  second.say("Good morning.", { id: "morning" })
  second.rest()
  second.pass(20_000)
  assert.deepStrictEqual(ask(second, "hybrid"), ["hybrid", undefined])
})
