import { assert, it } from "@effect/vitest"
import { AssistantId, DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import { describe } from "vitest"
import { approvalId, canonicalJson, isApprovalFor } from "../src/index.ts"
import { type ApprovalSubject } from "../src/tool.ts"

const subject: ApprovalSubject = {
  tenant: DEFAULT_TENANT,
  assistant: AssistantId.make("desk"),
  tick: 7,
  call: "7.1.0",
  tool: "fine",
  arguments: { ship: "Ida", amount: 40 }
}

describe("approval I1: a decision is bound to the exact call", () => {
  it("has one short id, pinned so that a new version keeps old decisions", () => {
    assert.match(approvalId(subject), /^apr_[0-9a-f]{16}$/)
    assert.strictEqual(approvalId(subject), "apr_3eac08f5c5e5022d")
  })

  it("changes with every part", () => {
    const others: ReadonlyArray<ApprovalSubject> = [
      subject,
      { ...subject, tenant: TenantId.make("other") },
      { ...subject, assistant: AssistantId.make("other") },
      { ...subject, tick: 8 },
      { ...subject, call: "7.1.1" },
      { ...subject, tool: "other" },
      { ...subject, arguments: { ship: "Ida", amount: 41 } },
      { ...subject, arguments: { ship: "Ida", amount: "40" } },
      { ...subject, arguments: { ship: "Ida", amount: [40] } },
      { ...subject, epoch: 1 },
      { ...subject, epoch: 2 }
    ]
    assert.strictEqual(new Set(others.map(approvalId)).size, others.length)
  })
})

describe("approval I3: a decision allows what was shown, and nothing else", () => {
  const shown = approvalId(subject)

  it("holds for the same call, read back from the store", () => {
    assert.isTrue(isApprovalFor(JSON.parse(JSON.stringify(subject)) as ApprovalSubject, shown))
    assert.isTrue(isApprovalFor({ ...subject, arguments: { amount: 40, ship: "Ida" } }, shown))
  })

  it("does not hold when the arguments were exchanged after the decision", () => {
    const exchanged: ReadonlyArray<ApprovalSubject["arguments"]> = [
      { ship: "Ida", amount: 400 },
      { ship: "Ida", amount: 40, note: "" },
      { ship: "Ida" },
      { ship: "Ida ", amount: 40 },
      { SHIP: "Ida", amount: 40 },
      [{ ship: "Ida", amount: 40 }]
    ]
    for (const args of exchanged) assert.isFalse(isApprovalFor({ ...subject, arguments: args }, shown))
  })

  it("does not hold for another attempt: a later call, a later tick, another claim", () => {
    assert.isFalse(isApprovalFor({ ...subject, call: "7.2.0" }, shown))
    assert.isFalse(isApprovalFor({ ...subject, tick: 8 }, shown))
    assert.isFalse(isApprovalFor({ ...subject, epoch: 3 }, shown))
    assert.isFalse(isApprovalFor(subject, approvalId({ ...subject, epoch: 3 })))
  })

  it("does not hold for an id that is no id", () => {
    for (const approval of ["", "apr_", shown.slice(0, -1), `${shown} `, shown.toUpperCase()]) {
      assert.isFalse(isApprovalFor(subject, approval))
    }
  })
})

describe("approval I2: canonical JSON", () => {
  it("sorts keys at every depth and leaves lists in order", () => {
    const text = `{"a":[{"x":null,"y":1.5},2,1],"b":"\\"é","c":{"1":true,"10":false,"2":{}}}`
    assert.strictEqual(
      canonicalJson({ c: { 10: false, 2: {}, 1: true }, b: `"é`, a: [{ y: 1.5, x: null }, 2, 1] }),
      text
    )
  })
})
