// Wire: what carries messages to one server and back.
// Owns the form that both ways of reaching one share. Loads neither before it is used.

import type { Transport } from "@modelcontextprotocol/client"
import type { McpServer } from "../options.ts"

export interface Wire {
  readonly transport: Transport
  /** Why it ended, in words; undefined while that is not known. */
  readonly why: () => string | undefined
  /** Never rejects. Afterwards nothing of it is left. */
  readonly end: () => Promise<void>
}

export const openWire = async ({ transport }: McpServer): Promise<Wire> => {
  if ("url" in transport) return (await import("./http.ts")).openHttp(transport)
  const { StdioWire } = await import("./stdio.ts")
  const wire = new StdioWire(transport)
  return { transport: wire, why: () => wire.why, end: () => wire.close().catch(() => {}) }
}
