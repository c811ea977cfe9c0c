// The streams of a process: readers that leave, colours that no one wants, messages that are piped in, and the server that a
// fleet opens while it is up.

import { once } from "node:events"
import { cp, readFile, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { serverFor } from "../src/backend/find-backend.ts"
import { assertFailure, begin, fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("fleet.ts"), "--model", "offline"]

const lived = async (data: string): Promise<void> => {
  const told = await run(["agents", "send", "clerk", "Good morning", ...fleet, "--data", data])
  assert.strictEqual(told.code, 0, told.stderr)
}

describe("streams", () => {
  test("O2 a reader that leaves a watched list ends it quietly", async () => {
    await using directory = await temporary()
    await lived(directory.path)
    const { child, ended } = begin(["agents", "ls", "--watch", "--jsonl", "--data", directory.path])
    await once(child.stdout ?? child, "data")
    child.stdout?.destroy()
    await lived(directory.path)
    const { code, stderr } = await ended
    assert.deepStrictEqual([code, stderr], [0, ""])
  })

  test("S1 130 for SIGINT while watching, and nothing is left behind", async () => {
    await using directory = await temporary()
    await lived(directory.path)
    const { child, ended, saying } = begin(["agents", "ls", "--watch", "--data", directory.path])
    await saying("clerk")
    child.kill("SIGINT")
    assert.strictEqual((await ended).code, 130)
  })

  test("O3 nothing is coloured against NO_COLOR, and everything with FORCE_COLOR", async () => {
    // oxlint-disable-next-line no-control-regex -- colours are made of them
    const coloured = /\u001b\[/
    const args = ["agents", "inspect", "nobody", "--data", "/nowhere"]
    assert.notMatch((await run(args)).stderr, coloured)
    assert.match((await run(args, { env: { FORCE_COLOR: "1" } })).stderr, coloured)
    assert.notMatch((await run(args, { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stderr, coloured)
    const json = await run([...args, "--json"], { env: { FORCE_COLOR: "1" } })
    assert.notMatch(json.stdout, coloured)
  })

  test("a message may be piped in; an empty pipe is a wrong use", async () => {
    await using directory = await temporary()
    const args = ["agents", "send", "clerk", ...fleet, "--data", directory.path, "--json"]
    const told = await run(args, { input: "Good\nmorning\n" })
    assert.strictEqual(jsonOf(told)["receipt"], "accepted")
    const inspected = jsonOf(await run(["agents", "inspect", "clerk", "--data", directory.path, "--json"]))
    assert.include(JSON.stringify(inspected["entries"]), "Good\\nmorning")
    assertFailure(await run(args, { input: "" }), 2, "usage", "text is missing")
    const prompt = await run(["run", "-p", "-", ...fleet, "--data", directory.path, "--output", "json"], {
      input: "Hi"
    })
    assert.strictEqual(jsonOf(prompt)["agent"], "clerk")
  })

  test("8 when a prompt has taken its model calls", async () => {
    await using directory = await temporary()
    const args = ["run", ...fleet, "--data", directory.path, "-p", "/stamp paper=lease", "--json"]
    assertFailure(await run([...args, "--max-turns", "1"]), 8, "turns-spent", "clerk")
    const on = await run([...args, "--max-turns", "5", "--resume"])
    assert.strictEqual(on.code, 0, on.stderr)
  })
})

describe("a chat", () => {
  test("shows beside the answer what the model thinks, and a call as it begins, in process and at a server", async () => {
    await using directory = await temporary()
    const thinking = ["--fleet", fixture("thinking-fleet.ts"), "--data", directory.path]
    const input = "Which berth?\n"
    const own = await run(["chat", "clerk", ...thinking], { input })
    const { child, ended, saying } = begin(["dev", ...thinking, "--no-page", "--port", "0"])
    await saying("Stays up")
    const there = await run(["chat", "clerk", "--data", directory.path], { input })
    child.kill("SIGTERM")
    await ended
    const told = ["Let me think.", "calls look ...", "look: seven is free"]
    for (const { code, stderr, stdout } of [own, there]) {
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stdout, "Berth seven.\n")
      for (const said of told) assert.include(stderr, said)
      assert.strictEqual(stderr.split("calls look ...").length, 2, stderr)
    }
    // At a server the first model call may be over before its answer is read: then its thoughts were a preview.
    const order = told.map((said) => own.stderr.indexOf(said))
    assert.deepStrictEqual(
      order,
      order.toSorted((a, b) => a - b)
    )
  })
})

describe("the server of a fleet that is kept up", () => {
  test("V1 W1 says where it is, takes orders of others, and takes its word back", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path]
    const first = begin(["dev", ...fleet, ...at, "--no-page", "--port", "0"])
    await first.saying("Stays up")
    const file = join(directory.path, "server.json")
    assert.strictEqual((await stat(file)).mode & 0o777, 0o600)
    const { url } = JSON.parse(await readFile(file, "utf8")) as { readonly url: string }
    assert.include(first.said(), url)
    const { config } = (await (await fetch(`${url}/v1/system`)).json()) as {
      config: ReadonlyArray<Readonly<Record<string, string>>>
    }
    assert.deepStrictEqual(
      config.find((each) => each["name"] === "data"),
      { name: "data", value: directory.path, origin: "the command" }
    )
    const sent = jsonOf(await run(["agents", "send", "cle", "hello", ...at, "--json"]))
    assert.strictEqual(sent["receipt"], "accepted")
    assert.strictEqual((await run(["chat", "clerk", "-m", "hello again", ...at])).stdout, "Noted.\n")
    assert.include((await run(["doctor", ...at])).stdout, `${url} answers`)
    first.child.kill("SIGTERM")
    assert.strictEqual((await first.ended).code, 143)
    assert.isUndefined(await stat(file).catch(() => undefined))
  })

  test("W1 the one that runs in a directory of this one is asked, and told; of two none is", async () => {
    await using directory = await temporary()
    const inner = (name: string) => join(directory.path, name)
    const ls = (...more: ReadonlyArray<string>) => run(["agents", "ls", "--data", directory.path, ...more])
    const first = begin(["dev", ...fleet, "--data", inner("one"), "--no-page", "--port", "0"])
    await first.saying("Stays up")
    const listed = await ls("--json")
    assert.lengthOf(jsonOf(listed)["assistants"] as Array<unknown>, 2)
    assert.include(listed.stderr, `the fleet in ${inner("one")}, at http://127.0.0.1:`)
    const checked = (await run(["doctor", "--data", directory.path])).stdout
    const told = [`${inner("one")} can be written`, `process ${first.child.pid} works on it`, "readable, ", " answers"]
    for (const each of told) assert.include(checked, each)
    const second = begin(["dev", ...fleet, "--data", inner("two"), "--no-page", "--port", "0"])
    await second.saying("Stays up")
    assertFailure(await ls("--json"), 2, "usage", `${inner("one")}, ${inner("two")}`)
    // Its own data goes before that of others.
    await lived(directory.path)
    assert.notInclude((await ls("--json")).stderr, "the fleet in")
    for (const { child, ended } of [first, second]) {
      child.kill("SIGTERM")
      await ended
    }
  })

  test("W1 with no server the only data in this directory is looked into, and named; of two none is", async () => {
    await using directory = await temporary()
    const inner = (name: string) => join(directory.path, name)
    const ls = () => run(["agents", "ls", "--data", directory.path, "--json"])
    await lived(inner("one"))
    const listed = await ls()
    assert.isNotEmpty(jsonOf(listed)["assistants"])
    assert.include(listed.stderr, `the fleet in ${inner("one")}`)
    await lived(inner("two"))
    assertFailure(await ls(), 2, "usage", `several fleets in ${directory.path}`)
  })

  test("V2 one that is too busy to answer at once is asked all the same", async () => {
    await using directory = await temporary()
    await lived(directory.path)
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const { port } = silent.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    await writeFile(join(directory.path, "server.json"), JSON.stringify({ url, pid: process.pid }))
    const found = await serverFor({ data: directory.path })
    silent.closeAllConnections()
    silent.close()
    assert.strictEqual(found, url)
  })

  test("V2 a file that is old, or names another machine, is not believed", async () => {
    await using directory = await temporary()
    await lived(directory.path)
    const file = join(directory.path, "server.json")
    const ls = ["agents", "ls", "--data", directory.path, "--json"]
    for (const facts of [
      { url: "http://127.0.0.1:9", pid: process.pid },
      { url: "http://evil.example:80", pid: process.pid },
      { url: "http://127.0.0.1.evil.example", pid: process.pid },
      { url: "http://127.0.0.1:9", pid: 999_999_999 },
      "nonsense"
    ]) {
      await writeFile(file, JSON.stringify(facts))
      assert.lengthOf(jsonOf(await run(ls))["assistants"] as Array<unknown>, 2)
    }
  })

  test("V3 a copy of a directory is not taken for the one that a server has", async () => {
    await using directory = await temporary()
    await using other = await temporary()
    const first = begin(["dev", ...fleet, "--data", directory.path, "--no-page", "--port", "0"])
    await first.saying("Stays up")
    const copy = join(other.path, "copy")
    await cp(directory.path, copy, { recursive: true })
    const [own, ofCopy] = [await serverFor({ data: directory.path }), await serverFor({ data: copy })]
    first.child.kill("SIGTERM")
    await first.ended
    assert.isDefined(own)
    assert.isUndefined(ofCopy)
  })

  test("H1 a port that was said and is taken is refused", async () => {
    await using one = await temporary()
    await using two = await temporary()
    const first = begin(["dev", ...fleet, "--data", one.path, "--no-page", "--port", "0"])
    await first.saying("Stays up")
    const { port } = new URL(/http:\/\/\S+/.exec(first.said())?.[0] ?? "")
    const second = await run(["dev", ...fleet, "--data", two.path, "--no-page", "--port", port])
    assert.strictEqual(second.code, 5, second.stderr)
    first.child.kill("SIGTERM")
    await first.ended
  })
})
