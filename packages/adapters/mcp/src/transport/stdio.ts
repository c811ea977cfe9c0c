// Stdio: a server that is a child process of this one.
// Owns its environment, its life and death, and the messages over its pipes. Leaves the protocol to the client.
// S1  The child finds a few harmless variables in its environment and what the options name: nothing else.
// S2  After `close` the process and those that it started in its group are gone: asked first, then ended.
// S3  What it writes to its error output is drained and forgotten but for the last lines, which are shown as plain text.
// S4  A line that is no message is passed over; too long a line, or too many of them, ends the process.

import { defined } from "@reverie/protocol"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client"
import type { McpStdio } from "../options.ts"
import { oneLine } from "../listing.ts"
import { floodWatch, lineSplitter, MAX_MESSAGE_BYTES, TOO_LONG } from "./http.ts"

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const harmless = ["PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT", "PATHEXT"]
const LAST_WORDS_CHARS = 4_096
/** How long it may take to go by itself when its input ends, and how long when it was told to. */
const PATIENCE_MILLIS = 500
const LAST_PATIENCE_MILLIS = 2_000
/** How long what it said last may take to arrive after it is gone. */
const ECHO_MILLIS = 1_000

const environment = (named: McpStdio["env"] = {}): Record<string, string> => {
  const found = harmless.flatMap((name) => {
    const value = process.env[name]
    // A value that begins so is a function of an old shell.
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(found), ...named }
}

const within = (promise: Promise<unknown>, millis: number): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, millis)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** What ends the servers that still run when this process ends. One listener for all of them. */
const running = new Set<() => void>()
let isListening = false
const listenForTheEnd = (): void => {
  if (isListening) return
  isListening = true
  process.once("exit", () => {
    for (const kill of running) kill()
  })
}

export class StdioWire implements Transport {
  // The client takes a transport with `stderr` and `pid` for a local one: silence then means an older server.
  readonly stderr = null
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  #server: McpStdio
  #child: Child | undefined
  #gone = Promise.withResolvers<void>()
  #lastWords = ""
  #why: string | undefined
  #isClosing = false
  #hasExited = false
  /** Questions that were put to it and have no answer yet. */
  #owed = 0
  #isClosed = false

  constructor(server: McpStdio) {
    this.#server = server
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Why the connection ended when no one here ended it. */
  get why(): string | undefined {
    const words = oneLine(this.#lastWords, 500)
    return this.#why === undefined ? undefined : `${this.#why}${words === "" ? "" : `; it last said: ${words}`}`
  }

  start(): Promise<void> {
    const { args = [], command, cwd, env } = this.#server
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    // A group of its own, so that what a launcher starts can be ended together with it.
    const child = spawn(command, [...args], {
      env: environment(env),
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
      ...defined({ cwd })
    })
    this.#child = child
    listenForTheEnd()
    running.add(this.#kill)
    child.once("spawn", resolve)
    child.once("error", (error) => {
      this.#ended(`it could not be started: ${error.message}`)
      reject(error)
    })
    child.once("exit", (code, signal) => {
      if (!this.#isClosing) this.#why ??= `its process ended (${signal ?? `code ${code}`})`
      // What it started goes with it: the number of the group is not given away while one of them is left.
      this.#signal("SIGKILL")
      this.#hasExited = true
      void within(new Promise((done) => child.once("close", done)), ECHO_MILLIS).then(() => this.#ended())
    })
    child.stdin.on("error", (error) => this.onerror?.(error))
    this.#listen(child)
    return promise
  }

  #listen({ stderr, stdout }: Child): void {
    const split = lineSplitter(MAX_MESSAGE_BYTES)
    const flood = floodWatch(Date.now)
    stdout.on("data", (chunk: Buffer) => {
      for (const line of split(chunk)) {
        if (this.#isClosed) return
        const reason = line === undefined ? TOO_LONG : this.#heard(line) ? undefined : flood()
        if (reason !== undefined) return this.#cut(reason)
      }
    })
    stderr.on("data", (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString("utf8")).slice(-LAST_WORDS_CHARS)
    })
    for (const stream of [stdout, stderr]) stream.on("error", (error) => this.onerror?.(error))
  }

  /** True when the line answers something that was asked. */
  #heard(line: string): boolean {
    try {
      const message = deserializeMessage(line)
      this.onmessage?.(message)
      if ("method" in message || this.#owed === 0) return false
      this.#owed--
      return true
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
      return false
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (this.#isClosed || input === undefined || !input.writable) throw new Error(this.why ?? "it is not running")
    if (input.writableLength > MAX_MESSAGE_BYTES) throw new Error("it does not read what it is sent")
    if ("method" in message && "id" in message) this.#owed++
    input.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    const child = this.#child
    this.#isClosing = true
    if (child?.pid === undefined || this.#isClosed) return this.#ended()
    child.stdin.end()
    await within(this.#gone.promise, PATIENCE_MILLIS)
    this.#signal("SIGTERM")
    await within(this.#gone.promise, LAST_PATIENCE_MILLIS)
    this.#signal("SIGKILL")
    await within(this.#gone.promise, LAST_PATIENCE_MILLIS)
    this.#ended()
  }

  #cut(reason: string): void {
    this.#why = reason
    this.#kill()
    this.#ended()
  }

  readonly #kill = (): void => this.#signal("SIGKILL")

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined || this.#hasExited) return
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal)
    } catch {
      // No one is left.
    }
  }

  #ended(why?: string): void {
    this.#why ??= why
    this.#gone.resolve()
    if (this.#isClosed) return
    this.#isClosed = true
    running.delete(this.#kill)
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy()
    this.onclose?.()
  }
}
