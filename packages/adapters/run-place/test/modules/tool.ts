// What isolated runs of the tests call: each kind of behaviour by name.

import { execSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import type { IsolatedRun } from "@reverie/tools"

interface Request {
  readonly what: string
  readonly file?: string
  readonly [key: string]: unknown
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const kinds: Readonly<Record<string, (request: Request, run: IsolatedRun) => unknown>> = {
  about: (_, { assistant, call, key, now, tenant }) => ({ assistant, call, key, now, tenant }),
  kinds: ({ big, date, map, nested }) => [
    date instanceof Date,
    map instanceof Map && map.get("a"),
    typeof big,
    (nested as { readonly deep: ReadonlyArray<number> }).deep
  ],
  nothing: () => undefined,
  text: () => "two words",
  parts: () => ({ text: "a berth", parts: [{ type: "image", data: Uint8Array.of(1, 2, 3), mediaType: "image/png" }] }),
  long: () => "x".repeat(100_000),
  function: () => () => 1,
  throws: () => {
    throw new Error("no berth is free")
  },
  spin: () => {
    for (;;);
  },
  block: ({ file = "" }) => execSync(`echo $$ > ${file}; exec sleep 600`).toString(),
  leave: () => process.exit(0),
  segv: () => process.kill(process.pid, "SIGSEGV"),
  heap: () => {
    const kept: Array<unknown> = []
    for (;;) kept.push(Array.from({ length: 1_000 }, (_, index) => index + Math.random()))
  },
  buffers: async () => {
    const kept: Array<unknown> = []
    for (;;) {
      kept.push(Buffer.alloc(8_000_000, 1))
      await pause(1)
    }
  },
  stray: async () => {
    void Promise.reject(new Error("stray"))
    await pause(60_000)
  },
  timer: async () => {
    setTimeout(() => {
      throw new Error("stray")
    }, 5)
    await pause(60_000)
  },
  send: (_, { send }) => {
    send("bo", "one")
    send("bo", "two", { wantsAnswer: true })
    return "sent"
  },
  "send-nowhere": async (_, { send }) => {
    send("Not An Id", "one")
    await pause(60_000)
  },
  records: (_, run) => Reflect.get(run, "records"),
  reach: (_, run) => (Reflect.get(run, "reach") as () => unknown)(),
  pid: ({ file = "" }) => {
    writeFileSync(file, String(process.pid))
    for (;;);
  },
  tidy: async ({ file = "" }, { signal }) => {
    signal.addEventListener("abort", () => writeFileSync(file, "tidied"))
    writeFileSync(file, "begun")
    await pause(60_000)
  }
}

export default (request: Request, run: IsolatedRun): unknown => kinds[request.what]?.(request, run)
