// Integration: the suites that need a real Redis, PostgreSQL or Qdrant, on whatever of them is here.
// `npm run test:integration` runs all of them, `npm run test:integration -- laws` the files whose path has that word.
// First it prints which servers the run stands on, at the end what was skipped. Exit code 0: what ran passed. 1: a test
// failed, or no suite found a server, which would prove nothing.

import { spawn } from "node:child_process"
import { mkdir, readFile, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { serverNames } from "@reverie/testkit/servers"
import { groundOf } from "./ground.ts"
import { outcomeOf, type Report } from "./outcome.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const file = join(root, ".reverie/check/integration.json")

const runVitest = (words: ReadonlyArray<string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const program = join(root, "node_modules/vitest/vitest.mjs")
    const reporters = ["--reporter", "verbose", "--reporter", "json", "--outputFile.json", file]
    const args = [program, "run", "--project", "integration", ...reporters, ...words]
    const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" })
    child.once("error", reject)
    child.once("exit", (code) => resolve(code ?? 1))
  })

const readReport = async (): Promise<Report> => {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Report
  } catch {
    return { testResults: [] }
  }
}

const grounds = await Promise.all(serverNames.map(groundOf))
process.stdout.write(`this run stands on: ${grounds.map(({ says }) => says).join("; ")}\n`)
await mkdir(dirname(file), { recursive: true })
await rm(file, { force: true })
const code = await runVitest(process.argv.slice(2))
const { lines, ok } = outcomeOf(await readReport())
for (const line of lines) process.stdout.write(`${line}\n`)
process.exitCode = code === 0 && ok ? 0 : 1
