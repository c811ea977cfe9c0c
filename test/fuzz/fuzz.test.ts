import { assert, describe, it } from "vitest"
import { fuzz } from "./campaign.ts"
import { faultOf } from "./judge.ts"

const sent = { operation: "x", method: "GET", path: "/v1/x", headers: {} }
const json = (status: number, value: unknown) => ({ status, type: "application/json", text: JSON.stringify(value) })
const nothing = { secrets: [], foreignIds: [], never: [] }

describe("fuzzing the API", () => {
  it("J1-J3 the judge finds what it is there for", () => {
    assert.match(faultOf(sent, json(500, {}), nothing) ?? "", /500/)
    assert.match(faultOf(sent, json(404, { error: "x" }), nothing) ?? "", /without _tag/)
    assert.match(faultOf(sent, { status: 404, type: "text/html", text: "" }, nothing) ?? "", /of type/)
    assert.match(faultOf(sent, json(200, "b-1"), { ...nothing, foreignIds: ["b-1"] }) ?? "", /not asked for/)
    assert.isUndefined(faultOf({ ...sent, path: "/v1/b-1" }, json(200, "b-1"), { ...nothing, foreignIds: ["b-1"] }))
    assert.match(faultOf(sent, json(200, "tell"), { ...nothing, secrets: ["tell"] }) ?? "", /other tenant/)
    assert.match(faultOf(sent, json(200, "a\n    at f (file:///x.ts:1:2)"), nothing) ?? "", /^$|stack/)
    assert.isUndefined(faultOf(sent, json(404, { _tag: "NotFound", message: "nobody" }), nothing))
  })

  it("J1 J2 J3 a thousand requests made from the contract's own schema", { timeout: 300_000 }, async () => {
    const report = await fuzz(1_000, 20_261)
    assert.deepStrictEqual(report.faults, [])
    assert.isTrue(report.ok)
    assert.isAbove(report.operations, 40)
  })
})
