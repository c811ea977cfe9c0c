// Reminders by the command line, at a server whose fleet lives by a clock of the test, and in a store.

import { openServer } from "@reverie/server"
import { defineAssistant, Fleet, selfTools } from "reverie"
import { scriptedModel, testFleet } from "reverie/testing"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { temporary } from "./command-line.ts"
import definition from "./fixtures/fleet.ts"
import { said } from "./in-process.ts"

const HOUR = 3_600_000
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [...selfTools] })

describe("reverie reminders", () => {
  test("E1 set, ls and cancel: what is set is heard once, what is changed at its new time, what is cancelled never", async () => {
    // Monday 2026-01-05 at 09:00 UTC.
    await using fleet = await testFleet(desk, { model: scriptedModel(() => "The tide is high.") })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    const reminders = async (...args: ReadonlyArray<string>) => {
      const told = await said(["reminders", ...args, "--url", server.url])
      await fleet.idle()
      return told
    }
    try {
      assert.strictEqual((await reminders("ls", "desk")).stdout, "desk has no reminders\n")
      const set = await reminders("set", "desk", "tide", "Look at the tide.", "--cron", "0 9 * * *", "--no-wait")
      assert.strictEqual(set.code, 0, set.stderr)
      const zone = ["--time-zone", "Europe/Berlin", "--quiet", "22:00-07:00", "--catch-up", "skip"]
      await reminders(
        "set",
        "desk",
        "tide",
        "Look at the tide again.",
        "--at",
        "2026-01-05T18:00",
        ...zone,
        "--no-wait"
      )
      await reminders("set", "desk", "rope", "Coil the rope.", "--in", "3600", "--no-wait")
      const listed = await reminders("ls", "desk")
      assert.strictEqual(
        listed.stdout,
        `rope  at 5 Jan 2026, 10:00 UTC  next 5 Jan 2026, 10:00 UTC
  Coil the rope.
  0 sent, 0 skipped
tide  at 5 Jan 2026, 18:00 Europe/Berlin  next 5 Jan 2026, 18:00 Europe/Berlin
  Look at the tide again.
  0 sent, 0 skipped
`
      )
      const trial = await reminders("cancel", "desk", "rope", "--dry-run")
      assert.strictEqual(trial.stdout, 'would tell desk: {"cancel":"rope"}\n')
      assert.strictEqual((await reminders("cancel", "desk", "rope", "--no-wait")).code, 0)
      await fleet.clock.advance(24 * HOUR)
      const { reminders: all } = JSON.parse((await reminders("ls", "desk", "--json")).stdout) as {
        readonly reminders: ReadonlyArray<Readonly<Record<string, unknown>>>
      }
      assert.deepStrictEqual(
        all.map(({ catchUp, id, quiet, sent, state }) => ({ catchUp, id, quiet, sent, state })),
        [
          { catchUp: "once", id: "rope", quiet: undefined, sent: 0, state: "cancelled" },
          {
            catchUp: "skip",
            id: "tide",
            quiet: { from: "22:00", until: "07:00", policy: "later" },
            sent: 1,
            state: "done"
          }
        ]
      )
      assert.lengthOf(fleet.modelCalls, 1)
    } finally {
      await server.close()
    }
  })

  test("what is no rule is refused with one sentence; without anyone who works there, an order waits in the store", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await using fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
    await fleet.close()
    const reminders = (...args: ReadonlyArray<string>) => said(["reminders", ...args, "--data", data])
    for (const rule of [["--cron", "61 * * * *"], ["--at", "soon"], ["--quiet", "late", "--in", "60"], []]) {
      const refused = await reminders("set", "clerk", "tide", "Tide.", ...rule)
      assert.strictEqual(refused.code, 2, refused.stdout)
      assert.match(refused.stderr, /^reverie: .*(tide|--quiet)/)
    }
    const none = await reminders("cancel", "clerk", "tide")
    assert.strictEqual(none.code, 4, none.stderr)
    const kept = await reminders("set", "clerk", "tide", "Tide.", "--rrule", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
    assert.deepStrictEqual([kept.code, kept.stdout], [0, "tide is accepted\n"], kept.stderr)
    await using again = await Fleet.open({ fleet: definition, data, model: "offline" })
    await again.idle()
    const [tide] = await again.reminders.list("clerk")
    assert.deepInclude(tide, { id: "tide", note: "Tide.", state: "active", rrule: "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9" })
  })
})
