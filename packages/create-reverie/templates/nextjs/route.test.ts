import assert from "node:assert/strict"
import { after, test } from "node:test"
import { POST } from "./app/api/chat/route.ts"
import { openFleet } from "./server.ts"

// In memory, and with the stand-in model. The fleet is opened with the first request.
process.env["REVERIE_DATA"] = ":memory:"
for (const name of ["DATABASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"]) delete process.env[name]

after(async () => (await openFleet()).close())

const post = (body: string) => POST(new Request("http://localhost/api/chat", { method: "POST", body }))

test("answers with what the tool found, as a stream of text", async () => {
  const response = await post(JSON.stringify({ text: '/opening_hours day="Sunday"' }))
  assert.equal(response.status, 200)
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain/)
  assert.match(await response.text(), /closed/)
})

test("keeps the conversation: the next request finds it", async () => {
  await (await post(JSON.stringify({ text: "My name is Ann." }))).text()
  const fleet = await openFleet()
  const { hits } = await fleet.memory.recall("host", "Ann", { kinds: ["message"] })
  assert.ok(hits.some(({ entry }) => entry.text.includes("My name is Ann.")))
})

test("refuses what is no message", async () => {
  for (const body of ["", "[]", '{"text": ""}', '{"text": 7}']) assert.equal((await post(body)).status, 400)
})
