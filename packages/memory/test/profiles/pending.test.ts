import { assert, it } from "@effect/vitest"
import type { Json, RecordChange } from "@reverie/protocol"
import { noteObservation, pendingObservations } from "../../src/index.ts"
import { NOW } from "./scene.ts"
import { MAX_PENDING } from "../../src/profiles/observe.ts"

const noted = (records: Map<string, Json>, observation: string, tick = 7, entity = "Nora") => {
  const { changes, result } = noteObservation(records, { entity, observation }, { by: "desk", now: NOW, tick })
  for (const { key, value } of changes as ReadonlyArray<RecordChange>) {
    if (value === null) records.delete(key)
    else records.set(key, value)
  }
  return result
}

it("P1 keys follow from the tick and count within it", () => {
  const records = new Map<string, Json>()
  noted(records, "Nora sings.")
  noted(records, "Nora has a boat.")
  noted(records, "Nora is ill.", 12)
  assert.deepStrictEqual([...records.keys()], ["obs_7_0", "obs_7_1", "obs_12_0"])
  records.delete("obs_7_0")
  assert.deepInclude(noted(records, "Nora dances."), { success: true, id: "obs_7_2", entity_id: "nora", pending: 3 })
  assert.deepStrictEqual(
    pendingObservations(new Map([...records].toReversed())).map(({ key }) => key),
    ["obs_7_1", "obs_7_2", "obs_12_0"]
  )
})

it("P2 what waits is never dropped: over the bound a new one is refused, and the answer says so", () => {
  const records = new Map<string, Json>()
  for (let at = 0; at < MAX_PENDING; at++) noted(records, `Nora said ${at}.`, at)
  assert.deepStrictEqual(noted(records, "Nora said enough.", 900), {
    success: false,
    error: "500 observations wait for the next sleep already: this one was not noted, sleep first"
  })
  assert.deepInclude(noted(records, "Nora said 7.", 900), { success: true, already_known: true })
  assert.strictEqual(records.size, MAX_PENDING)
  assert.isTrue(records.has("obs_0_0"))
})

it("P3 the same is noted of the same one once, and a name must name someone", () => {
  const records = new Map<string, Json>()
  noted(records, "Nora sings.")
  assert.deepInclude(noted(records, " NORA sings", 8, "nora's"), { already_known: true, id: "obs_7_0", pending: 1 })
  assert.deepInclude(noted(records, "Nora sings.", 8, "Olga"), { id: "obs_8_0", pending: 2 })
  assert.deepInclude(noted(records, "Nora sings.", 8, "?!"), { success: false })
  assert.strictEqual(records.size, 2)
})

it("records that are no observations are not seen", () => {
  const records = new Map<string, Json>([
    ["obs_1_0", { entity: "Nora" }],
    ["other", "text"]
  ])
  assert.deepStrictEqual(pendingObservations(records), [])
  assert.deepInclude(noted(records, "Nora sings.", 1), { id: "obs_1_1", pending: 1 })
})
