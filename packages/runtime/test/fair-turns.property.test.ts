// Every property here is judged on the right line and on wrong ones, each of which it must find out.

import { assert, describe, it } from "@effect/vitest"
import { type Address, addressKey } from "@reverie/protocol"
import { inTurns, openTurnLine, type TenantWeight } from "@reverie/runtime"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { type FairTurn, type TurnLine } from "../src/worker/worker.ts"

type OpenLine = (concurrency: number, weightOf?: TenantWeight) => TurnLine

const weightOf: TenantWeight = (tenant) => (tenant === "t-2" ? 3 : 1)

const anOperation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("join" as const), tenant: fc.nat(2), assistant: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("end" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("interrupt" as const), pick: fc.nat() }) }
)
const aCourse = fc.record({
  concurrency: fc.integer({ min: 1, max: 3 }),
  operations: fc.array(anOperation, { minLength: 1, maxLength: 150 })
})
type Course = typeof aCourse extends fc.Arbitrary<infer C> ? C : never

interface Waiting {
  readonly turn: FairTurn
  /** Turns given to other tenants, and to other assistants of its own one, while it waited. */
  readonly toOthers: Map<string, number>
}

const note = (counts: Map<string, number>, name: string): number => {
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count
}

/** A tenant that has waited without a break: its counts begin anew with each turn that it gets. */
class Judge {
  readonly #waiting = new Map<FairTurn, Waiting>()
  /** For each tenant that waits: turns of others since it began to wait, or since its own last one. */
  readonly #tenants = new Map<string, Map<string, number>>()
  readonly held = new Set<FairTurn>()

  joins(turn: FairTurn): void {
    if (turn.state === "held") {
      assert.strictEqual(this.#waiting.size, 0, "R1 someone was let in past those that wait")
      this.held.add(turn)
      return
    }
    this.#waiting.set(turn, { turn, toOthers: new Map() })
    const { tenant } = turn.address
    if (!this.#tenants.has(tenant)) this.#tenants.set(tenant, new Map())
  }

  given(turn: FairTurn): void {
    assert.isTrue(this.#waiting.has(turn), "R1 a turn was given to someone who does not wait for one")
    assert.strictEqual(turn.state, "held")
    this.held.add(turn)
    const { address } = turn
    this.gone(turn)
    for (const [tenant, counts] of this.#tenants) {
      if (tenant === address.tenant) this.#tenants.set(tenant, new Map())
      else
        assert.isAtMost(note(counts, address.tenant), weightOf(address.tenant), "R2 a tenant had more than its share")
    }
    for (const { toOthers, turn: other } of this.#waiting.values()) {
      const { assistant, tenant } = other.address
      if (tenant !== address.tenant) continue
      // One assistant may wait for several turns: what counts is what others had since its last one.
      if (assistant === address.assistant) toOthers.clear()
      else
        assert.isAtMost(
          note(toOthers, address.assistant),
          1,
          "R3 an assistant had a second turn before another's first"
        )
    }
  }

  gone(turn: FairTurn): void {
    this.#waiting.delete(turn)
    const { tenant } = turn.address
    if (![...this.#waiting.keys()].some(({ address }) => address.tenant === tenant)) this.#tenants.delete(tenant)
  }

  get waiting(): ReadonlyArray<FairTurn> {
    return [...this.#waiting.keys()]
  }
}

const pickOf = <A>(all: ReadonlyArray<A>, pick: number): A | undefined => all[pick % Math.max(1, all.length)]

/** Lives through a course, then lets everybody have a turn: all of it must come to an end. */
const judgeLine = (open: OpenLine, { concurrency, operations }: Course): void => {
  const line = open(concurrency, weightOf)
  const judge = new Judge()
  const check = () => {
    assert.isAtMost(judge.held.size, concurrency, "R1 more turns are held than there are")
    if (judge.waiting.length > 0) assert.strictEqual(judge.held.size, concurrency, "R1 R4 a turn is free or lost")
  }
  const end = (turn: FairTurn) => {
    judge.held.delete(turn)
    const following = line.leave(turn)
    if (following !== undefined) judge.given(following)
    assert.isUndefined(line.leave(turn), "R4 the end of a turn counted twice")
    check()
  }
  for (const operation of operations) {
    if (operation.kind === "join") {
      judge.joins(line.join(anAddress(`a-${operation.assistant}`, `t-${operation.tenant}`)))
      check()
    } else if (operation.kind === "end") {
      const turn = pickOf([...judge.held], operation.pick)
      if (turn !== undefined) end(turn)
    } else {
      const turn = pickOf(judge.waiting, operation.pick)
      if (turn === undefined) continue
      judge.gone(turn)
      assert.isUndefined(line.leave(turn), "R4 who waited gave a turn away")
      check()
    }
  }
  for (const turn of judge.held) end(turn)
  assert.deepStrictEqual(judge.waiting, [], "R4 someone waits for a turn that no one holds")
}

const survives = (open: OpenLine) =>
  fc.check(
    fc.property(aCourse, (course) => judgeLine(open, course)),
    { numRuns: 2_000 }
  )

/** One queue for all, as a semaphore has. */
const firstComeFirstServed: OpenLine = (concurrency) => {
  const everybody = openTurnLine(concurrency)
  const real = new Map<FairTurn, Address>()
  const nobody = anAddress("nobody", "nobody")
  let count = 0
  return {
    // To the line all are one tenant, and every request another assistant.
    join: (address) => {
      const turn = everybody.join({ ...nobody, assistant: anAddress(`n-${count++}`).assistant })
      real.set(turn, address)
      return Object.assign(turn, { address })
    },
    leave: (turn) => everybody.leave(turn)
  }
}

/** A mistake in what the right line answers or receives. */
const wrongly =
  (change: (line: TurnLine) => Partial<TurnLine>): OpenLine =>
  (concurrency, weight) => {
    const line = openTurnLine(concurrency, weight)
    return { ...line, ...change(line) }
  }

const wrongLines: Readonly<Record<string, OpenLine>> = {
  firstComeFirstServed,
  heedsNoWeights: (concurrency) => openTurnLine(concurrency, () => 4),
  oneTooMany: (concurrency, weight) => openTurnLine(concurrency + 1, weight),
  oneTooFew: (concurrency, weight) => openTurnLine(concurrency > 1 ? concurrency - 1 : 1, weight),
  keepsThePlaceOfWhoIsGone: wrongly((line) => ({
    leave: (turn) => (turn.state === "waits" ? undefined : line.leave(turn))
  })),
  /** Two assistants of one name in two tenants are one to it. */
  mixesTenants: wrongly((line) => ({
    join: (address) => Object.assign(line.join(anAddress(address.assistant, "all")), { address })
  })),
  endsTwice: wrongly((line) => ({
    leave: (turn) => {
      const following = line.leave(turn)
      if (turn.state === "over" && following === undefined) turn.state = "held"
      return following
    }
  })),
  servesTheBusyAgain: wrongly((line) => {
    const held = new Set<string>()
    return {
      join: (address) => {
        // The one who had a turn before is let in as another assistant, ahead of its own place.
        const again = held.has(addressKey(address))
        held.add(addressKey(address))
        return Object.assign(line.join(again ? anAddress(address.assistant, `${address.tenant}-again`) : address), {
          address
        })
      }
    }
  })
}

describe("fair turns", () => {
  it("R1 R2 R3 R4 anyone who comes, ends and is interrupted, in whatever order", () => {
    const run = survives(openTurnLine)
    assert.isFalse(run.failed, String(run.errorInstance))
    assert.strictEqual(run.numRuns, 2_000)
  })

  it.each(Object.entries(wrongLines))("a wrong line is found out: %s", (_, open) => {
    assert.match(String(survives(open).errorInstance), /: R[1-4] /)
  })

  it("R2 weights are whole and at least one", () => {
    for (const weight of [0, -3, Number.NaN, 1.9]) {
      const line = openTurnLine(1, () => weight)
      const order: Array<string> = []
      let turn: FairTurn | undefined = line.join(anAddress("first"))
      for (const tenant of ["t-0", "t-0", "t-0", "t-1", "t-1"]) line.join(anAddress(`a-${order.length}`, tenant))
      while ((turn = turn === undefined ? undefined : line.leave(turn)) !== undefined) order.push(turn.address.tenant)
      assert.deepStrictEqual(order, ["t-0", "t-1", "t-0", "t-1", "t-0"])
    }
  })
})

const aCrowd = fc.record({
  concurrency: fc.integer({ min: 1, max: 3 }),
  workers: fc.array(
    fc.record({
      tenant: fc.nat(2),
      startMillis: fc.nat(20),
      workMillis: fc.nat(10),
      interruptMillis: fc.option(fc.nat(40), { nil: undefined })
    }),
    { minLength: 1, maxLength: 25 }
  )
})
type Crowd = typeof aCrowd extends fc.Arbitrary<infer C> ? C : never

type Bound = ReturnType<typeof inTurns>

/** A crowd works and is interrupted; after it, exactly as many as before can work at once. */
const judgeBound = (bounded: (concurrency: number) => Bound, { concurrency, workers }: Crowd) =>
  Effect.gen(function* () {
    const bound = bounded(concurrency)
    let atOnce = 0
    const inside = (millis: number) =>
      Effect.suspend(() => {
        assert.isAtMost(++atOnce, concurrency, "R1 more at once than there are turns")
        return Effect.ensuring(
          Effect.sleep(millis),
          Effect.sync(() => atOnce--)
        )
      })
    const fibers = yield* Effect.forEach(workers, ({ interruptMillis, startMillis, tenant, workMillis }, index) =>
      Effect.gen(function* () {
        const address = anAddress(`a-${index}`, `t-${tenant}`)
        const fiber = yield* Effect.forkChild(Effect.delay(bound(inside(workMillis), address), startMillis))
        if (interruptMillis !== undefined) {
          yield* Effect.forkChild(Effect.delay(Fiber.interrupt(fiber), interruptMillis))
        }
        return fiber
      })
    )
    yield* TestClock.adjust(1_000)
    const after = yield* Effect.forEach(Array.from({ length: concurrency + 1 }), (_, index) =>
      Effect.forkChild(bound(inside(1), anAddress(`late-${index}`, `t-${index}`)))
    )
    yield* TestClock.adjust(0)
    assert.strictEqual(atOnce, concurrency, "R4 turns were lost or doubled")
    yield* TestClock.adjust(10)
    for (const fiber of [...fibers, ...after]) assert.isDefined(fiber.pollUnsafe(), "R4 someone waits for ever")
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

const crowdSurvives = (bounded: (concurrency: number) => Bound) =>
  fc.check(
    fc.asyncProperty(aCrowd, (crowd) => Effect.runPromise(judgeBound(bounded, crowd))),
    { numRuns: 150 }
  )

/** Gives its turn back only when its work began. */
const losesOnInterrupt = (concurrency: number): Bound => {
  const line = openTurnLine(concurrency)
  return (work, address) =>
    Effect.suspend(() => {
      const turn = line.join(address)
      const leave = Effect.suspend(() => {
        const following = line.leave(turn)
        return following === undefined ? Effect.void : Latch.open(following.given)
      })
      return Effect.andThen(turn.state === "held" ? Effect.void : Latch.await(turn.given), Effect.ensuring(work, leave))
    })
}

const nobodyIsAsked = (): Bound => (work) => work

describe("work in fair turns", () => {
  it("R1 R4 a crowd that is interrupted at any moment loses and doubles no turn", { timeout: 60_000 }, async () => {
    const run = await crowdSurvives((concurrency) => inTurns(openTurnLine(concurrency)))
    assert.isFalse(run.failed, String(run.errorInstance))
    assert.strictEqual(run.numRuns, 150)
  })

  it.each([
    ["losesOnInterrupt", losesOnInterrupt],
    ["nobodyIsAsked", nobodyIsAsked]
  ])("a wrong bound is found out: %s", { timeout: 60_000 }, async (_, bounded) => {
    assert.match(String((await crowdSurvives(bounded)).errorInstance), /: R[1-4] /)
  })
})
