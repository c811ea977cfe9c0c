// The scripted server as a process of its own: prints its URL as one JSON line and serves the script of the benchmarks.
// Started with a pipe as standard input it ends when the pipe does, so that it can not outlive the one who started it.

import { fstatSync } from "node:fs"
import { benchScript } from "./script.ts"
import { startModelServer } from "./server.ts"

const server = await startModelServer({ script: benchScript, record: false })
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
const input = fstatSync(0)
if (input.isFIFO() || input.isSocket()) process.stdin.resume().once("end", () => void server.close())
