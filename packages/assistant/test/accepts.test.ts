import { assert, describe, it } from "@effect/vitest"
import { laneOf, type Event } from "@reverie/protocol"
import { acceptsOf, decide, type Input, isIgnored } from "../src/index.ts"
import { asking, compact, DONE, failure, message, PENDING, Rig, sleep, timer, worked } from "./rig.ts"

/** What a button would send; what the runtime deals with alone is left out. */
const offers: ReadonlyArray<Input & { readonly type: Event["type"] }> = [
  message("m-9") as never,
  timer("t-9") as never,
  sleep("s-9") as never,
  compact() as never,
  { type: "wake" },
  { type: "report" },
  { type: "approval", decision: "approved" },
  { type: "halt", reason: "fire" },
  { type: "resume" },
  { type: "retire" }
]

const begun = () => new Rig({ subAgents: true, sleepTickMs: 1_000 }).hear(message("m-1"))

const lives: Readonly<Record<string, () => Rig>> = {
  idle: () => new Rig(),
  inferring: begun,
  parked: () => begun().fails("infer", failure("park")),
  running: () => begun().ends("infer", asking("safe_chain")),
  awaitingApproval: () => begun().ends("infer", asking("dangerous")),
  awaitingReports: () => begun().ends("infer", asking("async_required")).ends("tool.0", PENDING),
  again: () => begun().ends("infer", asking("safe_chain")).ends("tool.0", DONE),
  dreaming: () => new Rig({ sleepTickMs: 1_000 }).hear(sleep("s-1")),
  pausing: () => new Rig({ sleepTickMs: 1_000 }).hear(sleep("s-1")).ends("dream", worked()),
  compacting: () => new Rig().hear(message("m-1", { signals: { tokenRatio: 0.9, mailWaiting: false } })),
  halted: () => begun().hear({ type: "halt", reason: "fire" }),
  retired: () => new Rig().hear({ type: "retire" })
}

describe("accepted events", () => {
  it("B1 exactly what is heard and not passed over, in every great state", () => {
    const seen = new Set<string>()
    let accepted = 0
    for (const [name, live] of Object.entries(lives)) {
      const { decoded, receives, status } = live()
      seen.add(status)
      const accepts = acceptsOf(decoded)
      for (const event of offers) {
        const means = receives.includes(laneOf(event as never)) && !isIgnored(decoded, decide(decoded, event))
        assert.strictEqual(accepts.includes(event.type), means, `${event.type} in ${status} (${name})`)
        if (means) accepted++
      }
    }
    assert.isAtLeast(seen.size, 10)
    assert.isAtLeast(accepted, 30)
  })

  it("B1 compaction is offered to whom it is allowed", () => {
    assert.include(acceptsOf(new Rig().decoded), "compact")
    assert.notInclude(acceptsOf(new Rig({ compactEnabled: false }).decoded), "compact")
  })

  it("B1 handing a task on is offered to whom it is allowed, and taking a compaction back at rest", () => {
    assert.include(acceptsOf(new Rig({ subAgents: true }).decoded), "delegate")
    assert.notInclude(acceptsOf(new Rig().decoded), "delegate")
    assert.notInclude(
      acceptsOf(new Rig({ subAgents: true }).hear({ type: "halt", reason: "fire" }).decoded),
      "delegate"
    )
    assert.include(acceptsOf(new Rig().decoded), "undoCompaction")
    assert.notInclude(acceptsOf(begun().decoded), "undoCompaction")
  })
})
