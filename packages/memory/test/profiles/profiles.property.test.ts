import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  digest,
  type EntityProfile,
  type IndexChange,
  isEntityProfile,
  type MemoryEntry,
  observe,
  profileAsk,
  profileText,
  readProfileAnswer,
  withdraw
} from "../../src/index.ts"
import { anObservation, aProfile, DAY, NOW } from "./scene.ts"
import { entityChanges, MAX_ATTRIBUTES, profileChanges } from "../../src/profiles/profile.ts"
import { entityContext } from "../../src/profiles/profile-text.ts"

/** What can happen to a profile in its life. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("hear" as const), text: fc.string({ unit: "binary", maxLength: 40 }) })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("digest" as const),
      rows: fc.array(
        fc.record({
          action: fc.constantFrom("ADD", "UPDATE", "IGNORE"),
          target: fc.nat(7),
          text: fc.stringMatching(/^[a-z]{1,4}( [a-z]{1,4}){0,2}$/)
        }),
        { maxLength: 25 }
      )
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("withdraw" as const), nth: fc.nat(60) }) }
)
const life = fc.array(step, { maxLength: 30 })

/** Every profile of a life, in order. */
const livedThrough = (steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer Step> ? Step : never>) => {
  let profile = aProfile()
  const all: Array<EntityProfile> = [profile]
  for (const [index, each] of steps.entries()) {
    const now = NOW + index * DAY
    if (each.kind === "hear") {
      profile = observe(profile, anObservation({ id: `f${index}`, text: each.text, at: now })).profile
    } else if (each.kind === "withdraw") profile = withdraw(profile, [`f${each.nth}`])
    else {
      const ask = profileAsk(profile)
      if (ask === undefined) continue
      const answer = JSON.stringify(
        each.rows.map(({ action, target, text }) => ({
          action,
          target: ask.shown[target] ?? null,
          attribute: text,
          evidence: ask.asked
        }))
      )
      profile = digest(profile, ask, readProfileAnswer(answer, ask)?.operations ?? [], now).profile
    }
    all.push(profile)
  }
  return all
}

const settings = { seed: 4_711, numRuns: 300 }

const applied = (index: Map<string, MemoryEntry>, changes: ReadonlyArray<IndexChange>): void => {
  for (const change of changes) {
    if (change.type === "put") index.set(change.entry.id, change.entry)
    else if (change.type === "remove") index.delete(change.id)
  }
}

const sorted = (index: ReadonlyMap<string, MemoryEntry>) => [...index].toSorted(([a], [b]) => (a < b ? -1 : 1))

describe("the life of a profile", () => {
  it("E1 E2 every profile fits its shape and its bounds; every attribute has evidence and an id of its own", () => {
    fc.assert(
      fc.property(life, (steps) => {
        for (const profile of livedThrough(steps)) {
          assert.isTrue(isEntityProfile(JSON.parse(JSON.stringify(profile))))
          assert.isAtMost(profile.attributes.length, MAX_ATTRIBUTES)
          const ids = profile.attributes.map(({ id }) => id)
          assert.strictEqual(new Set([...ids, ...profile.gone]).size, ids.length + profile.gone.length)
          for (const { evidence, superseded } of profile.attributes) {
            assert.isAbove(evidence.length, 0)
            assert.isAtMost(superseded.length, 5)
          }
        }
      }),
      settings
    )
  })

  it("D5 an ask that was carried out is not asked again", () => {
    fc.assert(
      fc.property(life, (steps) => {
        const profile = livedThrough(steps).at(-1) ?? aProfile()
        const ask = profileAsk(profile)
        if (ask === undefined) return
        const next = profileAsk(digest(profile, ask, [], NOW).profile)
        assert.isTrue(next?.asked.every((id) => !ask.asked.includes(id)) ?? true)
      }),
      settings
    )
  })

  it("X2 an index follows it, told of the difference or of each profile alone, in one sweep or rebuilt from the last", () => {
    fc.assert(
      fc.property(life, (steps) => {
        const all = livedThrough(steps)
        const byDifference = new Map<string, MemoryEntry>()
        const byItself = new Map<string, MemoryEntry>()
        for (const [at, profile] of all.entries()) {
          applied(byDifference, profileChanges(all[at - 1], profile))
          applied(byItself, entityChanges({ value: profile }))
          const rebuilt = new Map<string, MemoryEntry>()
          applied(rebuilt, entityChanges({ value: profile }))
          assert.deepStrictEqual(sorted(byDifference), sorted(rebuilt))
          assert.deepStrictEqual(sorted(byItself), sorted(rebuilt))
          assert.deepStrictEqual(profileChanges(profile, profile), [])
        }
      }),
      settings
    )
  })

  it("T1 T2 its text has its kinds of lines only, is as short as was asked, and names it first", () => {
    fc.assert(
      fc.property(life, fc.string({ unit: "binary" }), fc.nat(900), (steps, name, maxChars) => {
        const last = livedThrough(steps).at(-1) ?? aProfile()
        const profile = { ...last, name: `Nora ${name}`, aliases: [`x\n- ${name}`] }
        const text = profileText(profile, NOW, maxChars)
        assert.isAtMost(text.length, maxChars)
        if (maxChars < 40) return
        for (const [at, line] of text.split(/[\n\r\u2028\u2029\u0085\v\f]/).entries()) {
          assert.match(line, at === 0 ? /^Entity: Nora/ : /^(?:- .|~ .|… \d+ more$)/)
        }
      }),
      settings
    )
  })

  it("T2 the text of several is bounded, whole at its beginning, and empty for none", () => {
    fc.assert(
      fc.property(fc.array(life, { maxLength: 5 }), fc.nat(3_000), (lives, maxChars) => {
        const profiles = lives.map((steps) => livedThrough(steps).at(-1) ?? aProfile())
        const text = entityContext(profiles, NOW, maxChars)
        assert.isAtMost(text.length, maxChars)
        const heads = text.split("\n").filter((line) => line.startsWith("Entity: "))
        assert.isTrue(heads.every((line) => line.startsWith("Entity: Nora (unknown)")))
        assert.isAtMost(heads.length, profiles.length)
        if (profiles.length === 0) assert.strictEqual(text, "")
        else if (maxChars >= 120) assert.isAtLeast(heads.length, 1)
      }),
      { ...settings, numRuns: 100 }
    )
  })
})
