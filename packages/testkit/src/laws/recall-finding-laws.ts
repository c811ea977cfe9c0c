// Recall laws of finding: what is found, in which order (I3), and why (I4).

import * as assert from "node:assert/strict"
import { INDEX_START, type MemoryEntry, type MemoryKind, Recall, type RecallQuery } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { LAW_START_MILLIS, type Law } from "../law.ts"
import { memoryRecall } from "../memory-recall.ts"
import { fateOf } from "../world/fate.ts"
import { aConversation, amidst, aQuestion, vocabularyOf } from "./recall-corpus.ts"
import {
  ada,
  aMemory,
  aMessageAt,
  apply,
  ask,
  asking,
  at,
  attaching,
  found,
  idsOf,
  LONG_AGO_MILLIS,
  putting,
  remember
} from "./recall-steps.ts"
import { hostileTexts } from "./steps.ts"

const tide = aMemory("tide", "The tides were rising at the quay.")
const berth = aMemory("berth", "The third berth is free, says the harbour master.")
const DAY_MILLIS = 86_400_000

const words: ReadonlyArray<Law<Recall>> = [
  {
    id: "I3.words",
    says: "an entry is found by its words whatever their case, form and accents, in whatever script",
    check: Effect.gen(function* () {
      const texts = {
        english: "They went swimming in the bays.",
        accents: "Ein Café in Malmö, naïvely crêpes.",
        greek: "Η ΘΆΛΑΣΣΑ ήταν ήρεμη.",
        chinese: "昨天我们去了东京铁塔。",
        korean: "부산항에 배가 들어왔다",
        number: "Berth 4711 is taken."
      }
      for (const [key, text] of Object.entries(texts)) yield* remember(ada, aMemory(key, text))
      const questions = {
        english: "SWIM bay",
        accents: "cafe malmo",
        greek: "θαλασσα",
        chinese: "东京",
        korean: "부산항",
        number: "what about 4711?"
      }
      for (const [key, question] of Object.entries(questions))
        assert.deepEqual(yield* found(ada, question), [`p/${key}`])
      assert.deepEqual(yield* found(ada, "went"), yield* found(ada, "go"))
    })
  },
  {
    id: "I3.said",
    says: "an entry is found by who said it, by the day in words, and by what it is about",
    check: Effect.gen(function* () {
      const at = Date.UTC(2023, 4, 8, 13)
      yield* remember(
        ada,
        aMessageAt(2, "Caroline", "All is well.", { at }),
        aMemory("about", "All is well.", { entities: ["Melanie"], tags: ["weather"] })
      )
      assert.deepEqual(yield* found(ada, "Caroline"), ["m/2/0"])
      assert.equal((yield* found(ada, "What happened on 8 May 2023?"))[0], "m/2/0")
      assert.deepEqual(yield* found(ada, "Melanie"), ["p/about"])
      assert.deepEqual(yield* found(ada, "the weather"), ["p/about"])
    })
  },
  {
    id: "I3.context",
    says: "what was said around an entry finds it, behind an entry that says it itself",
    check: Effect.gen(function* () {
      yield* remember(
        ada,
        aMemory("around", "It was a long day for everybody.", { context: "A storm came up from the south." }),
        aMemory("itself", "A storm came up from the south."),
        aMemory("else", "Nothing else was on.")
      )
      assert.deepEqual(yield* found(ada, "storm"), ["p/itself", "p/around"])
    })
  },
  {
    id: "I3.rare",
    says: "a rare word of the question counts more than one that is in many entries",
    check: Effect.gen(function* () {
      const many = Array.from({ length: 12 }, (_, index) => aMemory(`ship${index}`, `ship number ${index} at sea`))
      yield* remember(ada, ...many, aMemory("windlass", "an anchor was lost there"))
      assert.equal((yield* found(ada, "ship anchor"))[0], "p/windlass")
    })
  },
  {
    id: "I3.recent",
    says: "of two entries alike the newer and the more important comes first, but words count more than either",
    check: Effect.gen(function* () {
      const now = LAW_START_MILLIS
      const pair = (key: string, text: string, request: Partial<MemoryEntry>) =>
        aMemory(key, text, { at: now, ...request })
      yield* remember(
        ada,
        pair("old", "the lantern on the quay", { at: now - 100 * DAY_MILLIS }),
        pair("new", "the lantern on the quay", { at: now - DAY_MILLIS }),
        pair("plain", "the captain of the boat", { importance: 1 }),
        pair("weighty", "the captain of the boat", { importance: 9 }),
        pair("said", "an anchor and a rope and a flag", { at: now - 900 * DAY_MILLIS }),
        pair("hinted", "an anchor of some other kind", { importance: 10 })
      )
      assert.deepEqual(yield* found(ada, "lantern quay"), ["p/new", "p/old"])
      assert.deepEqual(yield* found(ada, "captain boat"), ["p/weighty", "p/plain"])
      assert.deepEqual(yield* found(ada, "anchor rope flag"), ["p/said", "p/hinted"])
    })
  },
  {
    id: "I3.reply",
    says: "what replies to a question that has the words stands before it, and before what says some of them",
    check: Effect.gen(function* () {
      const said = [
        aMessageAt(2, "Kim", "The ferry was late again."),
        aMessageAt(4, "Kim", "Where do you keep the storm lantern?"),
        aMessageAt(6, "Lee", "In the loft behind the nets."),
        aMessageAt(400, "Kim", "The storm was loud and long, and I lost a lantern of mine on the way home that night."),
        aMessageAt(402, "Lee", "Good night.")
      ]
      yield* remember(ada, ...said.map((_, place) => amidst(said, place)))
      assert.equal((yield* found(ada, "Where is the storm lantern kept?"))[0], "m/6/0")
    })
  },
  {
    id: "I3.limit",
    says: "the best come first, never more than asked for, and at least one",
    check: Effect.gen(function* () {
      const many = Array.from({ length: 90 }, (_, index) =>
        aMemory(String(index), `berth ${"buoy ".repeat(index % 7)} ${index % 9 === 0 ? "tide" : "mast"}`)
      )
      yield* remember(ada, ...many)
      const all = yield* ask(ada, "berth tide", { limit: 100 })
      assert.equal(all.length, 90)
      const scores = all.map(({ score }) => score)
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => b - a)
      )
      assert.deepEqual(yield* found(ada, "berth tide", { limit: 7 }), idsOf(all).slice(0, 7))
      assert.equal((yield* ask(ada, "berth tide", { limit: 0 })).length, 1)
    })
  },
  {
    id: "I3.parity",
    says: "on the same entries an index gives nearly the ten best of the exact one, eight of ten on average",
    check: Effect.gen(function* () {
      const fate = fateOf(11)
      const vocabulary = vocabularyOf(1_500)
      const exact = memoryRecall()
      const conversation = aConversation(fate, vocabulary, 300)
      const facts = conversation
        .filter(() => fate.chance(0.1))
        .map((entry, index) => attaching(entry, `f${index}`, aQuestion(fate, vocabulary)))
      const changes = [...conversation.map(putting), ...facts]
      yield* apply(ada, changes)
      yield* exact.apply(ada, changes, { from: INDEX_START, to: at(1) })
      let overlap = 0
      const rounds = 25
      for (let round = 0; round < rounds; round++) {
        const query = asking(aQuestion(fate, vocabulary))
        const best = new Set(idsOf(yield* exact.search(ada, query)))
        const hits = idsOf(yield* Recall.use((recall) => recall.search(ada, query)))
        overlap += best.size === 0 ? 1 : hits.filter((id) => best.has(id)).length / best.size
      }
      assert.ok(overlap / rounds >= 0.8, `${overlap / rounds} of the ten best`)
    })
  }
]

const conditions: ReadonlyArray<Law<Recall>> = [
  {
    id: "I3.kinds",
    says: "only the kinds asked for are found; without any, all but profiles",
    check: Effect.gen(function* () {
      const kinds: ReadonlyArray<MemoryKind> = ["message", "episode", "fact", "passage", "profile", "block"]
      yield* remember(ada, ...kinds.map((kind, no) => aMessageAt(no, "Kim", "the tide", { kind, id: `x/${kind}` })))
      const ids = (chosen: ReadonlyArray<MemoryKind>) => chosen.map((kind) => `x/${kind}`).toSorted()
      const sorted = (hits: ReadonlyArray<string>) => hits.toSorted()
      assert.deepEqual(sorted(yield* found(ada, "tide")), ids(kinds.filter((kind) => kind !== "profile")))
      for (const kind of kinds) assert.deepEqual(yield* found(ada, "tide", { kinds: [kind] }), ids([kind]))
      assert.deepEqual(sorted(yield* found(ada, "tide", { kinds: ["profile", "fact"] })), ids(["fact", "profile"]))
    })
  },
  {
    id: "I3.time",
    says: "since and until are inclusive, each by itself and both together",
    check: Effect.gen(function* () {
      const at = (key: number) => LONG_AGO_MILLIS + key
      yield* remember(ada, ...[1, 2, 3, 4].map((key) => aMemory(String(key), "the tide", { at: at(key) })))
      const between = (since?: number, until?: number) =>
        Effect.map(
          found(ada, "tide", {
            ...(since === undefined ? {} : { since: at(since) }),
            ...(until === undefined ? {} : { until: at(until) })
          }),
          (ids) => ids.toSorted()
        )
      assert.deepEqual(yield* between(3), ["p/3", "p/4"])
      assert.deepEqual(yield* between(undefined, 2), ["p/1", "p/2"])
      assert.deepEqual(yield* between(2, 3), ["p/2", "p/3"])
      assert.deepEqual(yield* between(3, 2), [])
    })
  },
  {
    id: "I3.inview",
    says: "messages and answers after a time can be left out, that of the time itself and what else is kept not",
    check: Effect.gen(function* () {
      const kinds: ReadonlyArray<MemoryKind> = ["message", "answer", "episode", "fact", "passage", "block"]
      const at = (key: number) => LONG_AGO_MILLIS + key
      yield* remember(
        ada,
        ...kinds.flatMap((kind) =>
          [1, 2, 3].map((key) => aMemory(`${key}`, "the tide", { id: `${kind}/${key}`, kind, at: at(key) }))
        )
      )
      const sorted = (ids: ReadonlyArray<string>) => ids.toSorted()
      const keysOf = (kind: MemoryKind, keys: ReadonlyArray<number>) => keys.map((key) => `${kind}/${key}`)
      const whole = kinds.slice(2).flatMap((kind) => keysOf(kind, [1, 2, 3]))
      const spoken = (keys: ReadonlyArray<number>) => [...keysOf("message", keys), ...keysOf("answer", keys)]
      const ask = (request: Partial<RecallQuery>) => Effect.map(found(ada, "tide", { limit: 50, ...request }), sorted)
      assert.deepEqual(yield* ask({ messagesUntil: at(2) }), sorted([...whole, ...spoken([1, 2])]))
      assert.deepEqual(yield* ask({ messagesUntil: at(0) }), sorted(whole))
      assert.deepEqual(yield* ask({ messagesUntil: at(3), until: at(1), kinds: ["answer", "fact"] }), [
        "answer/1",
        "fact/1"
      ])
      assert.deepEqual(yield* ask({ messagesUntil: at(2), since: at(2), kinds: ["message"] }), ["message/2"])
    })
  },
  {
    id: "I3.names",
    says: "one of the entities and one of the tags asked for must be there, whatever their case; part of a name is none",
    check: Effect.gen(function* () {
      yield* remember(
        ada,
        aMemory("a", "the tide", { entities: ["Kim Berg", "Ümit"], tags: ["weather"] }),
        aMemory("b", "the tide", { entities: ["Kim"], tags: ["Boats", "weather"] })
      )
      assert.deepEqual(yield* found(ada, "tide", { entities: ["kim"] }), ["p/b"])
      assert.deepEqual(yield* found(ada, "tide", { entities: ["ümit", "nobody"] }), ["p/a"])
      assert.deepEqual(yield* found(ada, "tide", { tags: ["BOATS"] }), ["p/b"])
      assert.deepEqual(yield* found(ada, "tide", { tags: ["weather"], entities: ["Kim Berg"] }), ["p/a"])
      assert.deepEqual(yield* found(ada, "tide", { tags: ["boat"] }), [])
      assert.deepEqual(yield* found(ada, "tide", { tags: ["kim"] }), [])
    })
  },
  {
    id: "I3.thread",
    says: "of a thread only what belongs to exactly this one is found",
    check: Effect.gen(function* () {
      yield* remember(
        ada,
        aMessageAt(2, "Kim", "the tide", { thread: "quay" }),
        aMessageAt(4, "Kim", "the tide", { thread: "quays" }),
        aMemory("none", "the tide")
      )
      assert.deepEqual(yield* found(ada, "tide", { thread: "quay" }), ["m/2/0"])
      assert.deepEqual(yield* found(ada, "tide", { thread: "Quay" }), [])
    })
  },
  {
    id: "I3.threads",
    says: "of several threads what belongs to one of them is found, and nothing that belongs to none or to another one",
    check: Effect.gen(function* () {
      yield* remember(
        ada,
        aMessageAt(2, "Kim", "the tide", { thread: "quay" }),
        aMessageAt(4, "Ben", "the tide", { thread: "pier" }),
        aMemory("everybody's", "the tide", { thread: "" }),
        aMemory("none", "the tide")
      )
      assert.deepEqual((yield* found(ada, "tide", { thread: ["quay", ""] })).toSorted(), ["m/2/0", "p/everybody's"])
      assert.deepEqual(yield* found(ada, "tide", { thread: [""] }), ["p/everybody's"])
      assert.deepEqual((yield* found(ada, "tide", { thread: [] })).length, 4)
    })
  },
  {
    id: "I3.trust",
    says: "what is trusted less than asked for is not found",
    check: Effect.gen(function* () {
      yield* remember(ada, ...[0.3, 0.5, 0.9].map((trust) => aMemory(String(trust), "the tide", { trust })))
      assert.deepEqual((yield* found(ada, "tide", { minTrust: 0.5 })).toSorted(), ["p/0.5", "p/0.9"])
      assert.deepEqual(yield* found(ada, "tide", { minTrust: 0.95 }), [])
    })
  },
  {
    id: "I3.empty",
    says: "a list without anything in it is no condition",
    check: Effect.gen(function* () {
      yield* remember(ada, tide)
      assert.deepEqual(yield* found(ada, "tide", { kinds: [], entities: [], tags: [] }), ["p/tide"])
    })
  },
  {
    id: "I3.deep",
    says: "a condition is not applied to the first few only: what fulfils it is found however many others are better",
    check: Effect.gen(function* () {
      const many = Array.from({ length: 400 }, (_, index) => aMemory(String(index), "tide tide tide"))
      yield* remember(ada, ...many, aMemory("late", `the tide ${"and more ".repeat(40)}`, { tags: ["log"] }))
      assert.deepEqual(yield* found(ada, "tide", { tags: ["log"], limit: 3 }), ["p/late"])
    })
  }
]

const hostileQuestions: ReadonlyArray<string> = [
  ...hostileTexts.filter((text) => text !== ""),
  `what's "up"? AND (NEAR`,
  "co-operate* OR tide",
  "NOT tide",
  "tide AND",
  "body : tide",
  "{scope} : tide",
  "^tide",
  "tide + high",
  `"tide`,
  "((((",
  "NEAR(tide high, 2)",
  "-tide",
  "%_\\",
  "tide\u0000high",
  "\ud83d tide \udc00",
  "word ".repeat(10_000),
  Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(" "),
  "x".repeat(100_000)
]

const robust: ReadonlyArray<Law<Recall>> = [
  {
    id: "I3.hostile",
    says: "any text is a question: syntax of an index, quotes, NUL, half characters, ten thousand words",
    check: Effect.gen(function* () {
      yield* remember(ada, tide, berth)
      for (const text of hostileQuestions) {
        const ids = yield* found(ada, text)
        if (/\btide\b/.test(text)) assert.deepEqual(ids, ["p/tide"], text.slice(0, 40))
        else assert.deepEqual(ids, [], text.slice(0, 40))
      }
      assert.deepEqual(yield* found(ada, `tide ${"and so on ".repeat(2_000)}`), ["p/tide"])
    })
  },
  {
    id: "I3.nothing",
    says: "without words nothing is found, whatever the conditions; stop words find something when there is nothing else",
    check: Effect.gen(function* () {
      yield* remember(ada, tide, berth)
      for (const text of ["", " \n", "?!", "…", "\u0000"]) assert.deepEqual(yield* found(ada, text), [])
      assert.deepEqual(yield* found(ada, "", { kinds: ["passage"] }), [])
      assert.deepEqual(yield* found(ada, "at the"), ["p/tide", "p/berth"])
      assert.deepEqual(yield* found(ada, "is the master at home?"), ["p/berth"])
    })
  }
]

export const recallFindingLaws: ReadonlyArray<Law<Recall>> = [...words, ...conditions, ...robust]
