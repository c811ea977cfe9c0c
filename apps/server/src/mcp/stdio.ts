// Stdio: the MCP server over the pipes of this process, for a client that started it.
// Owns the pipes and the end. Leaves the tools to mcp-server.ts.
// P1  On standard output stands nothing but the protocol.
// P2  It ends when its client closes the pipe, or when it is asked to; either way the fleet is closed.

import { loadWith } from "@reverie/protocol"
import type { Readable, Writable } from "node:stream"
import type { Fleet } from "reverie"
import { localFleet } from "./local-fleet.ts"
import type { McpFleet } from "./mcp-fleet.ts"

export type McpSource =
  /** An open fleet; it is left open. */
  | { readonly fleet: Fleet }
  /** A running server, with the token that opens a tenant of it. */
  | { readonly url: string; readonly token?: string }

export type McpStdioOptions = McpSource & {
  /** Offers agents_send: false when not said. */
  readonly allowSend?: boolean
  /** Told of what went wrong, one line each; not to be written to standard output. */
  readonly onTrouble?: (line: string) => void
  /** Those of the process when not said. */
  readonly input?: Readable
  readonly output?: Writable
}

export interface RunningMcp {
  /** Resolves when the client has closed the pipe, or `close` was called. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

const mcpFleetOf = async (source: McpSource, onTrouble: (line: string) => void): Promise<McpFleet> => {
  if ("fleet" in source) return localFleet({ fleet: source.fleet, onTrouble })
  const { remoteFleet } = await import("./remote-fleet.ts")
  return remoteFleet(source)
}

export const serveMcpStdio = async (options: McpStdioOptions): Promise<RunningMcp> => {
  const { allowSend = false, input = process.stdin, onTrouble = () => {}, output = process.stdout } = options
  const fleet = await mcpFleetOf(options, onTrouble)
  const [{ serveStdio, StdioServerTransport }, { mcpServer }] = await loadWith(
    "MCP",
    ["@modelcontextprotocol/server"],
    () => Promise.all([import("@modelcontextprotocol/server/stdio"), import("./mcp-server.ts")])
  )
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const handle = serveStdio(() => mcpServer({ fleet, allowSend, onTrouble }), {
    transport: new StdioServerTransport(input, output),
    onerror: (error) => onTrouble(error.message)
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= handle.close().then(() => fleet.close())
    return closing.then(resolve, resolve)
  }
  for (const end of ["end", "close"]) input.once(end, () => void close())
  return { closed, close }
}
