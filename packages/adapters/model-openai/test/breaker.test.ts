import { assert, it } from "@effect/vitest"
import { type Admission, Breaker, type Ticket } from "@reverie/model/wire"

const options = {
  failures: 3,
  windowMs: 1_000,
  coolDownMs: 5_000,
  coolDownMaxMs: 5_000,
  probeMs: 60_000
}

const ticketOf = (admission: Admission): Ticket => {
  if ("ticket" in admission) return admission.ticket
  throw new Error(`refused for ${admission.retryAfterMs} ms`)
}

const failAt = (breaker: Breaker, ...times: ReadonlyArray<number>): void => {
  for (const now of times) breaker.failed(ticketOf(breaker.admit(now)), now)
}

it("B1 opens at the last of so many failures in a row, not before", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 10)
  assert.strictEqual(breaker.state(10), "closed")
  failAt(breaker, 20)
  assert.strictEqual(breaker.state(20), "open")
})

it("B1 a success between them ends the row", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 10)
  breaker.succeeded(ticketOf(breaker.admit(15)))
  failAt(breaker, 20, 30)
  assert.strictEqual(breaker.state(30), "closed")
})

it("B1 failures that are further apart than the window do not add up", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 600, 1_200, 1_800)
  assert.strictEqual(breaker.state(1_800), "closed")
})

it("B2 withholds until it has cooled down, and says for how long", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 0, 0)
  assert.deepStrictEqual(breaker.admit(1_000), { retryAfterMs: 4_000 })
  assert.deepStrictEqual(breaker.admit(4_999), { retryAfterMs: 1 })
  assert.strictEqual(breaker.state(5_000), "half-open")
})

it("B2 cools down for longer each time, up to the maximum, and begins anew with a success", () => {
  const breaker = new Breaker({ ...options, coolDownMs: 1_000, coolDownMaxMs: 5_000 })
  failAt(breaker, 0, 0, 0)
  let now = 0
  for (const millis of [1_000, 2_000, 4_000, 5_000, 5_000]) {
    assert.strictEqual(breaker.withheldMillis(now), millis)
    now += millis
    failAt(breaker, now)
  }
  breaker.succeeded(ticketOf(breaker.admit(now + 5_000)))
  assert.strictEqual(breaker.withheldMillis(now + 5_000), 0)
  failAt(breaker, now, now, now)
  assert.strictEqual(breaker.withheldMillis(now), 1_000)
})

it("B3 lets one call try, and closes when it succeeds", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 0, 0)
  const probe = ticketOf(breaker.admit(5_000))
  assert.notProperty(breaker.admit(5_000), "ticket")
  breaker.succeeded(probe)
  assert.strictEqual(breaker.state(5_001), "closed")
  assert.property(breaker.admit(5_001), "ticket")
})

it("B3 opens again when the one call fails", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 0, 0)
  breaker.failed(ticketOf(breaker.admit(5_000)), 6_000)
  assert.strictEqual(breaker.state(10_999), "open")
  assert.strictEqual(breaker.state(11_000), "half-open")
})

it("B3 a probe that was given up frees its place", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 0, 0)
  breaker.abandoned(ticketOf(breaker.admit(5_000)))
  assert.property(breaker.admit(5_001), "ticket")
})

it("B3 a try that hears nothing for a while lets another one try beside it", () => {
  const breaker = new Breaker({ ...options, probeMs: 2_000 })
  failAt(breaker, 0, 0, 0)
  const silent = ticketOf(breaker.admit(5_000))
  assert.deepStrictEqual(breaker.admit(5_500), { retryAfterMs: 1_500 })
  const second = ticketOf(breaker.admit(7_000))
  assert.notProperty(breaker.admit(7_001), "ticket")
  // B4: its end says nothing that the later one will not say better.
  breaker.failed(silent, 7_500)
  assert.strictEqual(breaker.state(7_500), "half-open")
  breaker.abandoned(silent)
  assert.notProperty(breaker.admit(7_501), "ticket")
  breaker.succeeded(second)
  assert.strictEqual(breaker.state(7_600), "closed")
})

it("B3 a silent try that is answered after all closes it", () => {
  const breaker = new Breaker({ ...options, probeMs: 2_000 })
  failAt(breaker, 0, 0, 0)
  const silent = ticketOf(breaker.admit(5_000))
  const second = ticketOf(breaker.admit(7_000))
  breaker.succeeded(silent)
  assert.strictEqual(breaker.state(7_500), "closed")
  breaker.failed(second, 7_600)
  assert.strictEqual(breaker.state(7_600), "closed")
})

it("B5 a sign of life ends the cooling down, and still only one call tries", () => {
  const breaker = new Breaker(options)
  breaker.tryNow(0)
  assert.strictEqual(breaker.state(0), "closed")
  failAt(breaker, 0, 0, 0)
  breaker.tryNow(10)
  assert.strictEqual(breaker.withheldMillis(10), 0)
  assert.property(breaker.admit(10), "ticket")
  breaker.tryNow(20)
  assert.notProperty(breaker.admit(20), "ticket")
})

it("B4 calls of an earlier circuit change nothing", () => {
  const breaker = new Breaker(options)
  const early = [0, 1, 2, 3].map((now) => ticketOf(breaker.admit(now)))
  failAt(breaker, 10, 10, 10)
  for (const ticket of early) breaker.succeeded(ticket)
  assert.strictEqual(breaker.state(11), "open")
  for (const ticket of early) breaker.failed(ticket, 5_000)
  assert.strictEqual(breaker.state(5_010), "half-open")
  const probe = ticketOf(breaker.admit(5_010))
  for (const ticket of early) breaker.abandoned(ticket)
  assert.notProperty(breaker.admit(5_010), "ticket")
  breaker.succeeded(probe)
  assert.strictEqual(breaker.state(5_010), "closed")
})
