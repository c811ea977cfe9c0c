import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { bearer, type Rig, openRig, SECRETS, tokens } from "./rig.ts"

const north = bearer(SECRETS.north)
const PATH = "/v1/events"

interface Asked {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Every request is sent to both; two streams a token are allowed. */
const corpus: ReadonlyArray<Asked> = [
  { path: PATH },
  { path: `${PATH}?after=0` },
  { path: `${PATH}?after=0&assistant=desk` },
  { path: `${PATH}?after=0&assistant=nothing` },
  { path: `${PATH}?assistant=${"x".repeat(128)}` },
  { path: `${PATH}?assistant=${"x".repeat(129)}` },
  { path: `${PATH}?assistant=` },
  { path: `${PATH}?after=` },
  { path: `${PATH}?after=-1` },
  { path: `${PATH}?after=1.5` },
  { path: `${PATH}?after=1e3` },
  { path: `${PATH}?after=9007199254740993` },
  { path: `${PATH}?after=0&after=1` },
  { path: `${PATH}?unknown=1` },
  { path: `${PATH}?after=%30` },
  { path: `${PATH}?after=0?x` },
  { path: `${PATH}?after=+0` },
  { path: `${PATH}?after=0#x` },
  { path: `${PATH}?` },
  { path: `${PATH}?&&after=0&` },
  { path: PATH, headers: { "last-event-id": "" } },
  { path: PATH, headers: { "last-event-id": "1" } },
  { path: PATH, headers: { "last-event-id": "1.001" } },
  { path: PATH, headers: { "last-event-id": "yesterday" } },
  { path: PATH, headers: { "last-event-id": "1".repeat(41) } },
  { path: `${PATH}?after=0`, headers: { "last-event-id": "1" } },
  { path: PATH, headers: { authorization: "Bearer wrong-wrong-wrong-wrong" } },
  { path: PATH, headers: bearer("onlooker-secret-0123456789") },
  { path: PATH, headers: { origin: "https://evil.example" } },
  { path: PATH, headers: { accept: "application/json" } },
  { path: PATH, method: "HEAD" },
  { path: PATH, method: "POST" }
]

/** Headers that are of the moment. */
const passing = new Set(["date"])

/** Status, headers and the first piece of an answer. */
const beginningOf = ({ server }: Rig, { headers = {}, method = "GET", path }: Asked) =>
  new Promise<object>((resolve, reject) => {
    const asked = httpRequest(
      { host: "127.0.0.1", port: server.port, path, method, headers: { ...north, ...headers }, agent: false },
      (answer) => {
        const said = (text: string) => {
          const kept = Object.entries(answer.headers).filter(([name]) => !passing.has(name))
          const timeless = text.replaceAll(/"at":\d+/g, '"at":0')
          resolve({ status: answer.statusCode, headers: Object.fromEntries(kept), text: timeless })
          answer.destroy()
        }
        answer.once("data", (chunk: Buffer) => said(chunk.toString("utf8")))
        answer.once("end", () => said(""))
      }
    )
    asked.once("error", reject)
    asked.end()
  })

const noStreams = async ({ ask }: Rig): Promise<void> => {
  while (!(await ask("/metrics", { headers: north })).text.includes("reverie_http_streams 0")) {
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const answersOf = async (shortcut: boolean) => {
  const rig = await openRig({ tokens, shortcut, fleetRole: "api", maxStreams: 2 })
  const tenant = rig.fleet.forTenant("north")
  await tenant.create("desk")
  await tenant.send("desk", "One.", { id: "one" })
  const answers: Array<object> = []
  for (const asked of corpus) {
    answers.push(await beginningOf(rig, asked))
    await noStreams(rig)
  }
  return { answers, trouble: rig.trouble }
}

describe("the door of the event stream", () => {
  it("D1 answers what the router answers", async () => {
    const [door, router] = [await answersOf(true), await answersOf(false)]
    for (const [index, answer] of door.answers.entries()) {
      assert.deepStrictEqual(answer, router.answers[index], `${index}: ${JSON.stringify(corpus[index])}`)
    }
    assert.deepStrictEqual([...door.trouble, ...router.trouble], [])
    const statuses = new Set(door.answers.map((answer) => Number(Reflect.get(answer, "status"))))
    assert.includeMembers([...statuses], [200, 400, 401, 405])
  })

  it("D2 Q4 a client that is cut right behind its request leaves no stream, and its place is free at once", async () => {
    for (const shortcut of [true, false]) {
      const rig = await openRig({ shortcut, maxStreams: 3 })
      for (let round = 0; round < 20; round++) {
        const sockets = Array.from({ length: 3 }, () => connect(rig.server.port, "127.0.0.1"))
        await Promise.all(
          sockets.map(
            (socket) =>
              new Promise((resolve) => {
                socket.once("close", resolve).on("error", () => {})
                socket.write("GET /v1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", () =>
                  round % 2 === 0 ? socket.resetAndDestroy() : socket.destroy()
                )
              })
          )
        )
      }
      await noStreams(rig)
      assert.deepStrictEqual(rig.trouble, [])
    }
  })
})
