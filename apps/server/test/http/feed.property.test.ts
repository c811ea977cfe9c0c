import { assert, describe, it } from "@effect/vitest"
import { noticesOf } from "@reverie/protocol"
import * as fc from "fast-check"
import type { OutboxRow } from "reverie"
import { Feed } from "../../src/feed/feed.ts"
import { type Outbox, OutboxReader } from "../../src/feed/outbox-reader.ts"
import { placeIn } from "../../src/feed/frame.ts"
import type { Subscriber } from "../../src/feed/subscriber.ts"
import { Tail } from "../../src/feed/tail.ts"
import type { Loose } from "./rig.ts"
import { Sse } from "./sse.ts"

const TENANTS = ["north", "south"] as const

/** An entry with one to four notices. */
const rowOf = (seq: number, tenant: string, assistant: string, size: number): OutboxRow =>
  ({
    seq,
    address: { tenant, assistant },
    entry: {
      v: 1,
      no: seq,
      at: seq,
      epoch: 1,
      tick: 1,
      iteration: 0,
      cause: { kind: "timer", name: "t" },
      event: null,
      status: "awake.idle",
      messages: [],
      settled: Array.from({ length: size }, (_, index) => ({ id: `${seq}/${index}`, outcome: "handled" }))
    }
  }) as unknown as OutboxRow

/** A store in memory; `gap` leaves numbers out, as a store does whose transactions were rolled back. */
class FakeOutbox implements Outbox {
  readonly rows: Array<OutboxRow> = []
  reads = 0
  #listeners = new Set<(notice: Loose) => void>()

  commit(tenant: string, assistant: string, size: number, gap: number, isTold: boolean): void {
    const row = rowOf((this.rows.at(-1)?.seq ?? 0) + 1 + gap, tenant, assistant, size)
    this.rows.push(row)
    if (isTold)
      for (const listener of this.#listeners)
        for (const notice of noticesOf(row.address, row.seq, row.entry)) listener(notice)
  }

  async read(after: number, limit: number): Promise<ReadonlyArray<OutboxRow>> {
    this.reads++
    await new Promise((resolve) => setImmediate(resolve))
    return this.rows.filter(({ seq }) => seq > after).slice(0, limit)
  }

  async end(): Promise<number> {
    return this.rows.at(-1)?.seq ?? 0
  }

  listen(listener: (notice: Loose) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

const keyOf = (notice: Loose): string => `${notice.seq} ${notice.type} ${notice.envelope ?? ""}`

const expected = (outbox: FakeOutbox, tenant: string, assistant: string | undefined, from: number) =>
  outbox.rows
    .filter(
      ({ address, seq }) =>
        seq > from && address.tenant === tenant && (assistant ?? address.assistant) === address.assistant
    )
    .flatMap(({ address, entry, seq }) => noticesOf(address, seq, entry).map(keyOf))

/** A listener whose connection breaks after any byte, and who comes back with the last id. */
class Client {
  readonly heard: Array<string> = []
  #sse = new Sse()
  #stream: Subscriber | undefined
  #from: number | undefined
  readonly tenant: string
  readonly assistant: string | undefined

  constructor(tenant: string, assistant: string | undefined) {
    this.tenant = tenant
    this.assistant = assistant
  }

  get from(): number {
    return this.#from ?? 0
  }

  async connect(feed: Feed): Promise<void> {
    if (this.#stream !== undefined) return
    const lastId = this.#sse.lastId
    const from = lastId === undefined ? undefined : placeIn(lastId)
    this.#sse = new Sse()
    this.#sse.lastId = lastId
    const filter = this.assistant === undefined ? {} : { assistant: this.assistant }
    this.#stream = await feed.open({
      tenant: this.tenant,
      principal: this.tenant,
      ...filter,
      ...(from === undefined ? {} : { from })
    })
  }

  /** Takes at most so many characters of what lies ready. */
  take(chars: number): void {
    this.#stream?.setEncoding("utf8")
    const text: unknown = this.#stream?.read(Math.min(chars, this.#stream.readableLength))
    if (typeof text === "string") this.#read(text)
  }

  /** What is half told is lost with the connection. */
  cut(): void {
    this.#stream?.destroy()
    this.#stream = undefined
  }

  #read(text: string): void {
    const before = this.#sse.events.length
    this.#sse.read(text)
    if (this.#from === undefined && this.#sse.lastId !== undefined) this.#from = Number(this.#sse.lastId)
    for (const { notice } of this.#sse.events.slice(before)) this.heard.push(keyOf(notice))
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("commit" as const),
      tenant: fc.nat(1),
      assistant: fc.nat(1),
      size: fc.nat(3),
      gap: fc.nat(1),
      isTold: fc.boolean()
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("burst" as const),
      count: fc.integer({ min: 50, max: 900 }),
      size: fc.nat(3)
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      who: fc.nat(2),
      chars: fc.integer({ min: 1, max: 3_000 })
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cut" as const), who: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("connect" as const), who: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("turn" as const) }) }
)

const rig = () => {
  const outbox = new FakeOutbox()
  const reader = new OutboxReader({
    outbox: {
      read: (after, limit) => outbox.read(after, limit),
      end: () => outbox.end(),
      listen: (listener) => outbox.listen(listener)
    },
    pollMillis: 2,
    onTrouble: () => {}
  })
  const feed = new Feed({ outbox, reader, maxStreams: 10, beatMillis: 3, maxStalledBeats: Infinity })
  return { outbox, reader, feed }
}

describe("feed", () => {
  it(
    "D1 D2 U1 P2 O1 whatever is committed, cut and joined again: each receives everything once, in order",
    { timeout: 240_000 },
    async () => {
      let heardInAll = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
          const { feed, outbox, reader } = rig()
          outbox.rows.push(rowOf(1, "north", "a", 1), rowOf(2, "south", "a", 1))
          const clients = [new Client("north", undefined), new Client("south", undefined), new Client("north", "b")]
          try {
            for (const client of clients) await client.connect(feed)
            for (const client of clients)
              while (client.from === 0) {
                await turn()
                client.take(30)
              }
            for (const each of steps) {
              if (each.do === "commit")
                outbox.commit(
                  TENANTS[each.tenant] ?? "",
                  each.assistant === 0 ? "a" : "b",
                  each.size,
                  each.gap,
                  each.isTold
                )
              if (each.do === "burst")
                for (let count = 0; count < each.count; count++)
                  outbox.commit("north", count % 3 === 0 ? "b" : "a", each.size, 0, count % 5 === 0)
              if (each.do === "take") clients[each.who]?.take(each.chars)
              if (each.do === "cut") clients[each.who]?.cut()
              if (each.do === "connect") await clients[each.who]?.connect(feed)
              if (each.do === "turn") await turn()
            }
            for (const client of clients) {
              await client.connect(feed)
              const all = expected(outbox, client.tenant, client.assistant, client.from)
              for (let tries = 0; client.heard.length < all.length && tries < 2_000; tries++) {
                await turn()
                client.take(1_000_000)
              }
              await turn()
              client.take(1_000_000)
              assert.deepStrictEqual(client.heard, all)
              heardInAll += all.length
            }
          } finally {
            for (const client of clients) client.cut()
            feed.close()
            reader.close()
          }
          await turn()
          assert.strictEqual(feed.size, 0)
        }),
        { numRuns: 60 }
      )
      assert.isAbove(heardInAll, 1_000)
    }
  )

  it("D1 those who keep up are served from one reading of the store", async () => {
    const { feed, outbox, reader } = rig()
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => feed.open({ tenant: "north", principal: "one" }))
    )
    for (const stream of streams) stream.resume()
    await turn()
    const before = outbox.reads
    for (let count = 0; count < 1_000; count++) outbox.commit("north", "a", 1, 0, true)
    while (reader.position < 1_000) await turn()
    // Two batches of 500, one that was empty, and what the poll adds; not ten times as many.
    assert.isBelow(outbox.reads - before, 40)
    feed.close()
    reader.close()
  })

  it("U2 a reader who does not read costs a bounded buffer, and misses nothing", async () => {
    const { feed, outbox, reader } = rig()
    const slow = await feed.open({ tenant: "north", principal: "one" })
    slow.setEncoding("utf8")
    slow.read(0)
    await turn()
    for (let count = 0; count < 20_000; count++) outbox.commit("north", "a", 1, 0, count % 100 === 0)
    while (reader.position < 20_000) await turn()
    assert.isBelow(slow.readableLength, 300_000)
    const sse = new Sse()
    slow.on("data", (text: string) => sse.read(text))
    while (sse.events.length < 40_000) await turn()
    assert.deepStrictEqual(
      sse.events.map(({ notice }) => keyOf(notice)),
      expected(outbox, "north", undefined, 0)
    )
    feed.close()
    reader.close()
  })

  it("so many streams of one principal, and no more", async () => {
    const { feed, reader } = rig()
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => feed.open({ tenant: "north", principal: "one" }))
    )
    const refusal = await feed.open({ tenant: "north", principal: "one" }).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.strictEqual(Reflect.get(refusal as object, "_tag"), "LimitReached")
    assert.isDefined(await feed.open({ tenant: "north", principal: "another" }))
    streams[0]?.destroy()
    await turn()
    assert.isDefined(await feed.open({ tenant: "north", principal: "one" }))
    feed.close()
    reader.close()
  })

  it("O3 a store that does not answer for a while loses nothing", async () => {
    const { outbox } = rig()
    let isAway = false
    const trouble: Array<string> = []
    const reader = new OutboxReader({
      outbox: {
        read: (after, limit) => (isAway ? Promise.reject(new Error("away")) : outbox.read(after, limit)),
        end: () => outbox.end(),
        listen: () => () => {}
      },
      pollMillis: 1,
      onTrouble: (line) => trouble.push(line)
    })
    const heard: Array<number> = []
    reader.listen((rows) => heard.push(...rows.map(({ seq }) => seq)))
    await reader.start()
    outbox.commit("north", "a", 1, 0, false)
    while (heard.length < 1) await turn()
    isAway = true
    for (let count = 0; count < 10; count++) outbox.commit("north", "a", 1, 0, false)
    while (trouble.length === 0) await turn()
    isAway = false
    while (heard.length < 11) await turn()
    assert.deepStrictEqual(
      heard,
      outbox.rows.map(({ seq }) => seq)
    )
    assert.lengthOf(trouble, 1)
    reader.close()
  })

  it("T1 the tail is bounded, and knows what it has let go", () => {
    const tail = new Tail()
    tail.reset(10)
    for (let seq = 11; seq <= 20_000; seq++) tail.add({ seq, tenant: "t", assistant: "a", frames: ["x"], chars: 1 })
    assert.isUndefined(tail.after(10))
    assert.isUndefined(tail.after(15_000))
    assert.deepStrictEqual(
      [...(tail.after(19_998) ?? [])].map(({ seq }) => seq),
      [19_999, 20_000]
    )
    assert.deepStrictEqual([...(tail.after(20_000) ?? [])], [])
    assert.strictEqual([...(tail.after(20_000 - 4_096) ?? [])].length, 4_096)
  })
})
