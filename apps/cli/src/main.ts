#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// The command line. Nothing heavy is loaded before the command is known.

import { call, isForPrograms } from "./call.ts"
import { flushed } from "./output.ts"
import { Stop, listenToStrays } from "./running/stop.ts"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `reverie needs Node 22.13 or newer, and this is v${process.versions.node}; nodejs.org has newer ones\n`
  )
  process.exit(1)
}

const args = process.argv.slice(2)

listenToStrays(isForPrograms(args))

const stop = new Stop()
stop.listen()
process.exitCode = await call(args, stop)
await flushed()
process.exit()
