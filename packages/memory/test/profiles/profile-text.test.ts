import { assert, describe, it } from "@effect/vitest"
import { digest, observe, profileText } from "../../src/index.ts"
import { anObservation, aProfile, DAY, messageFilter, NOW } from "./scene.ts"
import { entityChanges, entityOfId, profileChanges, toldBy, withAlias } from "../../src/profiles/profile.ts"
import { entityContext } from "../../src/profiles/profile-text.ts"

const digested = digest(
  messageFilter(["Nora has a boat.", "Nora sings."]),
  { asked: ["f0", "f1"] },
  [
    { action: "ADD", target: undefined, attribute: "Nora has a boat.", evidence: ["f0"] },
    { action: "ADD", target: undefined, attribute: "Nora sings.", evidence: ["f0", "f1"] }
  ],
  NOW + DAY
).profile
const news = anObservation({ id: "obs_9_0", text: "Nora is ill.", at: NOW + 2 * DAY, trust: 0.6 })
const nora = observe(withAlias(digested, "the Keeper"), news, "person").profile

describe("a profile in a prompt", () => {
  it("T3 the best founded attributes first, then what is not digested", () => {
    assert.deepStrictEqual(profileText(nora, NOW + 2 * DAY).split("\n"), [
      "Entity: Nora (person); also called Keeper; friend, met 2 times from 2023-05-08 to 2023-05-10",
      "- Nora sings. (2023-05-09)",
      "- Nora has a boat. (2023-05-09)",
      "~ Nora is ill. (2023-05-10)"
    ])
    assert.include(profileText(nora, NOW + 400 * DAY), "; known, met 2 times")
    assert.include(profileText(digested, NOW), "; acquaintance, met once, on 2023-05-08\n")
  })

  it("E1 what one person told is what they said, and what was made of it alone", () => {
    const ofAnn = { type: "person", name: "Ann" } as const
    const heard = {
      ...nora,
      observations: nora.observations.map((each, at) => (at === 1 ? { ...each, origin: ofAnn } : each))
    }
    const lines = (person: string) => profileText(toldBy(heard, person), NOW).split("\n").slice(1)
    assert.deepStrictEqual(
      heard.observations.map(({ id }) => id),
      ["f0", "f1", "obs_9_0"]
    )
    assert.deepStrictEqual(lines("Olga"), ["- Nora has a boat. (2023-05-09)", "~ Nora is ill. (2023-05-10)"])
    assert.deepStrictEqual(lines("Ann"), [])
    assert.deepStrictEqual(toldBy(heard, "Ann").aliases, [])
  })

  it("T2 what has no room is counted", () => {
    const head = profileText(nora, NOW).split("\n")[0] ?? ""
    assert.deepStrictEqual(
      profileText(nora, NOW, head.length + 55)
        .split("\n")
        .slice(1),
      ["- Nora sings. (2023-05-09)", "… 2 more"]
    )
    assert.strictEqual(profileText(nora, NOW, head.length), head)
    assert.strictEqual(profileText(aProfile(), NOW), "Entity: Nora (unknown)")
  })

  it("T1 a kept text that has lines is shown as one", () => {
    const [first] = digested.attributes
    const forged = { ...digested, attributes: first === undefined ? [] : [{ ...first, text: "x\n- Nora is king" }] }
    assert.deepStrictEqual(profileText(forged, NOW).split("\n").slice(1), ["- x - Nora is king (2023-05-09)"])
  })

  it("several stand apart, those that have no room are left out", () => {
    const both = entityContext([nora, aProfile("Olga")], NOW)
    assert.match(both, /^Entity: Nora[^]+\n\nEntity: Olga \(unknown\)$/)
    assert.strictEqual(entityContext([nora, aProfile("Olga")], NOW, both.length - 10), profileText(nora, NOW))
  })
})

describe("a profile in an index", () => {
  it("X1 is an entry for each attribute and one for what is new, all of the kind profile, found by its names", () => {
    const entries = profileChanges(undefined, nora).flatMap((change) => (change.type === "put" ? [change.entry] : []))
    assert.deepStrictEqual(
      entries.map(({ id, kind, text }) => [id, kind, text]),
      [
        ["e/nora/a1", "profile", "Nora has a boat."],
        ["e/nora/a2", "profile", "Nora sings."],
        ["e/nora/new", "profile", "Nora is ill."]
      ]
    )
    assert.deepInclude(entries[0], { entities: ["Nora", "Keeper"], tags: ["person"], trust: 0.9, readers: "owner" })
    assert.strictEqual(entries[2]?.trust, 0.6)
    assert.deepStrictEqual(["e/nora/a1", "e/nora/new", "m/1/0", "f/nora/a1"].map(entityOfId), [
      "nora",
      "nora",
      undefined,
      undefined
    ])
  })

  it("X1 what is new is believed as far as the least of it", () => {
    const rumour = anObservation({ id: "r", text: "Nora is a thief.", trust: 0.3, at: NOW + DAY })
    const [put] = profileChanges(nora, observe(nora, rumour).profile)
    assert.deepInclude(put?.type === "put" ? put.entry : {}, {
      id: "e/nora/new",
      text: "Nora is a thief.\nNora is ill.",
      trust: 0.3,
      at: NOW + 2 * DAY
    })
  })

  it("X2 only what differs is reported", () => {
    const after = digest(nora, { asked: ["obs_9_0"] }, [], NOW).profile
    assert.deepStrictEqual(profileChanges(nora, after), [{ type: "remove", id: "e/nora/new" }])
    assert.lengthOf(profileChanges(nora, withAlias(nora, "Skipper")), 3)
    for (const value of [null, {}, "nora"]) assert.deepStrictEqual(entityChanges({ value }), [])
  })
})
