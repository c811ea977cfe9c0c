import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { FleetReader } from "reverie"

const program = resolve(import.meta.dirname, "../hello.ts")

const fence = /```ts\n(import \{ defineAssistant[\s\S]*?)```/

describe("hello", () => {
  it("answers with what its tool found, and remembers what it was asked before", { timeout: 120_000 }, async () => {
    const data = await mkdtemp(join(tmpdir(), "reverie-hello-"))
    try {
      const env = { ...process.env, OPENAI_API_KEY: "", OPENAI_BASE_URL: "" }
      for (const asked of [1, 2]) {
        const { stdout } = await promisify(execFile)(process.execPath, [program, data], { env })
        assert.include(stdout, "berth 7, from noon")
        await using peek = await FleetReader.open(data)
        const { hits } = await peek.memory.recall("desk", "berth for a ship", { kinds: ["message"] })
        assert.strictEqual(hits.filter(({ entry }) => entry.text.startsWith("Which berth is free")).length, asked)
      }
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it("is the program that the README shows, but for where it keeps its data", () => {
    const readme = readFileSync(resolve(import.meta.dirname, "../../../README.md"), "utf8")
    const shown = fence.exec(readme)?.[1] ?? "no program"
    const source = readFileSync(program, "utf8").replace('process.argv[2] ?? ".reverie/hello"', '".reverie/hello"')
    assert.strictEqual(source.slice(source.indexOf("import")).trim(), shown.trim())
  })
})
