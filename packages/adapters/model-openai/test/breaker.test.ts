import { assert, it } from "@effect/vitest"
import { type Admission, Breaker, type Ticket } from "../src/breaker.ts"

const options = { failures: 3, windowMillis: 1_000, coolDownMillis: 5_000 }

const ticketOf = (admission: Admission): Ticket => {
  if ("ticket" in admission) return admission.ticket
  throw new Error(`refused for ${admission.retryAfterMillis} ms`)
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

it("B2 refuses until it has cooled down, and says for how long", () => {
  const breaker = new Breaker(options)
  failAt(breaker, 0, 0, 0)
  assert.deepStrictEqual(breaker.admit(1_000), { retryAfterMillis: 4_000 })
  assert.deepStrictEqual(breaker.admit(4_999), { retryAfterMillis: 1 })
  assert.strictEqual(breaker.state(5_000), "half-open")
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
