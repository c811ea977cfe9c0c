// Kinds of context by the command line: shown, and asked for by send, chat and run.

import { openServer } from "@reverie/server"
import { Fleet } from "reverie"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { assertFailure, fixture, temporary } from "./command-line.ts"
import definition from "./fixtures/contexts-fleet.ts"
import { said } from "./in-process.ts"

const planning = `planning (its own): Plans first.
  limits: plan_execute, at most 2 steps, 4000 tokens, several tool calls, dangerous calls wait for approval, a final tool ends it
  tools:  stamp
  parts:  system_prompt, pending_event
  timers: tide
  system_prompt is: You plan before you act.
`

describe("reverie agents contexts", () => {
  test("F118 F2 tells limits, tools, parts and overrides of each kind, at a server and beside a store", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    const fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      const shown = await said(["agents", "contexts", "clerk", "--url", server.url])
      assert.include(
        shown.stdout,
        "tick_event: Something arrived and is dealt with.\n  limits: react_loop, at most 5 steps"
      )
      assert.include(shown.stdout, planning)
      assert.include(shown.stdout, "  tools:  noop, add_journal_entry, review_journal\n")
    } finally {
      await server.close()
      await fleet.close()
    }
    const beside = ["agents", "contexts", "clerk", "--data", data]
    assertFailure(await said([...beside, "--json"]), 2, "usage", "stand in its definition clerk")
    const told = await said([...beside, "--json", "--fleet", fixture("contexts-fleet.ts")])
    const { contexts, definition: from } = JSON.parse(told.stdout) as {
      readonly contexts: ReadonlyArray<Readonly<Record<string, unknown>>>
      readonly definition: string
    }
    assert.strictEqual(from, "clerk")
    assert.deepInclude(contexts.at(-1), { name: "planning", isOwn: true, maxSteps: 2, tools: ["stamp"] })
  })

  test("F118 --context of send, chat and run: the message is handled in it; one that there is not is refused", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await using fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    const at = ["--url", server.url]
    const handledIn = async () => {
      await fleet.idle()
      return (await fleet.history.contextReport("clerk"))?.context
    }
    try {
      const ways = [
        ["agents", "send", "clerk", "Plan it.", ...at],
        ["chat", "clerk", "-m", "Plan it.", ...at],
        ["run", "--agent", "clerk", "-p", "Plan it.", ...at]
      ]
      for (const way of ways) {
        assert.strictEqual((await said(way)).code, 0)
        assert.strictEqual(await handledIn(), "tick_event", way.join(" "))
        const planned = await said([...way, "--context", "planning"])
        assert.strictEqual(planned.code, 0, planned.stderr)
        assert.strictEqual(await handledIn(), "planning", way.join(" "))
        const refused = await said([...way, "--context", "planing"])
        assert.include(refused.stderr, 'clerk has no context "planing"; there are ')
        assert.notStrictEqual(refused.code, 0)
      }
    } finally {
      await server.close()
    }
  })
})
