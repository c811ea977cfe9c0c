import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Fleet } from "reverie"
import harbor from "@reverie/example-harbor"

// Real conversations stand beside the checkout, never in it. Without them this file says so and runs nothing.
const directory = resolve(import.meta.dirname, "../../../shared/data/locomo-dev")
const files = existsSync(directory)
  ? readdirSync(directory).filter((name) => name.endsWith(".jsonl") && !name.includes("questions"))
  : []
const isHere = files.length > 0
if (!isHere) console.warn(`real conversations are not at ${directory}: nothing of this file runs`)

const root = resolve(import.meta.dirname, "../..")

interface Outcome {
  readonly signal: NodeJS.Signals | null
  readonly report: {
    readonly accepted: number
    readonly duplicates: number
    readonly total: { readonly committed: number }
  }
}

/** Runs the command line on the events; kills it after a while when asked to. */
const run = (events: string, data: string, killAfterMillis?: number): Promise<Outcome> =>
  new Promise((done, failed) => {
    const args = ["run", "--fleet", "examples/harbor/fleet.ts", "--events", events, "--data", data, "--exit", "--json"]
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "apps/cli/src/main.ts", ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
    if (killAfterMillis !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfterMillis)
    child.on("close", (code, signal) => {
      if (signal === null && code !== 0) failed(new Error(`code ${code}: ${err.slice(-500)}`))
      else
        done({
          signal,
          report: signal === null ? JSON.parse(out) : { accepted: 0, duplicates: 0, total: { committed: 0 } }
        })
    })
  })

/** Everything said, and the snapshot it led to: no times, no epochs. */
const lived = async (data: string) => {
  await using fleet = await Fleet.open({ data, fleet: harbor, model: "offline" })
  const rows = await fleet.history.entries(fleet.defaultAssistant, 1, 100_000)
  const said = rows.flatMap(({ entry }) =>
    entry.messages.map(({ calls, content, name, role }) => ({ calls, content, name, role }))
  )
  return { said, snapshot: (await fleet.inspect(fleet.defaultAssistant))?.state.snapshot }
}

describe.runIf(isHere)("real conversations", () => {
  it("every line is accepted once, and a killed run ends where an unhurt one does", { timeout: 180_000 }, async () => {
    const work = await mkdtemp(join(tmpdir(), "reverie-real-"))
    try {
      const events = join(work, "events.jsonl")
      const lines = files.flatMap((name) =>
        readFileSync(join(directory, name), "utf8")
          .split("\n")
          .filter((line) => line !== "")
      )
      await writeFile(events, lines.join("\n"))
      const whole = await run(events, join(work, "whole"))
      assert.deepInclude(whole.report, { accepted: lines.length, duplicates: 0 })
      const again = await run(events, join(work, "whole"))
      assert.deepInclude(again.report, { accepted: 0, duplicates: lines.length })
      let killed = 0
      for (const millis of [900, 1_300, 1_700, 2_300]) {
        if ((await run(events, join(work, "hurt"), millis)).signal === "SIGKILL") killed++
      }
      assert.isAbove(killed, 0)
      assert.strictEqual((await run(events, join(work, "hurt"))).report.total.committed, lines.length)
      const unhurt = await lived(join(work, "whole"))
      assert.isAtLeast(unhurt.said.length, lines.length * 2)
      assert.deepStrictEqual(await lived(join(work, "hurt")), unhurt)
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  })
})
