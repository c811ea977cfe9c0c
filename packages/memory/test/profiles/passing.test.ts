// E5: which profiles are of what was named in passing.

import { assert, describe, it } from "@effect/vitest"
import { type EntityProfile, isPassing, withdraw } from "../../src/index.ts"
import { aFact, aProfile, DAY, messageFilter, NOW } from "./scene.ts"

const read = (profile: EntityProfile): EntityProfile => ({
  ...profile,
  observations: profile.observations.map((each) => ({ ...each, digested: true }))
})

const passing = read(messageFilter(["Nora waved."]))
const facts = new Map(["f0", "f1", "f2"].map((id) => [id, aFact({ id, text: "Nora waved." })]))
/** It was learnt a day after it was said. */
const LATE = NOW + 32 * DAY

describe("isPassing", () => {
  it("E5 what was heard once and read goes after 30 days, and no sooner", () => {
    assert.isTrue(isPassing(passing, facts, LATE))
    assert.isFalse(isPassing(passing, facts, NOW + 31 * DAY))
    assert.isTrue(isPassing(aProfile(), facts, LATE))
    assert.isTrue(isPassing(withdraw(passing, ["f0"]), facts, LATE))
  })

  it("E5 of whom anything is known, or was ever known, or waits to be read, stays", () => {
    const [heard] = passing.observations
    assert.isDefined(heard)
    const noted = { ...heard, id: "obs_1_0", source: "observation/obs_1_0" }
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
    for (const other of others) assert.isFalse(isPassing({ ...passing, ...other }, facts, LATE), JSON.stringify(other))
  })
})
