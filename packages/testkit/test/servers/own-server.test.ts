import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "@effect/vitest"
import { startKeeper } from "../../src/servers/keeper.ts"
import { startOwnServer } from "../../src/servers/own-server.ts"

/** Listens, but for its second life, which finds something of the first. */
const lives = `
import { appendFileSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
appendFileSync("lives", "1")
if (readFileSync("lives", "utf8") === "11") {
  console.error("FATAL: pre-existing shared memory block is still in use")
  process.exit(1)
}
process.on("SIGINT", () => process.exit(0))
createServer((socket) => socket.end()).listen(Number(process.argv[1]), "127.0.0.1")
`

const reached = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve()
    })
    socket.on("error", reject)
  })

test("O3 one that was killed is begun again until nothing of it is left", async () => {
  const directory = mkdtempSync(join(tmpdir(), "reverie-own-"))
  const keeper = startKeeper(directory, "TERM")
  try {
    const { kill, port, restart } = await startOwnServer({
      server: "Listener",
      directory,
      keeper,
      command: (at) => [process.execPath, "--input-type=module", "--eval", lives, String(at)],
      ready: reached
    })
    await kill()
    await restart()
    await reached(port)
  } finally {
    await keeper.end()
    rmSync(directory, { recursive: true, force: true })
  }
})
