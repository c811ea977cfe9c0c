// Strays: errors of this process that nobody has handled, and that belong to no run of a tool.
// Owns what becomes of them. Leaves those of tools to the guard, which finds out whose they are.
// S1  An exception ends the process with an exit code that is not 0: it has gone through code of ours, whose state is not
//     known any more. What was accepted is kept, and goes on with the next start.
// S2  A rejected promise is one line while assistants work here: nothing of ours waits for it, and to end would break off
//     every call under way, again with each of them. In a command that hosts nobody it ends the command.

import { guardProcess } from "@reverie/run-place/guard"
import { failureOf } from "../failure.ts"
import { note, painted, tellFailure } from "../output.ts"
import { onOneLine } from "../texts/plain.ts"

let isHosting = false

/** From the loading of a fleet on: its modules may begin something by themselves, or take `process.exit` to keep. */
export const beginHosting = (): void => {
  if (isHosting) return
  isHosting = true
  guardProcess()
}

export const listenToStrays = (isForPrograms: boolean): void => {
  process.on("uncaughtException", (error) => process.exit(tellFailure(error, isForPrograms)))
  process.on("unhandledRejection", (reason) => {
    if (!isHosting) process.exit(tellFailure(reason, isForPrograms))
    const { message } = failureOf(reason)
    note(
      `${painted("yellow", "reverie:")} a promise of no tool was rejected and had no handler: ${onOneLine(message, 400)}`
    )
  })
}
