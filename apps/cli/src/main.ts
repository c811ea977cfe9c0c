#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --disable-warning=MODULE_TYPELESS_PACKAGE_JSON
// The command line. Nothing heavy is loaded before the command is known.

import nodeModule from "node:module"
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

// Much of a short command's CPU is the compiling of what it loads: Node keeps it for the next one, in the folder for temporary files
// or in NODE_COMPILE_CACHE. Where it can not, it says so only in what it returns.
nodeModule.enableCompileCache()

const LEFT_OPEN_MILLIS = 200

const args = process.argv.slice(2)

listenToStrays(isForPrograms(args))

const stop = new Stop()
stop.listen()
process.exitCode = await call(args, stop)
await flushed()
// It ends by itself where nothing is open any more: `process.exit` waits for compiling threads of V8, one of which may wait for
// this one, for good. What a fleet of someone left open is not waited for longer.
setTimeout(() => process.exit(), LEFT_OPEN_MILLIS).unref()
