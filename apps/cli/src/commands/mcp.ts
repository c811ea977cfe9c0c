// Mcp: a fleet offered to MCP clients, and a look at a server of tools.
// Owns what is printed of a server's tools. Leaves the protocol to the server and to the adapter.
// M1  Nothing of a server's tools is called by looking at them.

import { defined } from "@reverie/protocol"
import { CommandFailed } from "../failure.ts"
import { type ListOptions, pageOf, tellList } from "../texts/list.ts"
import type { Host } from "../host.ts"
import { note } from "../output.ts"
import { onOneLine, plain } from "../texts/plain.ts"
import { serverFor, tokenOf, type Where } from "../backend/find-backend.ts"
import type { Stop } from "../running/stop.ts"
import { needsFleet } from "./running/run.ts"

export interface McpServeOptions extends Where {
  readonly allowWrites: boolean
}

/** The fleet that is opened here for it, where no server is reached. */
const openedFleet = async ({ data, fleet, model }: McpServeOptions, stop: Stop): Promise<Host> => {
  const { loadFleet } = await import("../running/fleet-file.ts")
  const { Host } = await import("../host.ts")
  const choice = model === "offline" ? { model: "offline" as const } : {}
  return Host.open({ fleet: await loadFleet(needsFleet(fleet, "mcp serve")), data, ...choice, stop })
}

export const serve = async (options: McpServeOptions, stop: Stop): Promise<number> => {
  const url = await serverFor(options)
  const { serveMcpStdio } = await import("@reverie/server")
  const onTrouble = (line: string) => note(onOneLine(line, 400))
  await using host = url === undefined ? await openedFleet(options, stop) : undefined
  const token = await tokenOf(options)
  const source = host === undefined ? { url: url ?? "", ...defined({ token }) } : { fleet: host.fleet }
  const running = await serveMcpStdio({ ...source, allowSend: options.allowWrites, onTrouble })
  try {
    await stop.orAsked(running.closed)
    return 0
  } finally {
    await running.close()
  }
}

/** What the adapter says to a model before the server's own words; a person knows whom he looks at. */
const INTRODUCTION = /^A tool of the MCP server looked_at, which says of it: /

export interface McpToolsOptions extends ListOptions {
  readonly server?: string
  readonly header: ReadonlyArray<string>
}

const headersOf = (given: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    given.map((each) => {
      const at = each.indexOf("=")
      if (at < 1) throw new CommandFailed("usage", "--header must be name=value")
      return [each.slice(0, at), each.slice(at + 1)]
    })
  )

const transportOf = (command: ReadonlyArray<string>, { header, server }: McpToolsOptions) => {
  const [program, ...args] = command
  if ((program === undefined) === (server === undefined)) {
    throw new CommandFailed("usage", "say the command of a server, or --server URL", {
      hint: "reverie mcp tools -- COMMAND ARGS"
    })
  }
  if (program !== undefined) return { command: program, args }
  const url = server ?? ""
  if (!URL.canParse(url)) throw new CommandFailed("usage", `--server must be a URL, not "${url}"`)
  const { host, port, protocol } = new URL(url)
  const place = port === "" ? `${host}:${protocol === "https:" ? 443 : 80}` : host
  // Anyone who names the address means it, also where it is on this machine.
  return { url, headers: headersOf(header), allowPrivate: [place] }
}

export const tools = async (command: ReadonlyArray<string>, options: McpToolsOptions, stop: Stop): Promise<number> => {
  const transport = transportOf(command, options)
  const { mcpServer, McpToolsRefused, pinsText } = await import("reverie")
  const offered = await stop.orAsked(
    mcpServer({ name: "looked_at", transport, allow: [] }).then(
      async (opened) => {
        await opened.close()
        return opened.offered
      },
      (error: unknown) => {
        if (error instanceof McpToolsRefused) return error.offered
        throw error
      }
    )
  )
  if (offered.length === 0) throw new CommandFailed("not-found", "the server offers no tools")
  await using opened = await stop.orAsked(mcpServer({ name: "looked_at", transport, allow: offered }))
  const all = Object.entries(opened.hashes).map(([name, pin]) => {
    const tool = opened.tools.find((each) => each.name.endsWith(`__${name}`))
    return { name, pin, description: (tool?.description ?? "").replace(INTRODUCTION, "") }
  })
  return await tellList(options, async () => {
    const { items, next } = pageOf(all, options)
    const pins = pinsText(Object.fromEntries(items.map(({ name, pin }) => [name, pin])))
    const lines = items.map(({ description, name }) => `${name}\n   ${description.split("\n")[0] ?? ""}`)
    return { key: "tools", items, next, text: plain([...lines, "", pins].join("\n")) }
  })
}
