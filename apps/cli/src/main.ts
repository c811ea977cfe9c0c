#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// The command line. Nothing heavy is loaded before the command is known.

import { call, isForPrograms } from "./call.ts"
import { flushed } from "./output.ts"
import { Stop, listenToStrays } from "./running/stop.ts"

const args = process.argv.slice(2)

listenToStrays(isForPrograms(args))

const stop = new Stop()
stop.listen()
process.exitCode = await call(args, stop)
await flushed()
process.exit()
