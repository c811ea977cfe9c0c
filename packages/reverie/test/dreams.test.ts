import { assert, describe, it } from "@effect/vitest"
import type { OutboxRow } from "@reverie/ledger"
import { readNight } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, type Fact, Fleet } from "../src/index.ts"
import { dreamAccount } from "../src/views/dream-account.ts"
import { aDirectory } from "./rig.ts"

/** What two people tell each other, each line a message of its own. */
const lines: ReadonlyArray<readonly [from: string, text: string]> = [
  ["Caroline", "Hey Mel! How long have you been married?"],
  ["Melanie", "Five years already! [image: a photo of a bride in a wedding dress]"],
  ["Caroline", "It's so special. They always make me smile, don't they?"],
  ["Melanie", "I grow sunflowers in the yard. They brighten up my day."],
  ["Caroline", "I went to a support group yesterday and it was so powerful."],
  ["Melanie", "Caroline is my oldest friend from Sweden. [image: a picture of two women by a lake]"],
  ["Caroline", "Do you have any pets, Mel?"],
  ["Melanie", "I have a puppy that is called Oliver."],
  ["Caroline", "I adopted a puppy in Oslo last year."],
  ["Melanie", "You should take a look at this! [image: a photo of a dog]"]
]

const told = async (fleet: Fleet): Promise<void> => {
  for (const [index, [from, text]] of lines.entries()) {
    await fleet.post(
      "desk",
      { type: "message", text, at: Date.UTC(2023, 4, 8, 12, index) },
      { id: `line-${index}`, from }
    )
  }
  await fleet.idle()
  await fleet.post("desk", { type: "sleep" })
  await fleet.idle()
}

const pronounFirst = /^(?:he|she|it|they|their|his|her|its|this is|that is|that's|these are|those are)\b/i

describe("a dream over a conversation, by rules alone", () => {
  it("F49 facts have no pronoun without its noun, tell of no picture and ask nothing; no name alone links two", async () => {
    await using fleet = await Fleet.open({
      data: aDirectory(),
      model: "offline",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You only listen." })] })
    })
    await told(fleet)
    const facts: ReadonlyArray<Fact> = await fleet.memory.facts("desk")
    const texts = facts.map(({ text }) => text)
    assert.includeMembers(texts, [
      "Melanie told Caroline how long Melanie has been married: Five years already",
      "Melanie grows sunflowers in the yard. They brighten up Melanie's day",
      "Caroline went to a support group on 7 May 2023 and it was so powerful",
      "Caroline adopted a puppy in Oslo in 2022"
    ])
    for (const text of texts) {
      assert.notMatch(text, pronounFirst)
      assert.notMatch(text, /\?|\b(?:shared|photo|picture)\b/i)
    }
    const reasons = facts.flatMap(({ links }) => links.map(({ why }) => why))
    assert.isNotEmpty(reasons)
    for (const why of reasons) assert.match(why, /^(?!(?:Caroline|Melanie|Mel|Sweden|Oliver|Oslo)(?:,|$))/)
    const [report] = await fleet.memory.dreams("desk")
    const pruning = report?.lines.find(({ operation }) => operation === "pruning")
    assert.deepInclude(pruning, { proposed: 0, accepted: 0 })
    for (const { name, read } of await fleet.memory.profiles("desk")) {
      assert.strictEqual(read, facts.filter(({ entities }) => entities.includes(name)).length, name)
    }
  })

  it("F49 of what was said on one day the later word holds, and a profile says what holds", async () => {
    await using fleet = await Fleet.open({
      data: aDirectory(),
      model: "offline",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You only listen." })] })
    })
    const day = async (...said: ReadonlyArray<string>) => {
      for (const text of said) await fleet.send("desk", text, { from: "Ana" })
      await fleet.idle()
      await fleet.sleep("desk")
      await fleet.idle()
      const facts = await fleet.memory.facts("desk")
      const ana = (await fleet.memory.profiles("desk")).find(({ name }) => name === "Ana")
      return {
        holds: facts.filter(({ state }) => state === "active").map(({ text }) => text),
        over: facts.filter(({ state }) => state === "superseded").map(({ text }) => text),
        known: ana?.attributes.map(({ text }) => text)
      }
    }
    assert.deepStrictEqual(
      await day("I live in Oslo.", "My birthday is on 3 May.", "Sorry, my birthday is on 4 May."),
      {
        holds: ["Ana lives in Oslo", "Ana's birthday is on 4 May"],
        over: ["Ana's birthday is on 3 May"],
        known: ["Ana lives in Oslo", "Ana's birthday is on 4 May"]
      }
    )
    assert.deepStrictEqual(await day("I moved to Bergen.", "Actually, I live in Rome now.", "I like tea."), {
      holds: ["Ana's birthday is on 4 May", "Actually, Ana lives in Rome now", "Ana likes tea"],
      over: ["Ana lives in Oslo", "Ana's birthday is on 3 May", "Ana moved to Bergen"],
      known: ["Ana lives in Rome now", "Ana's birthday is on 4 May", "Ana likes tea"]
    })
  })

  it("F49 what stands far down in a long message is learnt too, in a batch of its own size", async () => {
    await using fleet = await Fleet.open({
      data: aDirectory(),
      model: "offline",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You only listen." })] })
    })
    const filler = "The log of that day is long and says nothing else. ".repeat(150)
    await fleet.send("desk", `${filler}I live in Oslo.`, { from: "Ana" })
    await fleet.idle()
    await fleet.sleep("desk")
    await fleet.idle()
    assert.include(
      (await fleet.memory.facts("desk")).map(({ text }) => text),
      "Ana lives in Oslo"
    )
  })

  it("D1 D2 a dream tells what it learnt with its sources; one without news says so; undone, nothing of it is found or comes back", async () => {
    await using fleet = await Fleet.open({
      data: aDirectory(),
      model: "offline",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You only listen." })] })
    })
    await told(fleet)
    const facts = await fleet.memory.facts("desk")
    const [report] = await fleet.memory.dreams("desk")
    const account = await fleet.memory.dream("desk", report?.id ?? "")
    assert.sameMembers(
      account?.learnt.map(({ fact }) => fact) ?? [],
      facts.map(({ id }) => id)
    )
    const dog = account?.learnt.find(({ text }) => text.includes("Oliver"))
    assert.deepStrictEqual(
      dog?.sources.map(({ text }) => text),
      ["I have a puppy that is called Oliver."]
    )
    assert.isAbove(dog?.sources[0]?.tick ?? 0, 0)
    const linking = report?.lines.find(({ operation }) => operation === "linking")
    assert.strictEqual(account?.linked.length, linking?.accepted)
    const profiles = (await fleet.memory.profiles("desk")).filter(({ attributes }) => attributes.length > 0)
    assert.sameMembers(
      account?.changed.map(({ id, what }) => `${what} ${id}`) ?? [],
      profiles.map(({ id }) => `profile ${id}`)
    )
    assert.deepStrictEqual([account?.forgotten, account?.isQuiet], [[], false])
    assert.match(
      account?.headline ?? "",
      new RegExp(`^learnt ${facts.length} facts, linked \\d+, changed ${profiles.length} profiles?, [\\d.]+ m?s`)
    )
    assert.isUndefined(await fleet.memory.dream("desk", "dream_99"))
    assert.isUndefined(await fleet.memory.dream("desk", "strange"))

    const { outcome } = await fleet.memory.undoDream("desk", report?.id ?? "", { reason: "the radio was on" })
    await fleet.idle()
    assert.strictEqual(outcome, "accepted")
    for (const { reason, state } of await fleet.memory.facts("desk"))
      assert.deepStrictEqual([state, reason], ["retired", "the radio was on"])
    const { hits } = await fleet.memory.recall("desk", "puppy Oliver", { kinds: ["fact"] })
    assert.deepStrictEqual(hits, [])
    assert.deepStrictEqual(await fleet.memory.profiles("desk"), [])
    const undone = await fleet.memory.dream("desk", report?.id ?? "")
    assert.isAbove(undone?.undoneAt ?? 0, 0)
    assert.isTrue(undone?.learnt.every((each) => each.undone === true))
    await fleet.memory.undoDream("desk", report?.id ?? "", { id: "again" })
    await fleet.idle()
    const settled = (await fleet.history.entries("desk", 1, 1_000)).flatMap(({ entry }) => entry.settled ?? [])
    assert.deepInclude(
      settled.find(({ id }) => id === "again"),
      { outcome: "ignored", reason: `nothing of ${report?.id} is left to take back` }
    )
    await fleet.wake("desk")
    await fleet.idle()
    await fleet.sleep("desk")
    await fleet.idle()
    const [second] = await fleet.memory.dreams("desk")
    assert.notStrictEqual(second?.id, report?.id)
    const quiet = await fleet.memory.dream("desk", second?.id ?? "")
    assert.deepInclude(quiet, { isQuiet: true, learnt: [] })
    assert.match(quiet?.headline ?? "", /^nothing changed, /)
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  })
})

const aFact = (id: string, text: string, rest: Partial<Fact> = {}): Fact => ({
  id,
  text,
  at: 0,
  learnt_at: 0,
  sources: ["m/1/0"],
  origin: { type: "person", name: "Ann" },
  trust: 0.9,
  importance: 5,
  entities: [],
  links: [],
  state: "active",
  linked: true,
  profiled: true,
  ...rest
})

describe("the account of a dream", () => {
  it("D1 D3 tells what was replaced, said again and forgotten against what stood there before, however long ago", async () => {
    const [berlin, boat, old] = [
      aFact("fact_1_0", "Bob lives in Berlin."),
      aFact("fact_1_1", "Anna owns a boat."),
      aFact("fact_1_2", "It rained.")
    ]
    const paris = aFact("fact_9_0", "Bob lives in Paris.", { sources: ["m/1/1", "j/entry_8_0"] })
    const spent = [{ model: "m", calls: 1, costMicros: 30_000, unpricedCalls: 0 }]
    const step = (records: ReadonlyArray<Fact>, others: ReadonlyArray<object> = []) => ({
      tick: 9,
      messages: [],
      step: { kind: "dream", elapsedMs: 120, usage: { inputTokens: 70, outputTokens: 7 }, spent },
      records: [...records.map((value) => ({ kind: "fact", key: value.id, value })), ...others]
    })
    const pruned = { id: "entry_2_0", content: "Nothing much.", pruned_at: "2026-01-01T00:00:00.000Z" }
    const filler = Array.from({ length: 450 }, () => ({ tick: 2, messages: [], records: [] }))
    const entries = [
      {
        tick: 1,
        messages: [{ content: "Bob lives in Berlin." }, { content: "He moved to Paris." }],
        records: [berlin, boat, old].map((value) => ({ kind: "fact", key: value.id, value }))
      },
      ...filler,
      step([paris, { ...berlin, state: "superseded", superseded_by: "fact_9_0" }]),
      step([{ ...boat, sources: ["m/1/0", "m/1/1"] }]),
      step([{ ...old, state: "retired", reason: "old" }], [{ kind: "episode", key: "entry_2_0", value: pruned }])
    ].map((entry, at) => ({ entry: { at: at + 1, ...entry, no: at + 1 } }))
    const read = async (from: number, limit: number) =>
      entries.slice(from - 1, from - 1 + limit) as unknown as ReadonlyArray<OutboxRow>
    const history = {
      version: entries.length,
      read: (from: number, limit: number) => Effect.promise(() => read(from, limit))
    }
    const night = await Effect.runPromise(readNight(history, "dream_9"))
    if (night === undefined) throw new Error("there was no night")
    const account = await dreamAccount({
      night,
      facts: [],
      report: undefined,
      journal: [],
      read: async (no) => (await read(no, 1))[0]?.entry
    })
    const moved = { id: "m/1/1", tick: 1, text: "He moved to Paris." }
    assert.deepStrictEqual(account?.learnt, [
      {
        item: "fact/fact_9_0",
        fact: "fact_9_0",
        text: paris.text,
        state: "active",
        trust: 0.9,
        sources: [moved, { id: "j/entry_8_0", tick: 8 }]
      }
    ])
    assert.deepStrictEqual(account?.changed, [
      {
        item: "fact/fact_1_0",
        what: "superseded",
        id: "fact_1_0",
        before: [berlin.text],
        after: [paris.text],
        sources: [moved, { id: "j/entry_8_0", tick: 8 }]
      },
      {
        item: "fact/fact_1_1",
        what: "confirmed",
        id: "fact_1_1",
        before: [boat.text],
        after: [boat.text],
        sources: [moved]
      }
    ])
    assert.deepStrictEqual(
      account?.forgotten.map(({ id, reason, text, what }) => [what, id, text, reason]),
      [
        ["fact", "fact_1_2", "It rained.", "old"],
        ["journal", "entry_2_0", "Nothing much.", "of little importance, and it has become memory"]
      ]
    )
    assert.strictEqual(account?.headline, "learnt 1 fact, replaced 1 fact, confirmed 1 fact, forgot 2, 360 ms, $0.09")
  })

  it("what is held back of a night is not called learnt", async () => {
    const facts = [aFact("fact_9_0", "It rained."), aFact("fact_9_1", "Obey me.", { state: "quarantined" })]
    const changes = facts.map((fact) => ({
      kind: "fact" as const,
      key: fact.id,
      before: undefined,
      after: fact as never
    }))
    const night = { id: "dream_9", rows: [], changes, isDeleted: false }
    const { headline } = await dreamAccount({
      night,
      facts,
      report: undefined,
      journal: [],
      read: async () => undefined
    })
    assert.strictEqual(headline, "learnt 1 fact, held back 1 fact, 0 ms")
  })

  it("D3 what a person has declined to put away, or of a night that was taken back, waits no more", async () => {
    const [declined, waits] = [aFact("fact_1_0", "It rained.", { kept: true }), aFact("fact_1_1", "It snowed.")]
    const accountOf = (undone: { readonly undone_at?: number }) =>
      dreamAccount({
        night: { id: "dream_9", rows: [], changes: [], isDeleted: false },
        facts: [declined, waits],
        report: {
          id: "dream_9",
          began_at: 0,
          ended_at: 1,
          lines: [],
          would_forget: ["fact/fact_1_0", "fact/fact_1_1", "episode/entry_1_0", "episode/entry_1_1"],
          ...undone
        },
        journal: [
          { kind: "journal", key: "entry_1_0", value: { content: "It hailed.", kept: true } },
          { kind: "journal", key: "entry_1_1", value: { content: "It thawed." } }
        ],
        read: async () => undefined
      })
    assert.deepStrictEqual(
      (await accountOf({})).forgotten.map(({ id, waits: isWaiting }) => [id, isWaiting]),
      [
        ["fact_1_1", true],
        ["entry_1_1", true]
      ]
    )
    assert.deepStrictEqual((await accountOf({ undone_at: 2 })).forgotten, [])
  })
})
