// Mount: the MCP server under one path of the HTTP server (Streamable HTTP).
// Owns the way from a judged request to the protocol and back. Leaves who may come in to the guard before it.
// M1  It acts for the tenant of its principal alone; anyone who may only look is offered nothing that says something.
// M2  It is loaded with the first request to it.
// M3  A client that leaves ends what was asked for them.
// M4  What is said through it is written down as any change is.

import { defined, loadWith } from "@reverie/protocol"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream } from "node:stream/web"
import type { McpHttpHandler } from "@modelcontextprotocol/server"
import type { Principal } from "../api/index.ts"
import type { Gateway } from "../gateway.ts"
import { apiFailureOf } from "../failure.ts"
import type { Drops } from "../live.ts"
import { localFleet } from "./local-fleet.ts"
import type { McpFleet } from "./mcp-fleet.ts"

/** A request that the guard has let in, with its body as text; empty when it has none. */
export interface McpAdmitted {
  readonly principal: Principal["Service"]
  readonly text: string
}

export interface McpMount {
  readonly answer: (request: IncomingMessage, response: ServerResponse, admitted: McpAdmitted) => Promise<void>
  readonly close: () => Promise<void>
}

const headersOf = ({ headers }: IncomingMessage): Headers => {
  const own = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // The token has done its work.
    if (value === undefined || name.startsWith(":") || name === "authorization" || name === "cookie") continue
    own.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  return own
}

/** Nothing of it is resolved: only its path and its headers are read. */
const webRequest = (request: IncomingMessage, text: string, signal: AbortSignal): Request => {
  const { method = "GET", url = "/" } = request
  const hasBody = method !== "GET" && method !== "HEAD"
  return new Request(new URL(url, "http://localhost"), {
    method,
    headers: headersOf(request),
    signal,
    ...defined({ body: hasBody ? text : undefined })
  })
}

const write = async (answered: Response, response: ServerResponse): Promise<void> => {
  response.statusCode = answered.status
  for (const [name, value] of answered.headers) response.setHeader(name, value)
  if (answered.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  // Where the types of a browser are known too, theirs stands for the same thing.
  const body = answered.body as unknown as ReadableStream<Uint8Array>
  await pipeline(Readable.fromWeb(body), response).catch((error: unknown) => {
    // Anyone who has left hears no more.
    if (!response.destroyed) throw error
  })
}

const principalIn = (extra: Record<string, unknown> | undefined): Principal["Service"] =>
  extra?.["principal"] as Principal["Service"]

/** The fleet of a tenant, whose messages are written down in the name of the one who sends them. */
const recorded = (fleet: McpFleet, gateway: Gateway["Service"], { name, tenant }: Principal["Service"]): McpFleet => {
  const told = (target: string, outcome: string) =>
    gateway.record({ at: Date.now(), who: name, tenant, action: "mcp.agents_send", target, outcome })
  return {
    ...fleet,
    send: async (said, patience) => {
      try {
        const answer = await fleet.send(said, patience)
        told(said.agent, "done")
        return answer
      } catch (error) {
        told(said.agent, `refused: ${apiFailureOf(error, () => {})._tag}`)
        throw error
      }
    }
  }
}

export const mcpMount = (gateway: Gateway["Service"], drops: Drops): McpMount => {
  const { onTrouble } = gateway
  const fleets = new Map<string, McpFleet>()
  // Only tokens name tenants: there are as many as those say.
  const mcpFleetFor = (tenant: string): McpFleet => {
    const fleet = fleets.get(tenant) ?? localFleet({ fleet: gateway.fleetOf(tenant), onTrouble, drops })
    fleets.set(tenant, fleet)
    return fleet
  }
  const open = async (): Promise<McpHttpHandler> => {
    const [{ createMcpHandler }, { mcpServer }] = await loadWith("MCP", ["@modelcontextprotocol/server"], () =>
      Promise.all([import("@modelcontextprotocol/server"), import("./mcp-server.ts")])
    )
    return createMcpHandler(
      ({ authInfo }) => {
        const principal = principalIn(authInfo?.extra)
        const fleet = recorded(mcpFleetFor(principal.tenant), gateway, principal)
        return mcpServer({ fleet, allowSend: !principal.readOnly, onTrouble })
      },
      { onerror: (error) => onTrouble(`mcp: ${error.message}`) }
    )
  }
  let opened: Promise<McpHttpHandler> | undefined
  return {
    answer: async (request, response, { principal, text }) => {
      const handler = await (opened ??= open())
      const leaving = new AbortController()
      response.once("close", () => leaving.abort())
      const authInfo = { token: "", clientId: principal.name, scopes: [], extra: { principal } }
      await write(await handler.fetch(webRequest(request, text, leaving.signal), { authInfo }), response)
    },
    close: async () => {
      await (await opened)?.close()
    }
  }
}
