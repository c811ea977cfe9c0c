import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  accountOf,
  contextOf,
  flawsOf,
  grantKey,
  isOpen,
  jobDone,
  MAX_SUB_AGENTS,
  settingsNow,
  statusOf
} from "../src/index.ts"
import { PATIENT, RUNS } from "./arbitraries.ts"
import { asking, message, Rig, stored } from "./rig.ts"
import { aLife, live, type Moment } from "./walk.ts"
import { creationJob } from "../src/sub-agents/sub-agent.ts"

const actionsOf = ({ commands }: Moment, type: string): ReadonlyArray<Json> =>
  commands.flatMap((command) => (command._tag === "Action" && command.type === type ? [command.params] : []))

/** Checks every moment of many lives of assistants that may have sub-agents. */
const alwaysWithSubAgents = (check: (moment: Moment) => void) => {
  const may = { subAgents: true, subAgentBudget: 3, subAgentDepth: 1, subAgentTokens: 50_000, subAgentCalls: 20 }
  const rich = { ...may, subAgentMs: 60_000, subAgentCostMicros: 0 }
  const aSubAgentTree = aLife.map((life) => ({
    ...life,
    settings: { ...life.settings, ...rich },
    requests: life.requests.map((request) =>
      request.request === "mail" ? { ...request, mail: { ...request.mail, settings: null } } : request
    )
  }))
  fc.assert(
    fc.property(aSubAgentTree, (life) => live(life).forEach(check)),
    { ...RUNS, numRuns: 400 }
  )
}

describe("any life with sub-agents", PATIENT, () => {
  it("sub-agents S1, B1-B3: spent, reserved and promised stay within what was granted; a grant and its line are one", () => {
    let open = 0
    alwaysWithSubAgents(({ after, before }) => {
      const context = contextOf(after)
      const account = accountOf(context)
      assert.deepStrictEqual(flawsOf(account), [])
      const lines = context.subAgents.filter(isOpen)
      open += lines.length
      assert.sameMembers(Object.keys(account.out), lines.map(grantKey))
      assert.isAtMost(lines.length, Math.max(settingsNow(context).subAgentBudget, contextOf(before).subAgents.length))
      const was = accountOf(contextOf(before)).spent
      assert.isTrue(account.spent.tokens >= was.tokens && account.spent.calls >= was.calls)
      if (statusOf(after) !== "awake.thinking.inferring") assert.strictEqual(account.reserved.calls, 0)
    })
    assert.isAbove(open, 3_000)
  })

  it("sub-agents S4, machine I6: who is retired has no one below, and told everyone who was", () => {
    let gone = 0
    alwaysWithSubAgents((moment) => {
      const { after, before } = moment
      if (statusOf(after) !== "retired" || statusOf(before) === "retired") return
      assert.isEmpty(contextOf(after).subAgents.filter(isOpen))
      const were = contextOf(before).subAgents.filter(isOpen)
      const told = actionsOf(moment, "tellSubAgents").flatMap(
        (params) => (params as unknown as { readonly to: ReadonlyArray<{ readonly call: string }> }).to
      )
      assert.sameMembers(
        told.map(({ call }) => call),
        were.map(({ call }) => call)
      )
      gone += were.length
    })
    assert.isAbove(gone, 0)
  })
})

describe("the largest family", () => {
  it("context I1: with eight sub-agents, all being created, it fits as well, and each further one has one line", () => {
    const eight = bytesWith(8)
    console.log(`with 8 sub-agents: ${eight} bytes`)
    assert.isBelow(eight, 8_192)
    const all = bytesWith(MAX_SUB_AGENTS)
    console.log(`with ${MAX_SUB_AGENTS} sub-agents: ${all} bytes`)
    assert.isBelow((all - eight) / (MAX_SUB_AGENTS - 8), 400)
  })

  const bytesWith = (count: number): number => {
    const calls = asking(...Array.from({ length: 16 }, () => "async_required" as const)).calls.map((call) => ({
      ...call,
      tool: "t".repeat(64)
    }))
    const ada = new Rig({
      subAgents: true,
      subAgentBudget: count,
      subAgentTokens: 50_001,
      subAgentCostMicros: 1_000_000
    })
    for (let order = 0; order < count + 12; order++) {
      const call = `order-${String(order).padStart(16, "0")}`
      ada.hear({ type: "delegate", call, at: 1_790_000_000_000 })
      if (order > 3) continue
      ada.ends(creationJob(call), null)
      ada.hear({ type: "news", what: "reported", call, tries: 1, end: "completed", at: 1_790_000_000_000 })
    }
    ada.hear(message("e".repeat(256))).hear(jobDone("infer", { calls }))
    assert.strictEqual(ada.jobs.size, 16 + count)
    return Buffer.byteLength(JSON.stringify(stored(ada.decoded)))
  }
})
