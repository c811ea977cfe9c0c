// `compactions`: what was compacted is listed, shown beside what it replaced, and taken back.

import { assert, describe, test } from "vitest"
import { assertFailure, fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("compacted-fleet.ts")]
const ID = "compact_20251206_171500"

/** A clerk that was told something and has compacted it. */
const compacted = async (path: string): Promise<ReadonlyArray<string>> => {
  const data = ["--data", path]
  for (const text of ["The lease is number 4711.", "/compact"]) {
    const { code, stderr } = await run(["run", ...fleet, ...data, "--model", "offline", "--prompt", text, "--json"])
    assert.strictEqual(code, 0, stderr)
  }
  return data
}

interface Shown {
  readonly current: string | null
  readonly compactions: ReadonlyArray<{ readonly id: string; readonly undone_at?: number }>
  readonly messages: ReadonlyArray<{ readonly place: object; readonly message: { readonly content: string } }>
}

const shown = async (...args: ReadonlyArray<string>): Promise<Shown> =>
  jsonOf(await run(["compactions", "clerk", ...args, "--json"])) as unknown as Shown

describe.concurrent("compactions", () => {
  test("F53 C1 lists compactions, and shows the raw messages beside the summary", async () => {
    await using directory = await temporary()
    const data = await compacted(directory.path)
    const listed = await run(["compactions", "clerk", ...data])
    assert.strictEqual(listed.code, 0, listed.stderr)
    assert.match(listed.stdout, /^compaction +when +trigger +compacted +kept +tokens before +after +state\n/)
    assert.match(listed.stdout, /compact_20251206_171500 +2025-12-06 +emergency +2 +20 +8000 +3000 +active/)
    const json = await shown(...data)
    assert.deepStrictEqual([json.current, json.compactions.map(({ id }) => id)], [ID, [ID]])

    const one = await run(["compactions", "cl", "--show", "compact_2025", ...data])
    assert.strictEqual(one.code, 0, one.stderr)
    assert.include(
      one.stdout,
      "emergency, at 85.4 % of the window (threshold 80.0 %), recursive-summarization in 1 call"
    )
    assert.include(one.stdout, "22 messages of 8000 tokens → 21 messages of 3000 tokens")
    assert.include(one.stdout, "3 facts and 1 observation saved in 4 rounds (noop)")
    assert.include(one.stdout, "  [CONTEXT SUMMARY]\n  The lease was stamped.\n")
    assert.match(
      one.stdout,
      /what it replaced \(2 messages\)\n {2}m\/\d\/0 {2}\S+Z {2}\S+: The lease is number 4711\.\n/
    )
    assert.match(
      one.stdout,
      /\nstands in the summary \(0\)\nonly in memory \(0\)\nlost: in neither; .*\(1\)\n {2}m\/\d\/0 {2}number 4711\n/
    )
    assert.match(one.stdout, /\n {2}left \(user\) +1 +\d+ +0\n/)
    assert.notInclude(one.stdout, "\u001b")
    const raw = await shown("--show", ID, ...data)
    assert.strictEqual(raw.messages[0]?.message.content, "The lease is number 4711.")
  })

  test("C2 takes a compaction back: the history begins where it began before", async () => {
    await using directory = await temporary()
    const data = await compacted(directory.path)
    const order = ["compactions", "clerk", "--undo", "compact_2025", ...fleet, ...data, "--model", "offline", "--json"]
    const undone = await run(order)
    assert.strictEqual(undone.code, 0, undone.stderr)
    assert.deepInclude(jsonOf(undone), { ok: true, receipt: "accepted", compaction: ID, isDone: true, undone: [ID] })
    const after = await shown(...data)
    assert.isNull(after.current)
    assert.isNumber(after.compactions[0]?.undone_at)
    const listed = (await run(["compactions", "clerk", ...data])).stdout
    assert.match(
      listed,
      / undone\nheld since \S+Z, when compact_\S+ was reverted: .*reverie compactions clerk --release\n$/
    )
    const release = ["compactions", "clerk", "--release", ...fleet, ...data, "--model", "offline"]
    const trial = jsonOf(await run([...release, "--dry-run", "--json"]))
    assert.deepInclude(trial, { ok: true, dryRun: true, would: { release: ID } })
    assert.strictEqual(
      (await run(release)).stdout.trim().split("\n").at(-1),
      "clerk: its history is compacted again when its time comes"
    )
    assert.isNull(((await shown(...data)) as unknown as { readonly hold: unknown }).hold)
    assertFailure(await run([...release, "--json"]), 5, "wrong-state", "nothing holds the history of clerk")
    assertFailure(await run(order), 5, "wrong-state", "has been reverted before")
  })

  test("C3 what can not be found or done is said in one line", async () => {
    await using directory = await temporary()
    const data = ["--data", directory.path]
    const told = await run(["run", ...fleet, ...data, "--model", "offline", "--prompt", "Hello"])
    assert.strictEqual(told.code, 0, told.stderr)
    const none = await run(["compactions", "clerk", ...data])
    assert.strictEqual(none.stdout, "nothing of clerk's history has been compacted\n")
    const ask = (...args: ReadonlyArray<string>) => run(["compactions", ...args, ...data, "--json"])
    assertFailure(
      await ask("clerk", "--show", "compact_1"),
      4,
      "unknown-compaction",
      'clerk has no compaction "compact_1"'
    )
    assertFailure(await ask("clerk", "--undo", "compact_1"), 4, "unknown-compaction", "no compaction")
    assertFailure(await ask("clerk", "--undo", "c", ...fleet), 4, "unknown-compaction", "no compaction")
    assertFailure(await ask("nobody"), 4, "unknown-assistant", "nobody")
    assertFailure(await ask("clerk", "--show", "a", "--undo", "a"), 2, "usage", "cannot be used with")
  })
})
