// Mcp: a fleet offered to MCP clients, and a look at a server of tools.
// Owns what is printed of a server's tools. Leaves the protocol to the server and to the adapter.
// M1  Nothing of a server's tools is called by looking at them.

import { CommandFailed } from "../failure.ts"
import { type ListOptions, pageOf, tellList } from "../list.ts"
import { plain } from "../plain.ts"
import type { Where } from "../reach/find-reach.ts"
import type { Stop } from "../stop.ts"

export interface McpServeOptions extends Where {
  readonly allowWrites: boolean
}

export const serve = async (_options: McpServeOptions, _stop: Stop): Promise<number> => {
  throw new CommandFailed("not-possible", "offering a fleet over MCP is not in this build")
}

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
  // Whoever names the address means it, also where it is on this machine.
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
    return { name, pin, description: tool?.description ?? "" }
  })
  return await tellList(options, async () => {
    const { items, next } = pageOf(all, options)
    const pins = pinsText(Object.fromEntries(items.map(({ name, pin }) => [name, pin])))
    const lines = items.map(({ description, name }) => `${name}\n   ${description.split("\n")[0] ?? ""}`)
    return { key: "tools", items, next, text: plain([...lines, "", pins].join("\n")) }
  })
}
