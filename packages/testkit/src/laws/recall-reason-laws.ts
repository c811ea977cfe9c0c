// Recall reason laws: what a hit says of itself (recall I4), and of a question in two rounds (I9).

import * as assert from "node:assert/strict"
import { inRounds, Recall } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { LAW_START_MILLIS, type Law } from "../law.ts"
import {
  ada,
  aMemory,
  aMessageAt,
  apply,
  ask,
  asking,
  attaching,
  LONG_AGO_MILLIS,
  putting,
  remember
} from "./recall-steps.ts"
import { hostileTexts } from "./steps.ts"

const tide = aMemory("tide", "The tides were rising at the quay.")
const berth = aMemory("berth", "The third berth is free, says the harbour master.")
const DAY_MILLIS = 86_400_000

export const recallReasonLaws: ReadonlyArray<Law<Recall>> = [
  {
    id: "I4.terms",
    says: "a hit names the words of the question that it contains, as they stand there, its place and its score",
    check: Effect.gen(function* () {
      yield* remember(ada, tide, berth, aMemory("around", "a long day", { context: "the rising tide" }))
      const hits = yield* ask(ada, "When was the Tide RISING at the 3rd berth?")
      const why = new Map(hits.map((hit) => [hit.entry.id, hit.why]))
      assert.deepEqual(why.get("p/tide")?.terms, ["Tide", "RISING"])
      assert.deepEqual(why.get("p/berth")?.terms, ["berth"])
      assert.deepEqual(why.get("p/around")?.terms, [])
      assert.deepEqual(new Set(hits.map((hit) => hit.why.lexical?.rank)), new Set([1, 2, 3]))
      for (const hit of hits) assert.ok((hit.why.lexical?.score ?? 0) > 0 && hit.why.vector === undefined)
    })
  },
  {
    id: "I4.facts",
    says: "a hit names the attached facts that contain words of the question, and no others",
    check: Effect.gen(function* () {
      yield* apply(ada, [
        putting(tide),
        attaching(tide, "f1", "Kim owns a red lantern"),
        attaching(tide, "f2", "Lee owns a boat"),
        attaching(tide, "f3", "Ana lit the lantern")
      ])
      const [hit] = yield* ask(ada, "Whose lantern is at the quay?")
      assert.deepEqual(hit?.why.facts.toSorted(), ["f1", "f3"])
      assert.deepEqual(hit?.why.terms, ["lantern", "quay"])
    })
  },
  {
    id: "I4.boosts",
    says: "a hit names what moved it besides its words: that it is recent, important, by whom, beside what",
    check: Effect.gen(function* () {
      const now = LAW_START_MILLIS
      yield* remember(
        ada,
        aMessageAt(2, "Kim", "I lit the lantern."),
        aMessageAt(4, "Lee", "The lantern went out."),
        aMessageAt(400, "Lee", "Another lantern."),
        aMemory("new", "a lantern", { at: now - DAY_MILLIS }),
        aMemory("grave", "a lantern", { importance: 9 })
      )
      const boosts = new Map(
        (yield* ask(ada, "Who lit Kim's lantern?")).map(({ entry, why }) => [entry.id, why.boosts])
      )
      assert.deepEqual(Object.fromEntries(boosts), {
        "m/2/0": ["speaker", "neighbour"],
        "m/4/0": ["neighbour"],
        "m/400/0": [],
        "p/new": ["recent"],
        "p/grave": ["important"]
      })
    })
  },
  {
    id: "I4.exact",
    says: "a hit is the entry exactly as it was put, without its context, whatever is in it",
    check: Effect.gen(function* () {
      for (const [index, text] of hostileTexts.entries()) {
        const entry = aMessageAt(index, `speaker ${text}`, `lantern ${text}`, {
          context: text,
          entities: [text],
          tags: [text, "log"],
          trust: 0.123456789,
          importance: 2.5,
          at: LONG_AGO_MILLIS + 0.25 + index,
          thread: `thread ${text}`,
          readers: index % 2 === 0 ? "fleet" : [ada.assistant]
        })
        yield* remember(ada, entry)
        const { context: _, ...expected } = entry
        const [hit] = yield* ask(ada, "lantern", { thread: `thread ${text}` })
        assert.deepEqual(hit?.entry, expected)
        assert.equal(hit.owner, ada.assistant)
      }
    })
  },
  {
    id: "I9.rounds",
    says: "where an index answers both rounds of a question, it is what two searches come to, and as sure of it",
    check: Effect.gen(function* () {
      yield* remember(
        ada,
        tide,
        aMemory("kim", "Kim went to the hospital with a nurse."),
        aMemory("lee", "Lee asked the doctor about the tide."),
        ...Array.from({ length: 40 }, (_, index) => aMemory(`day ${index}`, `The ${index}th day at the quay.`))
      )
      const recall = yield* Recall
      for (const text of [
        "Who saw a doctor?",
        "When was the tide rising?",
        "What happened on the 7th day?",
        "",
        "zz"
      ]) {
        const query = asking(text, { limit: 5 })
        const wanted = yield* inRounds(query, (each) => recall.search(ada, each))
        assert.deepEqual(yield* recall.searchInRounds?.(ada, query) ?? Effect.succeed(wanted), wanted)
      }
    })
  }
]
