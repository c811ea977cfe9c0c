// Client: what is asked of the API, and how a failure is reported.

import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { addressOf, ask, change, Trouble } from "../src/api/client.ts"

const asked: Array<{ readonly url: string; readonly init: RequestInit }> = []
let answer: () => Promise<Response>

beforeEach(() => {
  asked.length = 0
  const kept = new Map<string, string>()
  vi.stubGlobal("sessionStorage", { getItem: (key: string) => kept.get(key) ?? null })
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push({ url, init })
    return answer()
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const says = (status: number, body: unknown) => {
  answer = () => Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }))
}

const troubleOf = (asking: Promise<unknown>): Promise<Trouble> =>
  asking.then(
    () => expect.unreachable("it should have failed"),
    (error: unknown) => error as Trouble
  )

test("each value stands in its place, quoted; what is not said is left out", () => {
  const address = addressOf("GET /v1/assistants/:id/ticks/:tick", { params: { id: "a/b?c#d", tick: 3 }, query: {} })
  expect(address).toBe("/v1/assistants/a%2Fb%3Fc%23d/ticks/3")
  expect(addressOf("GET /v1/assistants", { query: { q: "a&b=c", limit: 3, cursor: undefined, state: "" } })).toBe(
    "/v1/assistants?q=a%26b%3Dc&limit=3"
  )
})

test("C2 each change has a key of its own, unless it is the same one again", async () => {
  says(200, { outcome: "accepted", envelope: "e" })
  const order = { params: { id: "ada" }, payload: { order: "halt" as const } }
  await change("POST /v1/assistants/:id/orders", order)
  await change("POST /v1/assistants/:id/orders", order)
  await change("POST /v1/assistants/:id/orders", order, "mine")
  const keys = asked.map(({ init }) => (init.headers as Record<string, string>)["idempotency-key"])
  expect(keys[2]).toBe("mine")
  expect(new Set(keys).size).toBe(3)
})

test("C3 a refusal is reported in the server's words", async () => {
  says(409, { _tag: "Conflict", message: "it is halted", hint: "resume it" })
  const trouble = await troubleOf(ask("GET /v1/system", {}))
  expect(trouble).toBeInstanceOf(Trouble)
  expect([trouble.tag, trouble.status, trouble.message, trouble.hint]).toEqual([
    "Conflict",
    409,
    "it is halted",
    "resume it"
  ])
})

test("C3 what does not fit is reported with its place", async () => {
  says(400, {
    _tag: "Malformed",
    message: "the request does not fit",
    issues: [{ path: ["query", "limit"], message: "too big" }]
  })
  expect((await troubleOf(ask("GET /v1/system", {}))).hint).toBe("query.limit: too big")
})

test("C3 an answer in another form, and none at all, are one clear line too", async () => {
  says(503, "<html>bad gateway</html>")
  expect((await troubleOf(ask("GET /v1/system", {}))).message).toBe("the server is not ready")
  answer = () => Promise.reject(new TypeError("Failed to fetch"))
  const silent = await troubleOf(ask("GET /v1/system", {}))
  expect([silent.tag, silent.status]).toEqual(["NoAnswer", 0])
})
