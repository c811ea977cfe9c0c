import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"

const here = resolve(import.meta.dirname, "..")
const read = (path: string): string => readFileSync(resolve(here, path), "utf8")

describe("isolated", () => {
  it("answers what it can, and what takes too long is ended at its deadline", { timeout: 120_000 }, async () => {
    const data = await mkdtemp(join(tmpdir(), "reverie-isolated-"))
    try {
      const env = { ...process.env, OPENAI_API_KEY: "", OPENAI_BASE_URL: "" }
      const { stdout } = await promisify(execFile)(process.execPath, [resolve(here, "isolated.ts"), data], { env })
      const [first = "", second = ""] = stdout.split("\n")
      assert.include(first, "168 primes below 1000, counted for clerk")
      assert.include(second, 'The tool "count_primes" gave no answer within 5 s and was stopped')
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it("is what the README shows", () => {
    const readme = read("../../README.md")
    const fences = [...readme.matchAll(/```ts\n\/\/ (count-primes\.ts|isolated\.ts)\n([\s\S]*?)```/g)]
    assert.deepStrictEqual(
      fences.map(([, name]) => name),
      ["count-primes.ts", "isolated.ts"]
    )
    for (const [, name = "", shown = ""] of fences) assert.include(read(name), shown.trim())
  })
})
