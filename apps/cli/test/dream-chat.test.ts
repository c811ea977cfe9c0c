// `/dream` of a chat: who asks for a dream is shown that dream, and not that there was none before it.

import { assert, test } from "vitest"
import { fixture, run, temporary } from "./command-line.ts"

test("/dream shows the dream that it asked for", async () => {
  await using directory = await temporary()
  const chat = ["chat", "clerk", "--fleet", fixture("fleet.ts"), "--data", directory.path, "--model", "offline"]
  const said = await run([...chat, "-m", "I keep two cats on board."])
  assert.strictEqual(said.code, 0, said.stderr)
  const { code, stderr, stdout } = await run(chat, { input: "/dream\n" })
  assert.strictEqual(code, 0, stderr)
  assert.match(stdout, /^dream_\d+, /m)
  assert.notInclude(stdout, "not dreamt yet")
})
