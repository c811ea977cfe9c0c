// `compact`: a history is compacted by order, or it is said why not; in a chat the same.

import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("keeping-fleet.ts"), "--model", "offline"]

/** A clerk that was told so many things. */
const told = async (path: string, words: number): Promise<ReadonlyArray<string>> => {
  const data = ["--data", join(path, "data")]
  const events = join(path, "events.jsonl")
  const lines = Array.from({ length: words }, (_, at) => ({
    id: `m-${at}`,
    text: `${at}. ${"The lease. ".repeat(60)}`
  }))
  await writeFile(events, lines.map((line) => JSON.stringify(line)).join("\n"))
  const { code, stderr } = await run(["run", ...fleet, ...data, "--events", events, "--exit", "--json"])
  assert.strictEqual(code, 0, stderr)
  return data
}

const triggersIn = async (data: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const { compactions } = jsonOf(await run(["compactions", "clerk", ...data, "--json"])) as unknown as {
    readonly compactions: ReadonlyArray<{ readonly trigger: string }>
  }
  return compactions.map(({ trigger }) => trigger)
}

describe.concurrent("compact", () => {
  test("N1 N2 compacts now, once under one key; --dry-run only looks", async () => {
    await using directory = await temporary()
    const data = await told(directory.path, 6)
    const look = jsonOf(await run(["compact", "clerk", ...fleet, ...data, "--dry-run", "--json"]))
    assert.deepInclude(look, { ok: true, dryRun: true, assistant: "clerk", compactions: 0 })
    const { window } = look as unknown as { readonly window: { readonly tokens: number; readonly messages: number } }
    assert.strictEqual(window.messages, 12)
    assert.deepInclude(look["window"] as object, { would: { compact: 10, keep: 2 } })
    assert.deepStrictEqual(await triggersIn(data), [])
    const order = ["compact", "clerk", ...fleet, ...data, "--id", "order-1", "--wait"]
    const compacted = await run(order)
    assert.strictEqual(compacted.code, 0, compacted.stderr)
    assert.match(compacted.stdout, /^clerk: compact_\d{8}_\d{6} compacted 10 messages, \d+ → \d+ tokens\n$/)
    assert.deepStrictEqual(await triggersIn(data), ["order"])
    const after = jsonOf(await run(["compact", "clerk", ...data, "--dry-run", "--json"]))
    assert.isBelow((after["window"] as { readonly tokens: number }).tokens, window.tokens)
    const again = jsonOf(await run([...order, "--json"]))
    assert.deepInclude(again, { ok: true, receipt: "duplicate", compaction: null })
    assert.strictEqual((await run(order)).stdout, "clerk was asked before\n")
    assert.deepStrictEqual(await triggersIn(data), ["order"])
    const shown = await run(["compactions", "clerk", "--show", "compact_", ...data])
    assert.match(shown.stdout, /\norder, at \d+\.\d % of the window, truncate\n/)
  })

  test("N1 says why nothing was compacted, and that it is kept where no one works", async () => {
    await using directory = await temporary()
    const data = await told(directory.path, 1)
    const why = "the history is no longer than the window that is preserved"
    const json = jsonOf(await run(["compact", "clerk", ...fleet, ...data, "--json"]))
    assert.deepInclude(json, { ok: true, receipt: "accepted", assistant: "clerk", compaction: null, skipped: why })
    const plain = await run(["compact", "clerk", ...fleet, ...data])
    assert.strictEqual(plain.stdout, `clerk compacted nothing: ${why}\n`)
    const kept = await run(["compact", "clerk", ...data])
    assert.strictEqual(kept.stdout, "clerk is asked to compact its history; it does at rest\n")
    assert.deepStrictEqual(await triggersIn(data), [])
  })

  test("/compact in a chat is the same order", async () => {
    await using directory = await temporary()
    const data = await told(directory.path, 6)
    const args = ["chat", "clerk", ...fleet, ...data]
    const { code, stderr, stdout } = await run(args, { input: "/compact\nGood night\n" })
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /clerk is asked to compact its history: its window is \d+ % full, 0 compactions so far/)
    assert.deepStrictEqual(await triggersIn(data), ["order"])
  })
})
