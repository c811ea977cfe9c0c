// FleetServer: the HTTP face of a fleet that a command has opened.
// Owns where it listens, its tokens, its page, and saying in the data directory where it is. Leaves answering to the server.
// H1  A port that was said is used or fails; one that was not is 4000, or the next that is free.
// H2  It takes its word back from the data directory before the fleet is closed.

import { defined } from "@reverie/protocol"
import { join } from "node:path"
import { ListenRefused, openServer, type RunningServer, tokensFrom } from "@reverie/server"
import type { Fleet, FleetRole } from "reverie"
import { masked, environment } from "../config/settings.ts"
import { readConfig } from "../config/sources.ts"
import { CommandFailed } from "../failure.ts"
import { note, painted } from "../output.ts"
import { isPageBuilt, pageFolder, refreshPage } from "./page.ts"
import { onOneLine } from "../texts/plain.ts"
import { sayServer } from "../backend/find-backend.ts"

export interface FleetServerOptions {
  readonly fleet: Fleet
  readonly role: FleetRole
  /** Where it says that it serves; none of a deployment. */
  readonly data: string | undefined
  readonly host?: string
  /** A free one from 4000 on when not said. */
  readonly port?: number
  readonly open?: boolean
  readonly hosts?: ReadonlyArray<string>
  /** none: only the API. built: what is there. fresh: built anew where its sources have changed. */
  readonly page: "none" | "built" | "fresh"
}

const FIRST_PORT = 4_000
const PORTS_TRIED = 50

export interface OpenedServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

const tokens = () => {
  try {
    return tokensFrom(process.env["REVERIE_TOKEN"], process.env["REVERIE_TOKENS"])
  } catch (error) {
    throw new CommandFailed("config-invalid", error instanceof Error ? error.message : String(error))
  }
}

/** For the system page: secrets masked, and the directory that is served. */
const configShown = (data: string | undefined) =>
  readConfig({ env: environment(), directory: process.cwd(), isDeveloping: false }).resolved.map(
    ({ from, setting, value }) => ({
      name: setting.name,
      ...(setting.name === "data" && data !== undefined && data !== value
        ? { value: data, origin: "the command" }
        : { value: setting.isSecret === true ? masked(value) : value, origin: from })
    })
  )

const isTaken = (error: unknown): boolean => error instanceof ListenRefused && error.code === "EADDRINUSE"

const listening = async (options: FleetServerOptions): Promise<RunningServer> => {
  const { data, fleet, host = "127.0.0.1", hosts = [], open = false, page, port, role } = options
  const given = tokens()
  const at = (chosen: number) =>
    openServer({
      fleet,
      role,
      host,
      port: chosen,
      tokens: given,
      open,
      hosts,
      config: configShown(data),
      ...defined({
        auditFile: data === undefined || data === ":memory:" ? undefined : join(data, "audit.jsonl"),
        page: page === "none" || (page === "built" && !isPageBuilt()) ? undefined : pageFolder
      }),
      onTrouble: (line) => note(painted("dim", onOneLine(line, 400)))
    })
  for (let tried = port ?? FIRST_PORT; ; tried++) {
    try {
      return await at(tried)
    } catch (error) {
      const isLast = port !== undefined || tried >= FIRST_PORT + PORTS_TRIED
      if (isTaken(error) && !isLast) continue
      if (error instanceof ListenRefused && error.code !== "unguarded") {
        throw new CommandFailed("port-unusable", `${error.message} (${error.code})`)
      }
      throw error
    }
  }
}

/** Where it is reached from this machine. */
const localUrl = ({ host }: FleetServerOptions, { port, url }: RunningServer): string =>
  host === "0.0.0.0" || host === "::" ? `http://${host === "::" ? "[::1]" : "127.0.0.1"}:${port}` : url

const tellTrouble = async (built: Promise<string | undefined>): Promise<void> => {
  const failure = await built
  if (failure !== undefined) note(painted("yellow", `the page could not be built: ${onOneLine(failure)}`))
}

export const openFleetServer = async (options: FleetServerOptions): Promise<OpenedServer> => {
  const server = await listening(options)
  const { data, page } = options
  const takeBack =
    data === undefined || data === ":memory:" ? () => {} : await sayServer(data, localUrl(options, server))
  const building = page === "fresh" ? refreshPage() : undefined
  if (building !== undefined) void tellTrouble(building.done)
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: async () => {
      building?.end()
      takeBack()
      await server.close()
    }
  }
}
