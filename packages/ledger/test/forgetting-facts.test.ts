import { assert, describe, it } from "@effect/vitest"
import { type Bundle, type BundlePart, withoutText, withoutTicks } from "@reverie/ledger"
import type { Json, RecordChange } from "@reverie/protocol"

type Fields = { readonly [key: string]: Json }

const entry = (no: number, content: string, facts: ReadonlyArray<Fields>, more: Fields = {}) => ({
  kind: "entry",
  entry: {
    no,
    tick: no,
    at: no,
    cause: { kind: "envelope", id: `e-${no}` },
    event: {},
    messages: content === "" ? [] : [{ role: "user", name: "ann", content, at: no, tokens: 1, ...more }],
    records: facts.map((value) => ({ kind: "fact", key: value["id"], value }))
  }
})

const fact = (id: string, text: string, sources: ReadonlyArray<string>, more: Fields = {}): Fields => ({
  id,
  text,
  at: 1,
  sources: [...sources],
  origin: { type: "person", name: "ann" },
  entities: ["ann"],
  state: "active",
  linked: true,
  profiled: true,
  ...more
})

const lifeOf = (...entries: ReadonlyArray<ReturnType<typeof entry>>): Bundle => {
  const changes = entries.flatMap(({ entry: { records } }) => records)
  const last = new Map(changes.map(({ key, value }) => [key, value]))
  const records = [...last].map(([key, value]) => ({ kind: "record", of: "fact", key, value }))
  return {
    head: { kind: "assistant", state: { definition: "desk", snapshot: {} } },
    parts: [...entries, ...records]
  } as unknown as Bundle
}

const factsAt = (parts: ReadonlyArray<BundlePart>, until = Infinity): Readonly<Record<string, Fields>> => {
  const standing = new Map<string, Fields>()
  for (const part of parts) {
    if (part.kind !== "entry" || part.entry.no > until) continue
    for (const { key, value } of Reflect.get(part.entry, "records") as ReadonlyArray<RecordChange>) {
      if (value === null) standing.delete(key)
      else standing.set(key, value as Fields)
    }
  }
  return Object.fromEntries(standing)
}

/** What stands in the end is what the changes of the life come to. */
const factsOf = (life: Bundle): Readonly<Record<string, Fields>> => {
  const kept = life.parts.flatMap((part) => (part.kind === "record" ? [[part.key, part.value as Fields] as const] : []))
  assert.deepStrictEqual(Object.fromEntries(kept), factsAt(life.parts))
  return Object.fromEntries(kept)
}

const forget = (...nos: ReadonlyArray<number>) => withoutTicks({ messages: nos.map((no) => ({ no, index: 0 })) })

describe("facts whose place was taken", () => {
  const bergen = fact("f1", "ann lives in Bergen", ["m/1/0"])
  const oslo = fact("f2", "ann lives in Oslo", ["m/3/0"])
  const rome = fact("f3", "ann lives in Rome", ["m/5/0"])
  const by = (one: Fields, other: Fields, until: number): Fields => ({
    ...one,
    state: "superseded",
    superseded_by: other["id"] ?? null,
    until
  })
  const life = lifeOf(
    entry(1, "I live in Bergen.", []),
    entry(2, "", [bergen]),
    entry(3, "I live in Oslo.", []),
    entry(4, "", [by(bergen, oslo, 3), oslo]),
    entry(5, "I live in Rome.", []),
    entry(6, "", [by(oslo, rome, 5), rome])
  )

  for (const [way, without] of [
    ["a message", forget(3)],
    ["a span", withoutTicks({ since: 3, until: 3 })],
    ["a text", withoutText("oslo")]
  ] as const) {
    it(`T1 T2 at each moment the older one holds, or is led on, without ${way}`, () => {
      const left = without(life)
      assert.deepStrictEqual(factsOf(left), { f1: by(bergen, rome, 5), f3: rome })
      assert.deepStrictEqual(factsAt(left.parts, 5), { f1: { ...bergen, linked: false, profiled: false } })
      assert.deepStrictEqual(without(left), left)
    })
  }

  it("T1 what the last one took the place of holds, and nothing changes where the first is forgotten", () => {
    assert.deepStrictEqual(factsOf(forget(5)(life)), {
      f1: by(bergen, oslo, 3),
      f2: { ...oslo, linked: false, profiled: false }
    })
    assert.deepStrictEqual(factsOf(forget(3, 5)(life)), { f1: { ...bergen, linked: false, profiled: false } })
    assert.deepStrictEqual(factsOf(forget(1)(life)), { f2: by(oslo, rome, 5), f3: rome })
  })

  it("T1 T3 a profile has not heard of what holds again, where nothing rests on it", () => {
    const heard = (id: string, source: string, text: string): Fields => ({ id, source, text, digested: true })
    const profile = (...attributes: ReadonlyArray<Fields>): Json => ({
      id: "ann",
      name: "ann",
      observations: [
        heard("o1", "f/f1", "ann lives in Bergen"),
        heard("o2", "f/f2", "ann lives in Oslo"),
        heard("o3", "f/f9", "ann sings")
      ],
      attributes: [{ id: "a9", text: "sings", evidence: ["o3"], superseded: [] }, ...attributes]
    })
    const ends = (value: Json): Json => {
      const entity = { kind: "entity", key: "ann", value }
      const dream = entry(4, "", [by(bergen, oslo, 3), oslo])
      const { head, parts } = lifeOf(entry(1, "I live in Bergen.", []), entry(2, "", [bergen]), entry(3, "Oslo", []))
      const told = { ...dream, entry: { ...dream.entry, records: [...dream.entry.records, entity] } }
      const [end] = lifeOf(dream).parts.slice(1).toReversed()
      const records = [
        { kind: "record", of: "fact", key: "f1", value: by(bergen, oslo, 3) },
        end,
        { kind: "record", of: "entity", key: "ann", value }
      ]
      const left = forget(3)({ head, parts: [...parts.slice(0, 3), told, ...records] } as unknown as Bundle)
      const found = left.parts.find((part) => part.kind === "record" && part.of === "entity")
      assert.deepStrictEqual(factsAt(left.parts)["ann"], (found as { readonly value: Fields }).value)
      return (found as { readonly value: Json }).value
    }
    const past = { text: "lives in Bergen", evidence: ["o1"] }
    const renewed = ends(profile({ id: "a1", text: "lives in Oslo", evidence: ["o2"], superseded: [past] }))
    assert.deepNestedInclude(renewed, { "attributes[1]": { id: "a1", ...past, superseded: [] } })
    assert.include(JSON.stringify(renewed), "o1")
    const joined = ends(profile({ id: "a1", text: "lives in Oslo now", evidence: ["o1", "o2"], superseded: [] }))
    assert.deepNestedInclude(joined, { "observations.length": 1, "attributes.length": 1 })
  })
})

describe("facts of several sources", () => {
  const twice = (first: string, second: string, text: string, more: Fields = {}, of: Fields = {}): Bundle =>
    lifeOf(
      entry(1, first, [], more),
      entry(2, "", [fact("f1", text, ["m/1/0"])]),
      entry(3, second, []),
      entry(4, "", [fact("f1", text, ["m/1/0", "m/3/0"], of)])
    )
  const rex = "My dog is called Rex."
  const told = "ann's dog is called Rex"

  it("S1 S3 it stays with the other, and was not there before that was said", () => {
    const left = forget(1)(twice(rex, `So: ${rex}`, told))
    assert.deepStrictEqual(factsOf(left), { f1: fact("f1", told, ["m/3/0"], { at: 3 }) })
    assert.deepStrictEqual(factsAt(left.parts, 3), {})
    assert.deepStrictEqual(forget(1)(left), left)
    assert.deepStrictEqual(factsOf(forget(3)(twice(rex, rex, told))), { f1: fact("f1", told, ["m/1/0"]) })
    const often = forget(1)(twice(rex, rex, told, {}, { heard: 5 }))
    assert.deepStrictEqual(factsOf(often), { f1: fact("f1", told, ["m/3/0"], { at: 3, heard: 4 }) })
  })

  it("S1 it goes where a word of it is in what is forgotten alone, in this form or another", () => {
    for (const [first, second, text] of [
      [rex, "I have a dog.", told],
      [rex, "It is called so, my DOG.", told],
      ["Asun Oslossa.", "Asun siellä yhä.", "ann lives in Oslo"],
      ["我住在北京", "我还住在那里", "安住在北京"],
      [rex, "[forgotten]", told]
    ] as const) {
      assert.deepStrictEqual(factsOf(forget(1)(twice(first, second, text))), {}, second)
    }
    assert.property(factsOf(forget(1)(twice(rex, "MY DOG IS CALLED REX", told))), "f1")
    assert.deepStrictEqual(factsOf(forget(1, 3)(twice(rex, rex, told))), {})
  })

  it("S1 S3 it stays as it was known before that was said, however it was said", () => {
    const vet = "The vet has seen my dog, who is called Rex."
    assert.deepStrictEqual(factsOf(forget(3)(twice("Rex! My dog.", vet, told))), { f1: fact("f1", told, ["m/1/0"]) })
    assert.deepStrictEqual(factsOf(forget(1)(twice("Rex! My dog.", vet, told, {}, { text: "ann has Rex" }))), {
      f1: fact("f1", "ann has Rex", ["m/3/0"], { at: 3 })
    })
    const found = fact("f1", told, ["m/1/1"], { origin: { type: "tool", name: "look" }, trust: 0.8 })
    const life = lifeOf(
      entry(1, "Look.", [found]),
      entry(3, rex, []),
      entry(4, "", [fact("f1", told, ["m/1/1", "m/3/0"], { trust: 0.9 })])
    )
    assert.deepStrictEqual(factsOf(forget(3)(life)), { f1: found })
  })

  it("S2 it goes with something attached, and where no one said the other", () => {
    const picture = { parts: [{ type: "image", digest: "d" }] }
    assert.deepStrictEqual(factsOf(forget(1)(twice(rex, rex, told, picture))), {})
    const own = lifeOf(
      entry(1, rex, []),
      entry(3, rex, [], { role: "assistant" }),
      entry(4, "", [fact("f1", told, ["m/1/0", "m/3/0"])])
    )
    assert.deepStrictEqual(factsOf(forget(1)(own)), {})
  })

  it("S3 of two people it is theirs who said what stays; of who is forgotten it goes", () => {
    const late = "The harbour closes at nine."
    const life = lifeOf(
      entry(1, late, []),
      entry(3, late, [], { name: "ben" }),
      entry(4, "", [fact("f1", "The harbour closes at nine", ["m/1/0", "m/3/0"], { entities: [] })])
    )
    const left = factsOf(forget(1)(life))
    assert.deepNestedInclude(left, { "f1.origin": { type: "person", name: "ben" } })
    assert.deepStrictEqual(factsOf(withoutTicks({ person: "ann" })(life)), {})
  })

  it("S4 another fact in the same words stays where its own message says it", () => {
    const late = "The harbour closes at nine."
    const [first, second] = [
      fact("f1", "The harbour closes at nine", ["m/1/0"]),
      fact("f2", "The harbour closes at nine", ["m/3/0"])
    ]
    const life = (said: string) => lifeOf(entry(1, late, [first]), entry(3, said, []), entry(4, "", [second]))
    assert.deepStrictEqual(factsOf(forget(1)(life(late))), { f2: second })
    assert.deepStrictEqual(factsOf(forget(1)(life("As I told you."))), {})
  })

  it("T2 what it took the place of holds until it is said again", () => {
    const old = fact("f0", "ann has a cat", ["m/0/0"])
    const by: Fields = { ...old, state: "superseded", superseded_by: "f1", until: 1 }
    const life = lifeOf(
      entry(0, "I have a cat.", [old]),
      entry(1, rex, []),
      entry(2, "", [by, fact("f1", told, ["m/1/0"])]),
      entry(3, rex, []),
      entry(4, "", [fact("f1", told, ["m/1/0", "m/3/0"])])
    )
    const left = forget(1)(life)
    assert.deepStrictEqual(factsAt(left.parts, 3), { f0: { ...old, linked: false, profiled: false } })
    assert.deepStrictEqual(factsOf(left), { f0: by, f1: fact("f1", told, ["m/3/0"], { at: 3 }) })
  })
})
