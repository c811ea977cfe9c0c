#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// The command line. Nothing heavy is loaded before the command is known.

import { call, isForPrograms } from "./call.ts"
import { flushed, tellFailure } from "./output.ts"
import { Stop } from "./stop.ts"

const args = process.argv.slice(2)

for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error: unknown) => process.exit(tellFailure(error, isForPrograms(args))))
}

const stop = new Stop()
stop.listen()
process.exitCode = await call(args, stop)
await flushed()
process.exit()
