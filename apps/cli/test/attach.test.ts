// Files that go with a message: `chat -m --attach` and `agents send --attach`.

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { FleetReader } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, fixture, jsonOf, run, temporary } from "./command-line.ts"

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

test("files are attached to a message of chat and of send, and an answer names what it made", async () => {
  await using directory = await temporary()
  const { path } = directory
  const [image, notes, data] = [join(path, "berth.png"), join(path, "notes.md"), join(path, "data")]
  writeFileSync(image, Buffer.from(PNG, "base64"))
  writeFileSync(notes, "# Notes")
  const at = ["--fleet", fixture("parts-fleet.ts"), "--data", data]
  const chat = ["chat", "desk", ...at]
  const said = await run([...chat, "-m", "Look.", "--attach", image, "--attach", notes])
  assert.strictEqual(
    said.stdout,
    "berth.png: 70 | Look.\n[image berth.png, image/png, 70 bytes]\n[file notes.md, text/markdown, 7 bytes: not shown to this model]\n",
    said.stderr
  )
  const drawn = await run([...chat, "-m", "Draw."])
  assert.strictEqual(drawn.stdout, "Here.\n[image drawn.png, image/png, 70 bytes]\n", drawn.stderr)
  const { parts } = jsonOf(await run([...chat, "-m", "Draw.", "--json"])) as unknown as {
    readonly parts: ReadonlyArray<{ readonly name: string }>
  }
  assert.strictEqual(parts[0]?.name, "drawn.png")

  const sent = await run(["agents", "send", "desk", ...at, "--attach", image, "--json"])
  assert.strictEqual(sent.code, 0, sent.stderr)
  await using reader = await FleetReader.open(data)
  const entries = await reader.history.entries("desk", 1, 100)
  const kept = entries.flatMap(({ entry }) => entry.messages).findLast(({ role }) => role === "user")
  assert.deepStrictEqual([kept?.content, kept?.parts?.[0]?.name], ["", "berth.png"])

  assertFailure(
    await run([...chat, "-m", "x", "--attach", join(path, "none"), "--json"]),
    4,
    "no-such-file",
    "to attach"
  )
  writeFileSync(notes, "")
  assertFailure(await run([...chat, "-m", "x", "--attach", notes, "--json"]), 2, "message-invalid", "part 1 is empty")
})
