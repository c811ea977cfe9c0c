// Rig: servers to connect to, and calls as Reverie makes them.
// Owns folders, ports and processes, and ends what it began. Leaves what is asked and asserted to the test.

import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { AssistantId, type Json, TenantId, type ToolCall } from "@reverie/protocol"
import { execute, type ToolResult } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { assert, onTestFinished } from "vitest"
import { defineMcpServer, type McpServerOptions, type McpTools, mcpTools } from "../src/index.ts"

/** Runs after the test, also when it fails; the last is done first. */
export const later = (end: () => Promise<unknown> | void): void => onTestFinished(async () => void (await end()))

const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-mcp-"))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const linesOf = (folder: string, file: string): ReadonlyArray<string> => {
  try {
    return readFileSync(join(folder, file), "utf8").trim().split("\n")
  } catch {
    return []
  }
}

const HOSTILE = fileURLToPath(new URL("./children/hostile.ts", import.meta.url))
export const MODERN = fileURLToPath(new URL("./children/modern.ts", import.meta.url))
export const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))

export interface Hostile {
  readonly folder: string
  readonly options: McpServerOptions
}

/** A server of the mode, not started. */
export const hostile = (mode: string, options: Partial<McpServerOptions> = {}): Hostile => {
  const folder = aFolder()
  return {
    folder,
    options: {
      name: "rogue",
      transport: { command: process.execPath, args: [HOSTILE, mode, folder] },
      allow: ["echo"],
      timeoutMs: 20_000,
      startMs: 30_000,
      ...options
    }
  }
}

/** The tools of the server, which is ended with the test. */
export const opened = async (options: McpServerOptions): Promise<McpTools> => {
  const source = await mcpTools(defineMcpServer(options))
  later(source.close)
  return source
}

export const refused = async (options: McpServerOptions): Promise<Error & { readonly _tag?: string }> => {
  try {
    await opened(options)
  } catch (error) {
    assert.instanceOf(error, Error)
    return error
  }
  throw new Error("the server was not refused")
}

const address = { assistant: AssistantId.make("desk"), tenant: TenantId.make("default") }

/** One call through Reverie's own `execute`. */
export const call = (source: McpTools, tool: string, args: Json = {}, key = "key-1"): Promise<ToolResult> => {
  const found = source.tools.find(({ name }) => name === tool)
  const asked = { id: "1.1.0", tool, arguments: args } as ToolCall
  return Effect.runPromise(
    execute(found, asked, { address, key, names: source.tools.map(({ name }) => name) } as never)
  )
}

/** A port that was free a moment ago. */
const freePort = async (): Promise<number> => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", resolve)
  await promise
  const found = server.address()
  await new Promise((done) => server.close(done))
  assert(typeof found === "object" && found !== null)
  return found.port
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits until it is so; the runner's own limit ends what never comes. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGKILL")
  await gone
}

/** The reference server over Streamable HTTP; gives its port. */
export const everythingOverHttp = async (): Promise<number> => {
  const port = await freePort()
  const child = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"]
  })
  later(() => ended(child))
  const { promise, reject, resolve } = Promise.withResolvers<void>()
  let said = ""
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8")
    if (said.includes("listening")) resolve()
  })
  child.once("exit", () => reject(new Error(`the server ended: ${said}`)))
  await promise
  return port
}
