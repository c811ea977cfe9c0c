// FindBackend: where a command works.
// Owns the choice: the address that is said, the one of the environment, the server that owns the data directory, and else
// the store, with the contract mounted in this process.
// W1  What is said is used or fails; nothing is done somewhere else by surprise.

import { readFile } from "node:fs/promises"
import { CommandFailed } from "../failure.ts"
import type { Stop } from "../running/stop.ts"
import type { Backend } from "./backend.ts"
import { serverOf } from "./server-file.ts"

export interface Where {
  readonly url?: string
  readonly tokenFile?: string
  readonly data: string | undefined
  /** Of the store: with it, what is told is followed here. */
  readonly fleet?: string
  readonly model?: string
}

/**
 * look: nothing is changed. fork: the same, beside the fleet of the file. order: something is told, and followed here where a
 * fleet file is said.
 */
export type Request = "look" | "fork" | "order"

export const tokenOf = async ({ tokenFile }: Where): Promise<string | undefined> => {
  if (tokenFile === undefined) return process.env["REVERIE_TOKEN"] || undefined
  const text = await readFile(tokenFile, "utf8").catch(() => undefined)
  if (text === undefined) throw new CommandFailed("no-such-file", `there is no token file ${tokenFile}`)
  return text.trim()
}

const checkedUrl = (url: string): string => {
  const isHttp = URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol)
  if (!isHttp) throw new CommandFailed("usage", `--url must be like http://127.0.0.1:4000, not "${url}"`)
  const { password, username } = new URL(url)
  if (username !== "" || password !== "") {
    throw new CommandFailed("usage", "--url holds a password", { hint: "a token is said with --token-file" })
  }
  return url.replace(/\/+$/, "")
}

const storeBackend = async (where: Where, request: Request, stop: Stop): Promise<Backend> => {
  const { hosting, looking, ordering } = await import("./in-process.ts")
  const { data, fleet, model } = where
  if (request === "look") return looking(data, stop)
  if (fleet === undefined) return request === "fork" ? looking(data, stop) : ordering(data, stop)
  const { loadFleet } = await import("../running/fleet-file.ts")
  const definition = await loadFleet(fleet)
  if (request === "fork") return looking(data, stop, definition)
  const { Host } = await import("../host.ts")
  const choice = model === "offline" ? { model: "offline" as const } : {}
  return hosting(await Host.open({ fleet: definition, data, ...choice, stop }), stop)
}

/** The address of a server to ask; undefined where the store is asked. */
export const serverFor = async ({ data, url }: Where): Promise<string | undefined> => {
  if (url !== undefined && url !== "") return checkedUrl(url)
  return data === undefined || data === ":memory:" ? undefined : serverOf(data)
}

export const findBackend = async (where: Where, request: Request, stop: Stop): Promise<Backend> => {
  const url = await serverFor(where)
  if (url === undefined) return storeBackend(where, request, stop)
  const { atServer } = await import("./server.ts")
  return atServer(url, await tokenOf(where), stop)
}
