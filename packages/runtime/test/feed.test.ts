import { assert, describe, it } from "@effect/vitest"
import { Ledger, LedgerUnavailable } from "@reverie/ledger"
import type { Notice } from "@reverie/protocol"
import { anAddress, anEntry, aState, MemoryDisk, memoryStore } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { feedLayer, lookedFor, NoticeHub } from "@reverie/runtime"

const created = (ledger: Ledger["Service"], name: string) =>
  ledger.create({ address: anAddress(name), state: aState(), entry: anEntry() })

describe("the feed", () => {
  it.effect("D1 tells of what others committed after the opening, once and in order", () => {
    const { ledger } = memoryStore(new MemoryDisk())
    const told: Array<string> = []
    return Effect.gen(function* () {
      yield* created(ledger, "before")
      const program = Effect.gen(function* () {
        const hub = yield* NoticeHub
        hub.listen(({ address, type }: Notice) => told.push(`${address.assistant} ${type}`))
        for (const name of ["ada", "bo"]) yield* created(ledger, name)
        yield* TestClock.adjust(500)
        hub.tellEntry(anAddress("ada"), 2, anEntry())
        yield* TestClock.adjust(500)
        for (let count = 0; count < 300; count++) yield* created(ledger, `c-${count}`)
        yield* TestClock.adjust(500)
      })
      yield* Effect.provide(program, feedLayer())
      const names = told.map((line) => line.split(" ")[0])
      assert.deepStrictEqual(
        [...new Set(names)],
        ["ada", "bo", ...Array.from({ length: 300 }, (_, each) => `c-${each}`)]
      )
      assert.strictEqual(new Set(told).size, told.length)
    }).pipe(Effect.provideService(Ledger, ledger))
  })

  it.effect("D3 goes on when a store that did not answer answers again", () => {
    const { ledger } = memoryStore(new MemoryDisk())
    let down = false
    const flaky: Ledger["Service"] = {
      ...ledger,
      outbox: (after, limit) =>
        Effect.suspend(() =>
          down
            ? Effect.fail(new LedgerUnavailable({ operation: "outbox", message: "gone" }))
            : ledger.outbox(after, limit)
        )
    }
    const told: Array<string> = []
    const program = Effect.gen(function* () {
      const hub = yield* NoticeHub
      hub.listen(({ address }: Notice) => told.push(address.assistant))
      down = true
      yield* created(ledger, "ada")
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(told, [])
      down = false
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual([...new Set(told)], ["ada"])
    })
    return Effect.provide(program, feedLayer()).pipe(Effect.provideService(Ledger, flaky))
  })

  it.effect("D2 reads no entry while no one listens, and tells all that follows the first listening", () => {
    const { ledger } = memoryStore(new MemoryDisk())
    let read = 0
    const counting: Ledger["Service"] = {
      ...ledger,
      outbox: (after, limit) =>
        Effect.tap(ledger.outbox(after, limit), (rows) => Effect.sync(() => (read += rows.length)))
    }
    const told: Array<string> = []
    const program = Effect.gen(function* () {
      const hub = yield* NoticeHub
      for (let count = 0; count < 20; count++) {
        yield* created(ledger, `unheard-${count}`)
        yield* TestClock.adjust(100)
      }
      assert.strictEqual(read, 0)
      hub.listen(({ address }: Notice) => told.push(address.assistant))
      yield* created(ledger, "ada")
      yield* TestClock.adjust(100)
      assert.include(told, "ada")
      assert.notInclude(told, "unheard-0")
    })
    return Effect.provide(program, feedLayer()).pipe(Effect.provideService(Ledger, counting))
  })
})

describe("looking for something", () => {
  const ada = anAddress("ada")
  const isAdas = ({ address }: Notice) => address.assistant === ada.assistant

  it.effect(
    "L1 it looks once and after each notice that is about it, however long that takes; then it stops listening",
    () =>
      Effect.gen(function* () {
        const hub = yield* NoticeHub
        let looks = 0
        let found: string | undefined
        const look = Effect.sync(() => (looks++, found))
        const looking = yield* Effect.forkChild(lookedFor(isAdas, look))
        yield* TestClock.adjust(60_000)
        assert.strictEqual(looks, 1)
        hub.tellEntry(anAddress("bo"), 1, anEntry())
        yield* TestClock.adjust(1_000)
        assert.strictEqual(looks, 1)
        hub.tellEntry(ada, 2, anEntry())
        yield* TestClock.adjust(1_000)
        assert.strictEqual(looks, 2)
        found = "it"
        hub.tellEntry(ada, 3, anEntry())
        assert.strictEqual(yield* Fiber.join(looking), "it")
        assert.strictEqual(looks, 3)
        assert.isFalse(hub.isHeard())
      }).pipe(Effect.provide(NoticeHub.layer))
  )

  it.effect("I2 a listener to one type hears no other, and no one is said to listen to the others", () =>
    Effect.gen(function* () {
      const hub = yield* NoticeHub
      const heard: Array<string> = []
      const note = ({ type }: Notice) => void heard.push(type)
      const stop = hub.listen(note, "state-changed")
      hub.tellEntry(ada, 1, anEntry({ cause: { kind: "creation" } }))
      assert.deepStrictEqual(heard, ["state-changed"])
      assert.deepStrictEqual([hub.isHeard(), hub.isHeard("state-changed"), hub.isHeard("part")], [true, true, false])
      const stopAll = hub.listen(note)
      assert.isTrue(hub.isHeard("part"))
      stopAll()
      assert.deepStrictEqual([hub.isHeard("state-changed"), hub.isHeard("part")], [true, false])
      stop()
      assert.isFalse(hub.isHeard())
    }).pipe(Effect.provide(NoticeHub.layer))
  )

  it.effect("L2 a commit while it looks is not missed", () =>
    Effect.gen(function* () {
      const hub = yield* NoticeHub
      let looks = 0
      const look = Effect.sync(() => {
        if (++looks === 1) hub.tellEntry(ada, 1, anEntry())
        return looks === 2 ? "it" : undefined
      })
      assert.strictEqual(yield* lookedFor(isAdas, look), "it")
    }).pipe(Effect.provide(NoticeHub.layer))
  )
})
