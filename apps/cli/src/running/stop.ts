// Stop: how a running command is asked to end.
// Owns signals, a reader that leaves, and errors that no one has handled. Leaves closing what is open to the command that opened it.
// S1  The first SIGINT or SIGTERM asks for an orderly end; the second ends the process at once.
// S2  Something that is being waited for may take the first SIGINT for itself.
// S3  Every wait of a command goes through `orAsked`, so that no wait outlives the asking.
// S4  Started by a script of npm, it ends when the shell in between does: that dies of a signal meant for this process.

import { CommandFailed, failureOf } from "../failure.ts"
import { guardProcess } from "@reverie/run-place/guard"
import { note, painted, tellFailure } from "../output.ts"
import { onOneLine } from "../texts/plain.ts"

const PARENT_MILLIS = 250

export class Stop {
  readonly #asked = Promise.withResolvers<never>()
  #reason: CommandFailed | undefined
  #interceptor: (() => boolean) | undefined

  constructor() {
    // No one may be waiting when the asking comes.
    this.#asked.promise.catch(() => {})
  }

  get isAsked(): boolean {
    return this.#reason !== undefined
  }

  /** Listens to the signals of the process, and to the end of its readers. */
  listen(): void {
    process.on("SIGINT", () => this.interrupt())
    process.on("SIGTERM", () => this.#ask(new CommandFailed("terminated", "stopped by SIGTERM")))
    if (process.env["npm_lifecycle_event"] !== undefined && process.platform !== "win32") this.#watchParent()
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE") throw error
        this.#ask(new CommandFailed("interrupted", "no one reads on", { exit: 0, silent: true }))
      })
    }
  }

  #watchParent(): void {
    const parent = process.ppid
    const watch = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(watch)
      this.#ask(new CommandFailed("terminated", "stopped with the shell that started it"))
    }, PARENT_MILLIS)
    watch.unref()
  }

  /** A Ctrl-C: for the one who intercepts it, else the asking to end. */
  interrupt(): void {
    if (this.#reason === undefined && this.#interceptor?.() === true) return
    this.#ask(new CommandFailed("interrupted", "stopped by Ctrl-C"))
  }

  /** Answers true when it took the interruption for itself; one at a time. Answers how to let go. */
  intercept(interceptor: () => boolean): () => void {
    this.#interceptor = interceptor
    return () => {
      if (this.#interceptor === interceptor) this.#interceptor = undefined
    }
  }

  /** The value, or the rejection that says why to end. */
  orAsked<A>(promise: Promise<A>): Promise<A> {
    return Promise.race([promise, this.#asked.promise])
  }

  #ask(reason: CommandFailed): void {
    if (this.#reason !== undefined) {
      if (!reason.silent) process.exit(reason.failure.exit)
      return
    }
    this.#reason = reason
    this.#asked.reject(reason)
  }
}

// Strays: errors of this process that no one has handled, and that belong to no run of a tool.
// Owns what becomes of them. Leaves those of tools to the guard, which finds out whose they are.
// S1  An exception ends the process with an exit code that is not 0: it has gone through code of ours, whose state is not
//     known any more. What was accepted is kept, and goes on with the next start.
// S2  A rejected promise is one line while assistants work here: nothing of ours waits for it, and to end would break off
//     every call under way, again with each of them. In a command that hosts no one it ends the command.

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
