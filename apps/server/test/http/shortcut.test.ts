import { assert, describe, it } from "@effect/vitest"
import { MAX_PARTS_BYTES } from "../../src/http/body.ts"
import { type Answer, type Asking, bearer, type Loose, openRig, SECRETS, tokens } from "./rig.ts"

const JSON_TYPE = { "content-type": "application/json" }
const north = { ...JSON_TYPE, ...bearer(SECRETS.north) }
const PATH = "/v1/assistants/desk/messages"

const post = (body: unknown, headers: Readonly<Record<string, string>> = north, path = PATH): [string, Asking] => [
  path,
  { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) }
]

const FORM = { type: "object", properties: { berth: { type: "number" } }, required: ["berth"] }

/** Every request is sent to both, in this order. */
const corpus: ReadonlyArray<readonly [string, Asking]> = [
  post({ text: "Hello.", id: "one" }),
  post({ text: "Hello.", id: "one" }),
  post({ text: "Another text.", id: "one" }),
  post({ text: "Hello." }, { ...north, "idempotency-key": "two" }),
  post({ text: "Hello.", id: "two" }, { ...north, "idempotency-key": "two" }),
  post({ text: "Hello.", id: "two" }, { ...north, "idempotency-key": "three" }),
  post({ text: "Hello.", id: "four" }, { ...north, "idempotency-key": "" }),
  post({ text: "Hello.", id: "five" }, { ...north, traceparent: "x".repeat(64) }),
  post({ text: "Hello.", id: "six" }, { ...north, traceparent: "x".repeat(65) }),
  post({ text: "Hello.", id: "x".repeat(256) }),
  post({ text: "Hello.", id: "x".repeat(257) }),
  post({ text: "Hello.", id: "" }),
  post({ text: "", id: "seven" }),
  post({ text: "x".repeat(1_000_000), id: "eight" }),
  post({ text: "x".repeat(1_000_001), id: "nine" }),
  post({ text: "x".repeat(MAX_PARTS_BYTES), id: "ten" }),
  post({ text: "Hello.", id: "eleven", from: "somebody", channel: "room", blocks: ["block"] }),
  post({ text: "Hello.", id: "twelve", blocks: Array.from({ length: 33 }, () => "b") }),
  post({ text: "Hello.", id: "thirteen", unknown: { deep: [1] } }),
  post({ txt: "Hello.", id: "thirteen" }),
  post({ text: "Which berth?", id: "nineteen", output: FORM }),
  post({ text: "Which berth?", id: "nineteen", output: { ...FORM, required: ["from"] } }),
  post({ text: "Which berth?", id: "twenty", output: { type: "array" } }),
  post({ text: "Which berth?", id: "twenty", output: { ...FORM, description: "x".repeat(33_000) } }),
  post({ text: "Which berth?", id: "twenty", output: "a berth" }),
  post({ text: "\u202Egnp.exe \u0000 \ud800", id: "fourteen" }),
  post({ text: null, id: "a" }),
  post({ text: 1 }),
  post({}),
  post("[]"),
  post("null"),
  post("{"),
  post(""),
  post('{"text":"a","__proto__":1}'),
  post({ text: "Hello.", id: "a" }, { ...north, "content-type": "text/plain" }),
  post({ text: "Hello.", id: "a" }, JSON_TYPE),
  post({ text: "Hello.", id: "a" }, { ...JSON_TYPE, ...bearer("wrong-wrong-wrong-wrong") }),
  post({ text: "Hello.", id: "a" }, { ...JSON_TYPE, ...bearer("onlooker-secret-0123456789") }),
  post({ text: "Hello.", id: "a" }, { ...north, origin: "https://evil.example" }),
  post({ text: "Hello.", id: "a" }, north, "/v1/assistants/nobody/messages"),
  post({ text: "Hello.", id: "a" }, north, "/v1/assistants/a%2Fb/messages"),
  post({ text: "Hello.", id: "a" }, north, "/v1/assistants/%20/messages"),
  post({ text: "Hello.", id: "fifteen" }, north, "/v1/assistants/%64esk/messages"),
  post({ text: "Hello.", id: "a" }, north, `/v1/assistants/${"x".repeat(128)}/messages`),
  post({ text: "Hello.", id: "a" }, north, `/v1/assistants/${"x".repeat(129)}/messages`),
  post({ text: "Hello.", id: "a" }, north, "/v1/assistants/__proto__/messages"),
  post({ text: "Hello.", id: "sixteen" }, north, `${PATH}?unknown=1`),
  post({ text: "Hello.", id: "seventeen" }, north, "/v1/assistants/retired/messages"),
  post({ text: "Hello.", id: "eighteen" }, { ...JSON_TYPE, ...bearer(SECRETS.south) }),
  [PATH, { method: "GET", headers: north }],
  [PATH, { method: "PUT", headers: north }]
]

/** Headers that are of the moment, or of the place. */
const passing = new Set(["date", "connection", "keep-alive"])

const comparable = ({ headers, json, status, text }: Answer) => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.has(name))),
  body: json ?? text
})

const answersOf = async (shortcut: boolean) => {
  const { ask, fleet, trouble } = await openRig({ tokens, shortcut, fleetRole: "api" })
  const north = fleet.forTenant("north")
  await north.create("desk")
  await north.create("retired", "desk")
  const answers: Array<ReturnType<typeof comparable>> = []
  for (const [path, asking] of corpus) answers.push(comparable(await ask(path, asking)))
  const audit = (await ask("/v1/audit", { headers: bearer(SECRETS.north) })).json.items
  const waiting = (await north.history.mailbox("desk", 100)).map(({ from, id, text }) => ({
    from,
    id,
    text: text?.length
  }))
  return { answers, audit: audit.map(({ at: _, ...line }: Loose) => line), waiting, trouble }
}

describe("the shortcut of messages", () => {
  it("H1 answers, keeps and writes down what the long way does", async () => {
    const [short, long] = [await answersOf(true), await answersOf(false)]
    for (const [index, answer] of short.answers.entries()) {
      assert.deepStrictEqual(answer, long.answers[index], `${index}: ${JSON.stringify(corpus[index]).slice(0, 200)}`)
    }
    assert.deepStrictEqual(short.audit, long.audit)
    assert.deepStrictEqual(short.waiting, long.waiting)
    assert.deepStrictEqual([...short.trouble, ...long.trouble], [])
    const statuses = new Set(short.answers.map(({ status }) => status))
    assert.deepStrictEqual(
      [...statuses].toSorted((a, b) => a - b),
      [200, 202, 400, 401, 403, 404, 405, 413]
    )
    assert.isAbove(short.waiting.length, 8)
  })
})
