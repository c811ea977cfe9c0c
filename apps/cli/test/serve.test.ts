import { request } from "node:http"
import { afterEach, assert, describe, it } from "vitest"
import { begin, fixture, type Running, temporary } from "./command-line.ts"

const inDirectory = async (work: (data: string) => Promise<void>): Promise<void> => {
  await using directory = await temporary()
  await work(directory.path)
}

interface Answered {
  readonly status: number
  readonly text: string
}

/** A request as it stands on the wire: fetch does not let a Host be chosen. */
const ask = (
  url: string,
  { body, headers = {}, method = "GET" }: { body?: string; headers?: Record<string, string>; method?: string } = {}
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { method, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asking.on("error", reject)
    asking.end(body)
  })

const say = (url: string, text: string, id: string) =>
  ask(url, { method: "POST", body: JSON.stringify({ text, id }), headers: { "content-type": "application/json" } })

const addressOf = async (running: Running): Promise<string> => {
  await running.saying("Ctrl-C ends it")
  return /http:\/\/\S+/.exec(running.said())?.[0] ?? "none"
}

const started: Array<Running> = []

// A test that fails leaves no process behind.
afterEach(() => {
  for (const { child } of started.splice(0)) child.kill("SIGKILL")
})

const serving = (data: string, args: ReadonlyArray<string> = [], env: Readonly<Record<string, string>> = {}) => {
  const fixed = ["--fleet", fixture("fleet.ts"), "--data", data, "--model", "offline", "--port", "0"]
  const running = begin(["serve", ...fixed, ...args], { env })
  started.push(running)
  return running
}

describe("reverie serve", () => {
  it("S1 takes in messages once, shows states, and ends in good order", () =>
    inDirectory(async (data) => {
      const running = serving(data)
      const url = await addressOf(running)
      assert.strictEqual((await ask(`${url}/livez`)).status, 200)
      assert.strictEqual((await ask(`${url}/readyz`)).status, 200)
      const first = await say(`${url}/v1/assistants/clerk/messages`, "Hello.", "m-1")
      assert.strictEqual(first.status, 202)
      assert.include(first.text, '"outcome":"accepted"')
      assert.include((await say(`${url}/v1/assistants/clerk/messages`, "Hello.", "m-1")).text, '"outcome":"duplicate"')
      const listed = JSON.parse((await ask(`${url}/v1/assistants?limit=1`)).text)
      assert.deepStrictEqual([listed.items.length, listed.items[0].id, listed.matched], [1, "clara", 2])
      const rest = JSON.parse((await ask(`${url}/v1/assistants?limit=1&cursor=${listed.next}`)).text)
      assert.strictEqual(rest.items[0].id, "clerk")
      assert.match((await ask(`${url}/metrics`)).text, /^# /m)
      running.child.kill("SIGTERM")
      assert.strictEqual((await running.ended).code, 143)
    }))

  it("S1 lets a running tool end before it ends itself, and waits no longer than --grace says", () =>
    inDirectory(async (data) => {
      const paying = async (grace: string) => {
        const running = serving(data, ["--fleet", fixture("slow-fleet.ts"), "--grace", grace])
        const url = await addressOf(running)
        await say(`${url}/v1/assistants/clerk/messages`, "/pay", `m-${grace}`)
        await running.saying("pay begins")
        running.child.kill("SIGTERM")
        assert.strictEqual((await running.ended).code, 143)
        return running.said()
      }
      assert.include(await paying("20"), "pay ends")
      assert.notInclude(await paying("0"), "pay ends")
    }))

  it("answers a wrong request with one JSON object that says so, and never a 500", () =>
    inDirectory(async (data) => {
      const running = serving(data)
      const url = await addressOf(running)
      const wrong: ReadonlyArray<readonly [number, Promise<Answered>]> = [
        [404, say(`${url}/v1/assistants/nobody/messages`, "Hello.", "m-1")],
        [400, say(`${url}/v1/assistants/a%20b/messages`, "Hello.", "m-1")],
        [404, ask(`${url}/v2`)],
        [403, ask(`${url}/v1/assistants`, { headers: { host: "evil.example" } })],
        [403, ask(`${url}/v1/assistants`, { headers: { origin: "https://evil.example" } })]
      ]
      for (const [status, answer] of wrong) {
        const answered = await answer
        assert.strictEqual(answered.status, status, answered.text)
        assert.isString(JSON.parse(answered.text).message, answered.text)
      }
      running.child.kill("SIGINT")
      assert.strictEqual((await running.ended).code, 130)
    }))

  it("G1 S2 with a token nothing is reported without it, and others are served only with one", () =>
    inDirectory(async (data) => {
      const refused = await serving(data, ["--host", "0.0.0.0"]).ended
      assert.deepStrictEqual([refused.code, refused.stderr.includes("REVERIE_TOKEN")], [2, true])
      const running = serving(data, [], { REVERIE_TOKEN: "s3cret-of-test" })
      const url = await addressOf(running)
      assert.strictEqual((await ask(`${url}/v1/assistants`)).status, 401)
      assert.strictEqual((await ask(`${url}/metrics`)).status, 401)
      assert.strictEqual((await ask(`${url}/livez`)).status, 200)
      const headers = { authorization: "Bearer s3cret-of-test" }
      assert.strictEqual((await ask(`${url}/v1/assistants`, { headers })).status, 200)
      running.child.kill("SIGTERM")
      assert.notInclude((await running.ended).stderr, "s3cret-of-test")
    }))

  it("S2 open with names it refuses any other Host, and warns where none is named", () =>
    inDirectory(async (data) => {
      const named = serving(`${data}/one`, ["--open", "--allow-host", "localhost", "127.0.0.1"])
      const url = await addressOf(named)
      const under = async (host: string) => (await ask(`${url}/v1/assistants`, { headers: { host } })).status
      assert.deepStrictEqual([await under("evil.example"), await under("localhost:4000")], [403, 200])
      assert.notInclude(named.said(), "--allow-host")
      const unnamed = serving(`${data}/two`, ["--open"])
      await addressOf(unnamed)
      assert.match(unnamed.said(), /--open without --allow-host: .*Host/)
      for (const { child, ended } of [named, unnamed]) {
        child.kill("SIGTERM")
        await ended
      }
    }))

  it("S1 a port that is taken is said in one line", () =>
    inDirectory(async (data) => {
      const running = serving(`${data}/one`)
      const port = new URL(await addressOf(running)).port
      const refused = await serving(`${data}/two`, ["--port", port]).ended
      assert.strictEqual(refused.code, 5)
      assert.match(refused.stderr, /127\.0\.0\.1:\d+ can not be listened on: .*EADDRINUSE/)
      running.child.kill("SIGTERM")
      await running.ended
    }))
})
