import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { locomo } from "./bench-talk.ts"
import { assertFailure, temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

describe("bench memory with an embedder", () => {
  test("B5 an embedder that does not answer is found out first, and what went by words later is said", async () => {
    await using folder = await temporary()
    await writeFile(join(folder.path, "locomo10.json"), JSON.stringify(locomo))
    const asked = (url: string, ...more: ReadonlyArray<string>) =>
      said(["bench", "memory", "--suite", "locomo", "--data", folder.path, "--embedder", `${url}#x`, ...more])
    const dead = await asked("http://127.0.0.1:1/v1", "--json")
    assertFailure(dead, 6, "model-unavailable", "the embedder x at http://127.0.0.1:1/v1 gives no vector")
    assert.notInclude(dead.stderr, "turns")
    let left = 1
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly input: ReadonlyArray<string> }
        const data = input.map((text, index) => ({ index, embedding: [1, text.length] }))
        response.writeHead(left-- > 0 ? 200 : 400, { "content-type": "application/json" })
        response.end(JSON.stringify({ data, model: "x", usage: { prompt_tokens: 1, total_tokens: 1 } }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    try {
      const { port } = server.address() as AddressInfo
      const { code, stderr, stdout } = await asked(`http://127.0.0.1:${port}/v1`)
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^6 of 6 searches of the memory went by words: .+$/m)
      left = 1_000
      const whole = await asked(`http://127.0.0.1:${port}/v1`, "--json")
      assert.strictEqual(whole.code, 0, whole.stderr)
      // Before the dream nothing is embedded yet, which is said too.
      assert.isBelow(JSON.parse(whole.stdout).degraded?.searches ?? 0, 6)
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })
})
