// npm run test:integration -- [words] [-t PATTERN] [--stand-ins]
// The suites that need a real Redis, PostgreSQL or Qdrant, on whatever of them is here: all of them, the files whose path
// has one of the words, or the tests whose title matches. First it prints which servers the run stands on, at the end
// what was skipped. Exit code 0: what ran passed. 1: a test failed, or no suite found a server, which would prove nothing.
// With --stand-ins they run on an engine and images made here: see test/stand-ins.

import { spawn } from "node:child_process"
import { mkdir, readFile, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { serverNames } from "@reverie/testkit/servers"
import { runStandIns } from "../stand-ins/lane.ts"
import { argumentsIn } from "./arguments.ts"
import { LACKS } from "./engine.ts"
import { groundOf } from "./ground.ts"
import { outcomeOf, type Report } from "./outcome.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const file = join(root, ".reverie/check/integration.json")

const runVitest = (words: ReadonlyArray<string>, lacks: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const program = join(root, "node_modules/vitest/vitest.mjs")
    const reporters = ["--reporter", "verbose", "--reporter", "json", "--outputFile.json", file]
    const args = [program, "run", "--project", "integration", ...reporters, ...words]
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, [LACKS]: lacks }
    })
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

const { isOnStandIns, ofVitest, pattern } = argumentsIn(process.argv.slice(2))

const runHere = async (): Promise<boolean> => {
  const grounds = await Promise.all(serverNames.map((server) => groundOf(server)))
  process.stdout.write(`this run stands on: ${grounds.map(({ says }) => says).join("; ")}\n`)
  const lacks = grounds.flatMap(({ lack }) => (lack === undefined ? [] : [[lack.image, lack.reason]]))
  await mkdir(dirname(file), { recursive: true })
  await rm(file, { force: true })
  const code = await runVitest(ofVitest, JSON.stringify(Object.fromEntries(lacks)))
  const said = Object.fromEntries(grounds.map(({ says, server }) => [server, says]))
  const { lines, ok } = outcomeOf(await readReport(), { pattern, grounds: said })
  for (const line of lines) process.stdout.write(`${line}\n`)
  return code === 0 && ok
}

process.exitCode = (await (isOnStandIns ? runStandIns(ofVitest) : runHere())) ? 0 : 1
