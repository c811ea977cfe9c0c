import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Breaker, type Ticket } from "../src/breaker.ts"

const options = { failures: 2, windowMillis: 200, coolDownMillis: 40 }

const deed = fc.record({
  wait: fc.integer({ min: 0, max: 30 }),
  what: fc.constantFrom("admit", "admit", "fail", "fail", "succeed", "abandon"),
  which: fc.nat(20)
})

it("B2 B3 whatever happens in whatever order, it lets a call pass again once it has cooled down and none is trying", () => {
  let opened = 0
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 80, size: "max" }), (deeds) => {
      const breaker = new Breaker(options)
      const out: Array<Ticket> = []
      let now = 0
      for (const { wait, what, which } of deeds) {
        now += wait
        const before = breaker.state(now)
        if (what === "admit") {
          const admission = breaker.admit(now)
          if ("ticket" in admission) {
            assert.notStrictEqual(before, "open")
            assert.strictEqual(admission.ticket.isProbe, before === "half-open")
            out.push(admission.ticket)
          } else {
            assert.notStrictEqual(before, "closed")
            assert.isAtMost(admission.retryAfterMillis, options.coolDownMillis)
          }
          continue
        }
        const [ticket] = out.splice(which % Math.max(out.length, 1), 1)
        if (ticket === undefined) continue
        if (what === "succeed") breaker.succeeded(ticket)
        else if (what === "fail") breaker.failed(ticket, now)
        else breaker.abandoned(ticket)
        if (breaker.state(now) === "open") opened++
      }
      for (const ticket of out) breaker.abandoned(ticket)
      assert.property(breaker.admit(now + options.coolDownMillis), "ticket")
    }),
    { seed: 4_711, numRuns: 500 }
  )
  assert.isAbove(opened, 10, "the runs opened the circuit too seldom to mean anything")
})
