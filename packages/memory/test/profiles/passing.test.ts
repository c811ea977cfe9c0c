// E5: which profiles are of what was named in passing.

import { assert, describe, it } from "@effect/vitest"
import { type EntityProfile, isPassing, withdraw } from "../../src/index.ts"
import { aProfile, DAY, messageFilter, NOW } from "./scene.ts"

const read = (profile: EntityProfile): EntityProfile => ({
  ...profile,
  observations: profile.observations.map((each) => ({ ...each, digested: true }))
})

const passing = read(messageFilter(["Nora waved."]))
const LATE = NOW + 31 * DAY

describe("isPassing", () => {
  it("E5 what was heard once and read goes after 30 days, and no sooner", () => {
    assert.isTrue(isPassing(passing, LATE))
    assert.isFalse(isPassing(passing, NOW + 30 * DAY))
    assert.isTrue(isPassing(aProfile(), LATE))
    assert.isTrue(isPassing(withdraw(passing, ["f0"]), LATE))
  })

  it("E5 of whom anything is known, or was ever known, or waits to be read, stays", () => {
    const [heard] = passing.observations
    assert.isDefined(heard)
    const noted = { ...heard, source: "observation/obs_1_0" }
    const others: ReadonlyArray<Partial<EntityProfile>> = [
      { made: 1 },
      { type: "person" },
      { aliases: ["Nora Berg"] },
      { kept: true },
      { relationship: { ...passing.relationship, interactions: 3 } },
      { relationship: { ...passing.relationship, last_at: LATE - DAY } },
      { observations: [{ ...heard, digested: false }] },
      // It stands nowhere else.
      { observations: [noted] },
      { observations: [heard, { ...heard, id: "f1" }, { ...heard, id: "f2" }] }
    ]
    for (const other of others) assert.isFalse(isPassing({ ...passing, ...other }, LATE), JSON.stringify(other))
  })
})
