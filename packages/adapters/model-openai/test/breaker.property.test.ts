import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Breaker, type Ticket } from "@reverie/model/wire"

const options = { failures: 2, windowMs: 200, coolDownMs: 40, coolDownMaxMs: 100, probeMs: 60 }

const deed = fc.record({
  wait: fc.integer({ min: 0, max: 30 }),
  what: fc.constantFrom("admit", "admit", "fail", "fail", "succeed", "abandon", "hint"),
  which: fc.nat(20)
})

it("B2 B3 B5 whatever happens in whatever order, one call tries at a time, and it lets a call pass again once it has cooled down and none is trying", () => {
  let opened = 0
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 80, size: "max" }), (deeds) => {
      const breaker = new Breaker(options)
      const out: Array<Ticket> = []
      let now = 0
      const since = new Map<Ticket, number>()
      for (const { wait, what, which } of deeds) {
        now += wait
        const before = breaker.state(now)
        const withheldMillis = breaker.withheldMillis(now)
        if (what === "hint") {
          breaker.tryNow(now)
          continue
        }
        if (what === "admit") {
          const admission = breaker.admit(now)
          assert.strictEqual("ticket" in admission, withheldMillis === 0)
          if ("ticket" in admission) {
            const { ticket } = admission
            assert.notStrictEqual(before, "open")
            assert.strictEqual(ticket.probe > 0, before === "half-open")
            const trying = out.filter(({ circuit, probe }) => probe > 0 && circuit === ticket.circuit)
            for (const other of ticket.probe > 0 ? trying : []) {
              assert.isAtLeast(now, (since.get(other) ?? 0) + options.probeMs, "two tries at once")
            }
            since.set(ticket, now)
            out.push(ticket)
          } else {
            assert.notStrictEqual(before, "closed")
            assert.strictEqual(admission.retryAfterMs, withheldMillis)
            assert.isAtMost(withheldMillis, options.coolDownMaxMs)
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
      assert.property(breaker.admit(now + options.coolDownMaxMs), "ticket")
    }),
    { seed: 4_711, numRuns: 500 }
  )
  assert.isAbove(opened, 10, "the runs opened the circuit too seldom to mean anything")
})
