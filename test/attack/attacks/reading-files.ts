// A tool reads, hashes or copies the data directory, and someone looks in with the sqlite3 shell: on Linux each closes
// a descriptor of a locked file, which drops every lock of the process on it ("How to corrupt an SQLite database", 2.2).

import type { Attack, Check } from "../attack.ts"
import type { Posted } from "../client.ts"
import { pause } from "../judge.ts"
import { hasShell, judgeAgain, lookIn, sendMany } from "../moves.ts"
import type { Server } from "../scene.ts"

const order = async (server: Server, tool: string, id: string): Promise<Posted | undefined> => {
  const posted = { assistant: "desk", id }
  if (!(await server.client.post(posted, `!${tool} {}`))) return undefined
  for (let tries = 0; tries < 40 && !server.hasEnded(); tries++) {
    const text = JSON.stringify(await server.client.json("/v1/assistants/desk/messages?limit=5").catch(() => ""))
    if (text.includes("done: ")) break
    await pause(100)
  }
  return posted
}

const attackWith = (tool: string, isShort: boolean): Attack => ({
  name: `${tool.replaceAll("_", "-")}-and-look`,
  item: 1,
  says: `the tool ${tool} runs in the server, the sqlite3 shell looks in, messages go on, kill -9`,
  isShort,
  wants: () => (tool === "look_with_shell" && !hasShell() ? "the sqlite3 shell" : undefined),
  run: async (scene) => {
    const server = await scene.serve()
    const before = await sendMany(server, 8, "before")
    const ordered = await order(server, tool, "order")
    lookIn(scene)
    const after = await sendMany(server, 24, "after")
    if (!server.hasEnded()) lookIn(scene)
    const more = await sendMany(server, 8, "more")
    const hadEnded = await Promise.race([server.ended.then(() => true), pause(1_500).then(() => false)])
    await server.kill()
    const sentences = server
      .said()
      .split("\n")
      .filter((line) => line.startsWith("reverie: "))
    const posted = [...before, ...(ordered === undefined ? [] : [ordered]), ...after, ...more]
    const judged = await judgeAgain(scene, posted)
    const checks: ReadonlyArray<Check> = [
      { says: "messages were acknowledged before", ok: before.length === 8, seen: `${before.length} of 8` },
      {
        says: "a server that ends by itself says why in one sentence",
        ok: sentences.length === (hadEnded ? 1 : 0),
        seen: `${after.length} acknowledged after it; ${sentences.join(" | ")}`
      }
    ]
    return { ...judged, checks }
  }
})

export const readingFiles: ReadonlyArray<Attack> = [
  attackWith("read_files", true),
  attackWith("hash_files", false),
  attackWith("copy_directory", false),
  attackWith("look_with_shell", false)
]
