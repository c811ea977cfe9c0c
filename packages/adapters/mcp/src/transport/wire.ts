// Wire: the way to one server, over HTTP or to a process. Loads neither before it is used.

import type { McpServer, Wire } from "../options.ts"

export const openWire = async ({ transport }: McpServer): Promise<Wire> => {
  if ("url" in transport) return (await import("./http.ts")).openHttp(transport)
  const { StdioWire } = await import("./stdio.ts")
  const wire = new StdioWire(transport)
  return { transport: wire, why: () => wire.why, end: () => wire.close().catch(() => {}) }
}
