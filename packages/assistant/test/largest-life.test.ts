import { assert, describe, it } from "@effect/vitest"
import { jobDone } from "../src/index.ts"
import { asking, message, Rig, stored } from "./rig.ts"

describe("the largest life", () => {
  it("context I1: sixteen calls with the longest names, all running, fit into 8 KB", () => {
    const calls = asking(...Array.from({ length: 16 }, () => "async_required" as const)).calls.map((call) => ({
      ...call,
      tool: "t".repeat(64),
      approval: "f".repeat(64)
    }))
    const ada = new Rig({
      maxIterations: 9,
      approvalMs: 1,
      reportMs: 1,
      assessTask: true,
      compactEnabled: true
    })
      .hear(message("e".repeat(256)))
      .ends("assess", { restriction: { categories: ["async_required"], confirmDangerous: true, maxIterations: 3 } })
      .hear(jobDone("infer", { calls }))
    assert.strictEqual(ada.jobs.size, 16)
    const bytes = Buffer.byteLength(JSON.stringify(stored(ada.decoded)))
    console.log(`the largest snapshot: ${bytes} bytes`)
    assert.isBelow(bytes, 8_192)
  })
})
