import { assert, describe, it } from "@effect/vitest"
import { digest, type EntityProfile, isEntityProfile, observe, withdraw } from "../../src/index.ts"
import { anObservation, aProfile, DAY, messageFilter, NOW } from "./scene.ts"
import { MAX_ATTRIBUTES } from "../../src/profiles/profile.ts"
import { type ProfileOperation } from "../../src/profiles/digest.ts"

const heard = messageFilter(["Nora has a boat.", "Nora sold her boat.", "Nora sings.", "Nora lives in Bergen."])

const add = (attribute: string, ...evidence: ReadonlyArray<string>): ProfileOperation => ({
  action: "ADD",
  target: undefined,
  attribute,
  evidence
})
const update = (target: string, attribute: string, ...evidence: ReadonlyArray<string>): ProfileOperation => ({
  action: "UPDATE",
  target,
  attribute,
  evidence
})
const ignore = (target: string | undefined, ...evidence: ReadonlyArray<string>): ProfileOperation => ({
  action: "IGNORE",
  target,
  attribute: "",
  evidence
})

const everything = { asked: heard.observations.map(({ id }) => id) }
const after = (profile: EntityProfile, ...operations: ReadonlyArray<ProfileOperation>) =>
  digest(profile, everything, operations, NOW + DAY)

const texts = ({ attributes }: EntityProfile) => attributes.map(({ id, text }) => `${id} ${text}`)

describe("carrying out an answer", () => {
  it("ADD makes an attribute with its evidence, its time and an id of its own", () => {
    const { added, profile } = after(heard, add("Nora has a boat.", "f0"), add("Nora sings well.", "f2", "f0"))
    assert.deepStrictEqual(added, ["a1", "a2"])
    assert.deepStrictEqual(profile.attributes, [
      { id: "a1", text: "Nora has a boat.", at: NOW + DAY, evidence: ["f0"], trust: 0.9, superseded: [] },
      { id: "a2", text: "Nora sings well.", at: NOW + DAY, evidence: ["f2", "f0"], trust: 0.9, superseded: [] }
    ])
    assert.isTrue(isEntityProfile(JSON.parse(JSON.stringify(profile))))
  })

  it("D1 UPDATE keeps the id and, behind it, what was said before, up to five times", () => {
    let { profile } = after(heard, add("Nora has a boat.", "f0"))
    const first = profile.attributes[0]
    const updated = digest(profile, everything, [update("a1", "Nora has no boat.", "f1")], NOW + 2 * DAY)
    assert.deepStrictEqual(updated.updated, ["a1"])
    assert.deepStrictEqual(updated.profile.attributes, [
      {
        id: "a1",
        text: "Nora has no boat.",
        at: NOW + 2 * DAY,
        evidence: ["f1"],
        trust: 0.9,
        superseded: [{ text: "Nora has a boat.", at: first?.at ?? 0, trust: 0.9, evidence: ["f0"] }]
      }
    ])
    for (let times = 0; times < 7; times++) ({ profile } = after(profile, update("a1", `Boat ${times}.`, "f1")))
    assert.deepStrictEqual(
      profile.attributes[0]?.superseded.map(({ text }) => text),
      ["Boat 1.", "Boat 2.", "Boat 3.", "Boat 4.", "Boat 5."]
    )
  })

  it("D1 what is renewed to what another one says becomes a part of that one's past", () => {
    const { profile } = after(heard, add("Nora lives in Oslo.", "f0"), add("Nora lives in Bergen.", "f3"))
    const merged = after(profile, update("a1", "nora lives in Bergen", "f3"))
    assert.deepStrictEqual(texts(merged.profile), ["a2 Nora lives in Bergen."])
    assert.deepStrictEqual(
      merged.profile.attributes[0]?.superseded.map(({ text }) => text),
      ["Nora lives in Oslo."]
    )
    assert.deepStrictEqual([merged.confirmed, merged.profile.gone], [["a2"], ["a1"]])
  })

  it("D2 what is said again adds evidence and nothing else: IGNORE, and ADD or UPDATE with the same words", () => {
    const { profile } = after(heard, add("Nora has a boat.", "f0"))
    for (const again of [ignore("a1", "f1"), add("NORA has a  boat", "f1"), update("a1", "Nora has a boat!", "f1")]) {
      const said = digest(profile, everything, [again], NOW + 9 * DAY)
      assert.deepStrictEqual(said.confirmed, ["a1"], again.action)
      assert.deepStrictEqual(said.profile.attributes, [{ ...profile.attributes[0], evidence: ["f0", "f1"] } as never])
    }
    assert.deepStrictEqual(after(profile, ignore(undefined, "f1")).profile.attributes, profile.attributes)
  })

  it("D3 no attribute is believed more than its evidence, and what is hardly believed replaces nothing", () => {
    const rumour = anObservation({
      id: "r",
      text: "Nora is a thief.",
      trust: 0.3,
      origin: { type: "ambientMessages", name: "Per" }
    })
    const { profile } = after(observe(heard, rumour).profile, add("Nora is honest.", "f0"))
    const doubted = after(profile, update("a1", "Nora is a thief.", "r", "f1"))
    assert.deepStrictEqual(texts(doubted.profile), ["a1 Nora is honest.", "a2 Nora is a thief."])
    assert.deepStrictEqual([doubted.updated, doubted.added], [[], ["a2"]])
    assert.strictEqual(doubted.profile.attributes[1]?.trust, 0.3)
    // Said again by someone who is believed, it may take its place.
    const sure = after(doubted.profile, ignore("a2", "f1"))
    assert.strictEqual(sure.profile.attributes[1]?.trust, 0.9)
    assert.deepStrictEqual(texts(after(sure.profile, update("a2", "Nora was a thief.", "f2")).profile), [
      "a1 Nora is honest.",
      "a2 Nora was a thief."
    ])
    // A rumour that says the same takes nothing of its trust away.
    assert.strictEqual(after(sure.profile, ignore("a2", "r")).profile.attributes[1]?.trust, 0.9)
    // A rumour may replace a rumour.
    assert.deepStrictEqual(after(doubted.profile, update("a2", "Nora is a pirate.", "r")).updated, ["a2"])
  })

  it("D3 evidence that is no longer there is not believed", () => {
    assert.strictEqual(after(heard, add("Nora sails.", "f99")).profile.attributes[0]?.trust, 0)
  })

  it("D4 over the bound the least founded and oldest give way, never what is new, and ids are not given twice", () => {
    const many = Array.from({ length: MAX_ATTRIBUTES }, (_, at) => add(`Nora knows ${at}.`, "f0"))
    const full = after(heard, ...many, ignore("a1", "f0")).profile
    const founded = digest(full, everything, [ignore("a1", "f1"), ignore("a2", "f2")], NOW).profile
    const { added, dropped, profile } = digest(
      founded,
      everything,
      [add("New one.", "f3"), add("New two.", "f3"), update("a3", "Renewed.", "f3")],
      NOW + 2 * DAY
    )
    assert.deepStrictEqual(added, ["a31", "a32"])
    assert.deepStrictEqual(
      dropped.map(({ id }) => id),
      ["a4", "a5"]
    )
    assert.lengthOf(profile.attributes, MAX_ATTRIBUTES)
    assert.deepStrictEqual([profile.gone, profile.made], [["a4", "a5"], 32])
  })

  it("D4 what is new stays, however little it is founded", () => {
    const many = Array.from({ length: MAX_ATTRIBUTES }, (_, at) => add(`Nora knows ${at}.`, "f0", "f1"))
    const { added, dropped } = digest(after(heard, ...many).profile, everything, [add("New.", "f3")], NOW)
    assert.deepStrictEqual([added, dropped.map(({ id }) => id)], [["a31"], ["a1"]])
  })

  it("D5 what was asked about is digested, whatever came of it, and nothing else is", () => {
    const { profile } = digest(heard, { asked: ["f0", "f2", "f77"] }, [], NOW)
    assert.deepStrictEqual(
      profile.observations.map(({ digested }) => digested),
      [true, false, true, false]
    )
    assert.deepStrictEqual(profile.attributes, [])
  })
})

describe("taking back", () => {
  const { profile } = digest(
    after(heard, add("Nora has a boat.", "f0"), add("Nora sings.", "f2", "f3")).profile,
    everything,
    [update("a1", "Nora has no boat.", "f1")],
    NOW + 2 * DAY
  )

  it("an attribute that has other evidence stays, and one that has none says what it said before", () => {
    const without = withdraw(profile, ["f1", "f3"])
    assert.deepStrictEqual(texts(without), ["a1 Nora has a boat.", "a2 Nora sings."])
    assert.deepStrictEqual(
      without.attributes.map(({ evidence, superseded }) => [evidence, superseded]),
      [
        [["f0"], []],
        [["f2"], []]
      ]
    )
    assert.deepStrictEqual(
      without.observations.map(({ id }) => id),
      ["f0", "f2"]
    )
    assert.deepStrictEqual(without.gone, [])
  })

  it("an attribute that never had other evidence goes, and an index learns of it", () => {
    const without = withdraw(profile, ["f0", "f1"])
    assert.deepStrictEqual(texts(without), ["a2 Nora sings."])
    assert.deepStrictEqual(without.gone, ["a1"])
  })

  it("what is past is taken back too, and what is not there changes nothing", () => {
    assert.deepStrictEqual(withdraw(profile, ["f0"]).attributes[0]?.superseded, [])
    assert.strictEqual(withdraw(profile, ["f99"]), profile)
    assert.strictEqual(withdraw(aProfile(), []).attributes.length, 0)
  })
})
