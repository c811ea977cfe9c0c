// Main of the process of an isolated run: loads the one module, calls its function, says what came of it.
// Owns what the function is given there. Leaves ending to watchdog.ts and to the process that started it.
// C1  The watchdog stands before the module is loaded.
// C2  What it leaves behind in this process fails the run, as it does in the process of the host.

import { writeFileSync } from "node:fs"
import { Socket } from "node:net"
import { deserialize } from "node:v8"
import { Worker } from "node:worker_threads"
import { capped, isTextWithParts, messageOf, render, type TextWithParts } from "@reverie/tools/render"
import { lineOf, type Order, readingLines, type RunOrder, type Said, type SaidPart } from "../lines.ts"
import type { Bounds } from "./watchdog.ts"

const ORDERS_FD = 3
/** The host ends the process at its deadline; where the host is held up, this does. */
const GRACE_MILLIS = 1_000

const host = new Socket({ fd: ORDERS_FD })
const aborting = new AbortController()

const say = (said: Said): void => {
  host.write(lineOf(said))
}

/** The kernel, short of memory, takes this process before the host. */
const offerOneself = (): void => {
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000")
  } catch {
    // No Linux, or not allowed: it is a courtesy.
  }
}

const watched = ({ memoryBytes, timeoutMs }: RunOrder): Promise<void> => {
  const bounds: Bounds = { parent: process.ppid, memoryBytes, endMillis: timeoutMs + GRACE_MILLIS }
  const watchdog = new Worker(new URL("./watchdog.ts", import.meta.url), { workerData: bounds, execArgv: [] })
  watchdog.unref()
  return new Promise((resolve, reject) => {
    watchdog.once("message", () => resolve())
    watchdog.once("error", reject)
  })
}

const notHere = (what: string) => (): never => {
  throw new Error(`${what} is not there in an isolated tool: it runs in a process of its own`)
}

const runOf = ({ about }: RunOrder) => ({
  ...about,
  signal: aborting.signal,
  send: (to: unknown, text: unknown, options: { readonly wantsAnswer?: boolean } = {}): void => {
    if (typeof to !== "string") throw new Error("send needs the id of an assistant as its first argument")
    if (typeof text !== "string") throw new Error("send needs a text as its second argument")
    say({ type: "send", to, text, wantsAnswer: options.wantsAnswer === true })
  },
  reach: notHere("run.reach"),
  mayNotWrite: notHere("run.mayNotWrite"),
  get records(): never {
    return notHere("run.records")()
  }
})

const functionIn = async (module: string): Promise<(...args: ReadonlyArray<unknown>) => unknown> => {
  const loaded = (await import(module)) as { readonly default?: unknown }
  if (typeof loaded.default === "function") return loaded.default as (...args: ReadonlyArray<unknown>) => unknown
  throw new Error(`the module ${module} has no function as its default export`)
}

const finish = (said: Said): void => {
  host.end(lineOf(said), () => process.exit(0))
}

const saidPart = ({ data, ...part }: TextWithParts["parts"][number]): SaidPart => ({
  ...part,
  data: typeof data === "string" ? data : Buffer.from(new Uint8Array(data)).toString("base64")
})

const obey = async (order: RunOrder): Promise<void> => {
  process.title = `reverie tool ${order.tool}`
  offerOneself()
  await watched(order)
  const run = await functionIn(order.module)
  const value = await run(deserialize(Buffer.from(order.args, "base64")), runOf(order))
  if (isTextWithParts(value))
    return finish({ type: "done", text: capped(value.text), parts: value.parts.map(saidPart) })
  const shown = render(value)
  if ("text" in shown) return finish({ type: "done", text: capped(shown.text) })
  finish({ type: "failed", message: `its result can not be shown: ${shown.problem}` })
}

const fail = (error: unknown): void => finish({ type: "failed", message: messageOf(error) })

process.on("unhandledRejection", (reason) =>
  fail(`a promise that it left without a handler was rejected: ${messageOf(reason)}`)
)
process.on("uncaughtException", (error) => fail(`it threw in a timer or a callback: ${messageOf(error)}`))

host.on(
  "data",
  readingLines(
    (line) => {
      const order = JSON.parse(line) as Order
      if (order.type === "abort") aborting.abort()
      else obey(order).catch(fail)
    },
    () => process.exit(1)
  )
)
host.on("close", () => process.exit(0))
host.on("error", () => process.exit(0))
