import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { DAY, HOUR, NOW } from "./scene.ts"
import {
  CONTACT_GAP_MILLIS,
  HALF_FAMILIAR_CONTACTS,
  HALF_LIFE_MILLIS,
  layers,
  met,
  type Relationship,
  strangers,
  strengthAt,
  strengthOf,
  tierOf,
  tiers,
  tiersOf
} from "../../src/profiles/name.ts"

const settings = { seed: 4_711, numRuns: 1_000 }
const contacts = fc.nat(500)
const silence = fc.nat(3 * 365).map((days) => days * DAY)
const times = fc.array(
  fc.nat(2_000).map((hours) => NOW + hours * HOUR),
  { minLength: 1, maxLength: 40 }
)

const after = (all: ReadonlyArray<number>, start: Relationship = strangers(NOW)): Relationship =>
  all.reduce((relationship, at) => met(relationship, at), start)

describe("strength", () => {
  it("R1 is 0 to 1, grows with contacts and shrinks with silence", () => {
    fc.assert(
      fc.property(contacts, contacts, silence, silence, (n, more, age, older) => {
        const strength = strengthOf(n, age)
        assert.isAtLeast(strength, 0)
        assert.isAtMost(strength, 1)
        assert.isAtLeast(strengthOf(n + more, age), strength)
        assert.isAtMost(strengthOf(n, age + older), strength)
      }),
      settings
    )
  })

  it("R1 half of what contacts can give is there after six, half of it is left after a half-life", () => {
    assert.strictEqual(strengthOf(HALF_FAMILIAR_CONTACTS, 0), 0.5)
    assert.strictEqual(strengthOf(HALF_FAMILIAR_CONTACTS, HALF_LIFE_MILLIS), 0.25)
    assert.strictEqual(strengthOf(0, 0), 0)
  })

  it("R1 a further contact never lowers it, at whatever time one looks", () => {
    fc.assert(
      fc.property(times, fc.nat(2_000), fc.nat(5_000), (all, hours, later) => {
        const before = after(all)
        const next = met(before, NOW + hours * HOUR)
        const now = Math.max(next.last_at, NOW) + later * HOUR
        assert.isAtLeast(strengthAt(next, now), strengthAt(before, now))
        assert.isAtLeast(next.interactions, before.interactions)
      }),
      settings
    )
  })

  it("R2 the same contacts again change nothing", () => {
    fc.assert(
      fc.property(times, (all) => {
        const inOrder = all.toSorted((a, b) => a - b)
        const once = after(inOrder)
        assert.deepStrictEqual(after(inOrder, once), once)
      }),
      settings
    )
  })

  it("R2 what comes up again within the gap is the same contact", () => {
    const once = after([NOW])
    assert.strictEqual(after([NOW + CONTACT_GAP_MILLIS - 1], once).interactions, 1)
    assert.strictEqual(after([NOW + CONTACT_GAP_MILLIS], once).interactions, 2)
    assert.strictEqual(after([NOW - CONTACT_GAP_MILLIS], once).interactions, 2)
    const allDay = Array.from({ length: 30 }, (_, at) => NOW + at * HOUR)
    assert.deepInclude(after(allDay), { interactions: 1, first_at: NOW, last_at: NOW + 29 * HOUR })
  })
})

describe("tiers", () => {
  it("R3 a stronger one is never in a farther tier", () => {
    const strength = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(strength, strength, (a, b) => {
        const [weak, strong] = [Math.min(a, b), Math.max(a, b)]
        assert.isAtMost(tiers.indexOf(tierOf(strong)), tiers.indexOf(tierOf(weak)))
      }),
      settings
    )
  })

  it("R3 an old relation stays in its layer at the pace of the layer, and leaves it a tenth later", () => {
    for (const { paceDays, tier } of layers) {
      assert.strictEqual(tierOf(strengthOf(10_000, paceDays * DAY)), tier)
      assert.notStrictEqual(tierOf(strengthOf(10_000, paceDays * 1.1 * DAY)), tier)
    }
    assert.strictEqual(tierOf(0), "known")
  })

  it("R3 a first contact makes an acquaintance, and no one is intimate within a day", () => {
    assert.strictEqual(after([NOW]).tier, "acquaintance")
    assert.strictEqual(after([NOW, NOW + DAY]).tier, "friend")
    const busiest = Array.from({ length: 24 * 60 }, (_, at) => NOW + at * 60_000)
    assert.include(["acquaintance", "friend"], after(busiest).tier)
  })

  it("R3 of many, a tier with the nearer ones holds no more than its size, and the strongest come first", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(200), fc.nat(800)), { maxLength: 220 }), (many) => {
        const related = many.map(([interactions, days], id) => ({
          id: `e${id}`,
          relationship: { ...strangers(NOW), interactions, last_at: NOW - days * DAY }
        }))
        const found = tiersOf(related, NOW)
        assert.strictEqual(found.size, related.length)
        const rankOf = (id: string) => tiers.indexOf(found.get(id) ?? "known")
        for (const [rank, { size }] of layers.entries()) {
          assert.isAtMost([...found.keys()].filter((id) => rankOf(id) <= rank).length, size)
        }
        for (const { id, relationship } of related) {
          const strength = strengthAt(relationship, NOW)
          assert.isAtLeast(rankOf(id), tiers.indexOf(tierOf(strength)))
          for (const other of related) {
            if (strengthAt(other.relationship, NOW) > strength) assert.isAtMost(rankOf(other.id), rankOf(id))
          }
        }
      }),
      { ...settings, numRuns: 60 }
    )
  })

  it("R3 six who are all intimate by themselves: the weakest is close", () => {
    const related = Array.from({ length: 6 }, (_, id) => ({
      id: `e${id}`,
      relationship: { ...strangers(NOW), interactions: 30 + id }
    }))
    const found = tiersOf(related, NOW)
    assert.deepStrictEqual(
      related.map(({ id }) => found.get(id)),
      ["close", "intimate", "intimate", "intimate", "intimate", "intimate"]
    )
  })
})
