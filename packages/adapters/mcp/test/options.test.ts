// What a user writes: every mistake is reported at once, by its field.

import { assert, describe, it } from "@effect/vitest"
import { defineMcpServer, type McpServerOptions } from "../src/index.ts"
import { withoutSecrets } from "../src/secrets.ts"
import { McpServerInvalid } from "../src/errors.ts"

const right: McpServerOptions = { name: "files", transport: { command: "mcp" }, allow: ["read"] }
const pin = "a".repeat(64)

const wrong: ReadonlyArray<readonly [object | undefined, RegExp]> = [
  [undefined, /needs options/],
  [{ ...right, name: "Files" }, /its name must be/],
  [{ ...right, name: "a__b" }, /its name must be/],
  [{ ...right, name: "a_" }, /its name must be/],
  [{ ...right, name: "a".repeat(32) }, /its name must be/],
  [{ ...right, transport: undefined }, /its transport must be/],
  [{ ...right, transport: {} }, /needs a command or a url, and not both/],
  [{ ...right, transport: { command: "a", url: "http://a/" } }, /needs a command or a url, and not both/],
  [{ ...right, transport: { command: "" } }, /transport\.command must be a text/],
  [{ ...right, transport: { command: "a", args: "b" } }, /transport\.args must be a list of texts/],
  [{ ...right, transport: { command: "a", env: { A: 1 } } }, /transport\.env must be texts by name/],
  [{ ...right, transport: { url: "nowhere" } }, /transport\.url is no URL/],
  [{ ...right, transport: { url: "ftp://a/" } }, /must be http or https/],
  [{ ...right, transport: { url: "https://a:b@c/" } }, /must hold no name and password/],
  [{ ...right, transport: { url: "https://a/", headers: ["x"] } }, /transport\.headers must be texts by name/],
  [{ ...right, transport: { url: "https://a/", allowPrivate: "b:1" } }, /transport\.allowPrivate must be a list/],
  [{ ...right, allow: undefined }, /it needs allow/],
  [{ ...right, allow: [7] }, /its allow must hold names/],
  [{ ...right, allow: ["a", { tool: "a" }] }, /its allow names "a" twice/],
  [{ ...right, allow: [{ tool: "a", needsApproval: 1 }] }, /its needsApproval of "a" must be true or false/],
  [{ ...right, allow: [{ tool: "a", final: true }] }, /its final of "a" needs needsApproval: false/],
  [{ ...right, allow: [{ tool: "a", idempotent: 1 }] }, /its idempotent of "a"/],
  [{ ...right, allow: [{ tool: "a", pin: "abc" }] }, /its pin of "a" must be 64/],
  [{ ...right, allow: [{ tool: "a", as: "1b" }] }, /its name here \(as\) of "a"/],
  [{ ...right, pins: { read: "abc" } }, /its pin of "read" must be 64/],
  [{ ...right, pins: { write: pin } }, /its pins name "write", which allow does not/],
  [{ ...right, timeoutMs: 0 }, /its timeoutMs must be a whole number/],
  [{ ...right, startMs: 1.5 }, /its startMs must be a whole number/],
  [{ ...right, maxResultBytes: 10 }, /its maxResultBytes must be a whole number/],
  [{ ...right, maxTools: Number.NaN }, /its maxTools must be a whole number/]
]

describe("the description of a server", () => {
  it("O1 each mistake throws one sentence that names the field", () => {
    for (const [options, words] of wrong) {
      const define = () => defineMcpServer(options as McpServerOptions)
      assert.throws(define, McpServerInvalid)
      assert.throws(define, words)
    }
  })

  it("O2 what is not said is bounded and dangerous, and later changes do not reach it", () => {
    const transport = { command: "mcp", args: ["a"] }
    const server = defineMcpServer({ ...right, transport })
    transport.args.push("b")
    assert.deepStrictEqual(server.transport, { command: "mcp", args: ["a"] })
    assert.deepInclude(server, { timeoutMs: 30_000, startMillis: 30_000, maxResultBytes: 65_536, maxTools: 256 })
    assert.deepStrictEqual(server.allow, [{ tool: "read" }])
  })

  it("X1 secrets are known by the names that they have, and other values stay", () => {
    const env = { API_KEY: "k-12345678", ROOT: "/srv/shared/files", SMALL_TOKEN: "abc" }
    const local = defineMcpServer({ ...right, transport: { command: "mcp", env } })
    const said = "key k-12345678 in /srv/shared/files, abc"
    assert.strictEqual(withoutSecrets(local, said), "key [secret] in /srv/shared/files, abc")
    const headers = { Authorization: "Bearer t-87654321", "X-Team": "harbor-team" }
    const remote = defineMcpServer({ ...right, transport: { url: "https://a/", headers } })
    const told = "Bearer t-87654321, t-87654321 and harbor-team"
    assert.strictEqual(withoutSecrets(remote, told), "[secret], [secret] and harbor-team")
  })
})
