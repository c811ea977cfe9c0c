import { assert, describe, it } from "@effect/vitest"
import { assertFailure, type Rig, openRig } from "./rig.ts"
import { Sse } from "./sse.ts"

/** Listens until told to stop. */
const listen = async ({ server }: Rig, query = "", headers: Readonly<Record<string, string>> = {}) => {
  const leaving = new AbortController()
  const response = await fetch(`${server.url}/v1/events${query}`, { headers, signal: leaving.signal })
  assert.strictEqual(response.status, 200)
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
  const sse = new Sse()
  const ended = (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) sse.read(decoder.decode(chunk as Uint8Array, { stream: true }))
    } catch {
      // Anyone who leaves hears no more.
    }
  })()
  const until = async (is: (sse: Sse) => boolean) => {
    while (!is(sse)) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const leave = async () => {
    leaving.abort()
    await ended
  }
  return { sse, ended, until, leave }
}

const settledIn = (sse: Sse, envelope: string): boolean =>
  sse.events.some(({ notice, type }) => type === "envelope-settled" && notice.envelope === envelope)

describe("the event stream by HTTP", () => {
  it("H1 tells what is committed, with its position; who comes back misses nothing and receives nothing twice", async () => {
    const rig = await openRig()
    const { fleet, post } = rig
    const first = await listen(rig)
    await post("/v1/assistants/desk/messages", { text: "One.", id: "one" })
    await first.until((sse) => settledIn(sse, "one"))
    await first.leave()
    await post("/v1/assistants/desk/messages", { text: "Two.", id: "two" })
    await fleet.idle()
    const second = await listen(rig, "", { "last-event-id": first.sse.lastId ?? "" })
    await post("/v1/assistants/clerk/messages", { text: "Three.", id: "three" })
    await second.until((sse) => settledIn(sse, "three"))
    await second.leave()
    const { notices } = await fleet.outbox.notices(2, 1_000)
    const durable = [...first.sse.events, ...second.sse.events].filter(({ id }) => id !== undefined)
    assert.deepStrictEqual(
      durable.map(({ notice }) => notice),
      JSON.parse(JSON.stringify(notices))
    )
    assert.deepStrictEqual(
      durable.map(({ id }) => Number(id)),
      durable.map(({ id }) => Number(id)).toSorted((a, b) => a - b)
    )
    for (const { notice, type } of durable) assert.strictEqual(notice.type, type)
    // A piece of a reply has no id: anyone who comes back with the last one has it whole.
    assert.isTrue(
      [...first.sse.events, ...second.sse.events].some(({ id, type }) => type === "part" && id === undefined)
    )
  })

  it("tells of one assistant only where that is asked, and from a position", async () => {
    const rig = await openRig()
    const { fleet } = rig
    await fleet.send("desk", "One.", { id: "one" })
    await fleet.send("clerk", "Two.", { id: "two" })
    await fleet.idle()
    const clerk = await listen(rig, "?after=0&assistant=clerk")
    await clerk.until((sse) => settledIn(sse, "two"))
    await clerk.leave()
    assert.isTrue(clerk.sse.events.every(({ notice }) => notice.address.assistant === "clerk"))
    assert.strictEqual(clerk.sse.events[0]?.type, "created")
    assertFailure(await rig.ask("/v1/events", { headers: { "last-event-id": "yesterday" } }), 400, "Malformed")
    assertFailure(await rig.ask("/v1/events?after=-1"), 400, "Malformed")
  })

  it("a place of another store learns what is new, at once", async () => {
    const rig = await openRig()
    const lost = await listen(rig, "", { "last-event-id": "999999999" })
    await rig.post("/v1/assistants/desk/messages", { text: "One.", id: "one" })
    await lost.until((sse) => settledIn(sse, "one"))
    await lost.leave()
  })

  it("S2 closing ends every stream; leaving frees the place", async () => {
    const rig = await openRig({ maxStreams: 2 })
    const [one, two] = [await listen(rig), await listen(rig)]
    const refused = await rig.ask("/v1/events")
    assertFailure(refused, 429, "LimitReached")
    assert.strictEqual(refused.headers["retry-after"], "5")
    await one?.leave()
    while (!(await rig.ask("/metrics")).text.includes("reverie_http_streams 1")) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const three = await listen(rig)
    await rig.server.close()
    await Promise.all([two?.ended, three.ended])
  })
})
