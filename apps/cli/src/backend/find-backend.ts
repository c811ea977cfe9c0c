// FindBackend: where a command works.
// Owns the file in which a server says where it is, and the choice: the address that is said, the one of the environment, the
// server that owns the data directory, the one that owns a directory in it where there is no data in itself, and else the store
// of either, with the contract mounted in this process.
// W1  What is said is used or fails; nothing is done somewhere else by surprise: what was found is reported.

import { readdir, readFile, realpath, rename, writeFile } from "node:fs/promises"
import { defined } from "@reverie/protocol"
import { CommandFailed } from "../failure.ts"
import { note, painted } from "../output.ts"
import type { Stop } from "../running/stop.ts"
import type { Backend } from "./backend.ts"
import { plainFetch } from "./plain-fetch.ts"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"

export interface Where {
  readonly url?: string
  readonly tokenFile?: string
  readonly data: string | undefined
  /** Of the store: with it, what is sent is followed here. */
  readonly fleet?: string
  readonly model?: string
  /** Of the store; at a server the token says it. */
  readonly tenant?: string
}

/**
 * look: nothing is changed. fork: the same, beside the fleet of the file. order: something is sent, and followed here where a
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
  const { assertTenant, hosting, looking, ordering } = await import("./in-process.ts")
  const { data, fleet, model } = where
  const store = { data, ...defined({ tenant: where.tenant }) }
  if (request === "look") return looking(store, stop)
  if (fleet === undefined) return request === "fork" ? looking(store, stop) : ordering(store, stop)
  const { loadFleet } = await import("../running/fleet-file.ts")
  const definition = await loadFleet(fleet)
  if (request === "fork") return looking(store, stop, definition)
  await assertTenant(store)
  const { Host } = await import("../host.ts")
  const choice = model === "offline" ? { model: "offline" as const } : {}
  return hosting(await Host.open({ ...store, fleet: definition, ...choice, stop }), stop)
}

/** The file of a data directory that has data. */
const DATABASE = "reverie.db"

/** Directories in this one, which has no data itself: `npm start` keeps a fleet in one of its own. */
const inside = async (data: string): Promise<ReadonlyArray<string>> => {
  if (existsSync(join(data, DATABASE))) return []
  const entries = await readdir(data, { withFileTypes: true }).catch(() => [])
  return entries.filter((each) => each.isDirectory()).map(({ name }) => join(data, name))
}

const several = (kind: string, data: string, directories: ReadonlyArray<string>): CommandFailed =>
  new CommandFailed("usage", `there are several ${kind} in ${data}: ${directories.join(", ")}`, {
    hint: "say one with --data"
  })

interface Found {
  readonly url: string
  /** The directory that it owns. */
  readonly data: string
}

/** The servers that own a directory in this one. */
const serversIn = async (data: string): Promise<ReadonlyArray<Found>> => {
  const inner = await inside(data)
  const urls = await Promise.all(inner.map(serverOf))
  return inner.flatMap((directory, index) => {
    const url = urls[index]
    return url === undefined ? [] : [{ url, data: directory }]
  })
}

/** The address of a server to ask; undefined where the store is asked. */
export const serverFor = async ({ data, fleet, url }: Where): Promise<string | undefined> => {
  if (url !== undefined && url !== "") return checkedUrl(url)
  if (data === undefined || data === ":memory:") return undefined
  const own = await serverOf(data)
  // A fleet file means a fleet of one's own, which may have no data yet.
  if (own !== undefined || fleet !== undefined) return own
  const [found, ...others] = await serversIn(data)
  if (found === undefined) return undefined
  if (others.length > 0) {
    throw several(
      "running fleets",
      data,
      [found, ...others].map((each) => each.data)
    )
  }
  note(painted("dim", `the fleet in ${found.data}, at ${found.url}`))
  return found.url
}

/** The directory of the store: the one that was said, or the only one in it that has data. */
export const storeIn = async ({ data, fleet }: Where): Promise<string | undefined> => {
  if (data === undefined || data === ":memory:" || fleet !== undefined) return data
  const [found, ...others] = (await inside(data)).filter((directory) => existsSync(join(directory, DATABASE)))
  if (found === undefined) return data
  if (others.length > 0) throw several("fleets", data, [found, ...others])
  note(painted("dim", `the fleet in ${found}`))
  return found
}

export const findBackend = async (where: Where, request: Request, stop: Stop): Promise<Backend> => {
  const url = await serverFor(where)
  if (url === undefined) return storeBackend({ ...where, data: await storeIn(where) }, request, stop)
  if (where.tenant !== undefined) {
    throw new CommandFailed("usage", `${url} is asked for the tenant of its token`, {
      hint: "--tenant is for a data directory that no server works on; give the token of that tenant"
    })
  }
  const { atServer } = await import("./server.ts")
  return atServer(url, await tokenOf(where), stop)
}

// ServerFile: the server that owns a data directory, as it says so in the directory.
// Owns the file `server.json`, and judging whether it is still true. Leaves serving to the code that serves.
// V1  Only its owner may read it; the one who wrote it removes it at its end.
// V2  It is believed only when its address is this machine's own, its process lives, and something answers or is too busy to
//     answer there: the token of the caller never goes elsewhere because a file said so.
// V3  It is of the directory that it names: a copy of a directory has no server, and is not taken for the one it was made of.

interface ServerFacts {
  readonly url: string
  readonly pid: number
  /** Undefined where an earlier version wrote it. */
  readonly data: unknown
}

const NAME = "server.json"
const ANSWER_MILLIS = 1_500

const isLoopbackUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  return protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

/** A process of another user lives too, though it may not be signalled. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EPERM"
  }
}

const factsIn = (text: string): ServerFacts | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== "object" || value === null) return undefined
    const url: unknown = Reflect.get(value, "url")
    const pid: unknown = Reflect.get(value, "pid")
    const data: unknown = Reflect.get(value, "data")
    return typeof url === "string" && typeof pid === "number" ? { url, pid, data } : undefined
  } catch {
    return undefined
  }
}

/** One that is busy answers later: only where no one listens, or someone else does, there is none. */
const isThere = async (url: string): Promise<boolean> => {
  try {
    const response = await plainFetch(`${url}/livez`, { signal: AbortSignal.timeout(ANSWER_MILLIS) })
    response.leave()
    return response.ok
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError"
  }
}

/** The address of the server that owns a directory; undefined when none does. */
const serverOf = async (data: string): Promise<string | undefined> => {
  const text = await readFile(join(data, NAME), "utf8").catch(() => "")
  const facts = text === "" ? undefined : factsIn(text)
  if (facts === undefined || !isLoopbackUrl(facts.url) || !isAlive(facts.pid)) return undefined
  if (facts.data !== undefined && facts.data !== (await realpath(data))) return undefined
  return (await isThere(facts.url)) ? facts.url : undefined
}

/** Says where the directory's server is; answers how to take it back. */
export const sayServer = async (data: string, url: string): Promise<() => void> => {
  const path = join(data, NAME)
  const partial = `${path}.${process.pid}`
  const facts = { url, pid: process.pid, data: await realpath(data) } satisfies ServerFacts
  await writeFile(partial, `${JSON.stringify(facts)}\n`, { mode: 0o600 })
  await rename(partial, path)
  return () => rmSync(path, { force: true })
}
