import { assert, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { benchScript, hostileModeNames, hostileModes, saying, startModelServer } from "../src/model-server/index.ts"

const ask = async (url: string, body: object): Promise<string> => {
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body) })
  return response.text()
}

const tools = [{ type: "function", function: { name: "note" } }]
const person = { role: "user", content: "hello" }
const result = { role: "tool", content: "done", tool_call_id: "call_0" }

const messageOf = (text: string) =>
  (JSON.parse(text) as { readonly choices: ReadonlyArray<{ readonly message: Record<string, unknown> }> }).choices[0]
    ?.message

const toldBy = (stream: string): string =>
  stream
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as { choices: ReadonlyArray<{ delta?: { content?: string | null } }> })
    .map(({ choices }) => choices[0]?.delta?.content ?? "")
    .join("")

it("W1 both forms of a scripted answer say the same, and requests are recorded", async () => {
  const server = await startModelServer({ script: saying("A text that is longer than one piece of a stream.") })
  const whole = messageOf(await ask(server.url, { model: "m", messages: [person], tools }))
  const stream = await ask(server.url, { model: "m", messages: [person], stream: true })
  assert.strictEqual(toldBy(stream), whole?.["content"])
  assert.isTrue(stream.endsWith("data: [DONE]\n\n"))
  assert.deepStrictEqual(
    server.requests.map(({ model, stream, tools }) => ({ model, stream, tools })),
    [
      { model: "m", stream: false, tools: ["note"] },
      { model: "m", stream: true, tools: [] }
    ]
  )
  await server.close()
})

it("a sequence plays one behaviour a request and stays with the last", async () => {
  const server = await startModelServer({
    sequence: [{ script: saying("one") }, { mode: "status-500" }, { script: saying("two") }]
  })
  const said: Array<string> = []
  for (let round = 0; round < 4; round++) said.push(await ask(server.url, { messages: [person] }))
  assert.deepStrictEqual(
    said.map((text) => /"content":"(\w+)"/.exec(text)?.[1] ?? "error"),
    ["one", "error", "two", "two"]
  )
  await server.close()
})

it("M1 a closed server hangs up on anyone who still waits, and listens no more", async () => {
  const server = await startModelServer({ mode: "headers-hang" })
  const arrived = server.nextRequest()
  const waiting = ask(server.url, { messages: [] }).then(
    () => "answered",
    () => "hung up on"
  )
  await arrived
  await server.close()
  assert.strictEqual(await waiting, "hung up on")
  assert.strictEqual(await ask(server.url, {}).catch(() => "refused"), "refused")
})

it("H1 every mode has a face, a sentence and a verdict", () => {
  assert.isAtLeast(hostileModeNames.length, 20)
  for (const name of hostileModeNames) {
    const mode = hostileModes[name]
    assert.isTrue(mode.plain !== undefined || mode.stream !== undefined, name)
    assert.isAbove(mode.says.length, 5, name)
    assert.strictEqual(Number("error" in mode.leadsTo) + Number("reply" in mode.leadsTo), 1, name)
  }
})

it("the script of the benchmarks answers a person with a call of the first tool, and a result with a text", () => {
  const request = {
    path: "/v1/chat/completions",
    model: "m",
    stream: false,
    tools: ["note", "other"],
    input: [],
    headers: {},
    body: {}
  }
  const called = benchScript({ ...request, messages: [person] })
  assert.deepStrictEqual(
    called.calls?.map(({ tool }) => tool),
    ["note"]
  )
  assert.isString(Reflect.get(Object(called.calls?.[0]?.arguments), "text"))
  const answered = benchScript({ ...request, messages: [person, result] })
  assert.isUndefined(answered.calls)
  assert.isString(answered.text)
})

it("the process of the benchmarks prints its URL as one line, serves, and ends with its standard input", async () => {
  const main = fileURLToPath(new URL("../src/model-server/main.ts", import.meta.url))
  const child = spawn(process.execPath, [main], { stdio: ["pipe", "pipe", "inherit"] })
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const line = await new Promise<string>((resolve) =>
    child.stdout.once("data", (data: Buffer) => resolve(data.toString()))
  )
  const { url } = JSON.parse(line) as { readonly url: string }
  assert.match(line, /^\{.*\}\n$/)
  const called = messageOf(await ask(url, { model: "m", messages: [person], tools }))
  assert.isArray(called?.["tool_calls"])
  const answered = messageOf(await ask(url, { model: "m", messages: [person, result], tools }))
  assert.isString(answered?.["content"])
  child.stdin.end()
  assert.strictEqual(await ended, 0)
})
