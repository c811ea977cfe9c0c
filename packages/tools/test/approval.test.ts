import { assert, it } from "@effect/vitest"
import { AssistantId, DEFAULT_TENANT, TenantId } from "@reverie/protocol"
import { describe } from "vitest"
import { type ApprovalSubject, approvalId, canonicalJson } from "../src/index.ts"

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

describe("approval I2: canonical JSON", () => {
  it("sorts keys at every depth and leaves lists in order", () => {
    const text = `{"a":[{"x":null,"y":1.5},2,1],"b":"\\"é","c":{"1":true,"10":false,"2":{}}}`
    assert.strictEqual(
      canonicalJson({ c: { 10: false, 2: {}, 1: true }, b: `"é`, a: [{ y: 1.5, x: null }, 2, 1] }),
      text
    )
  })
})
