// ServerFile: the server that owns a data directory, as it says so in the directory.
// Owns the file `server.json`, and judging whether it is still true. Leaves serving to whoever serves.
// V1  Only its owner may read it; whoever wrote it removes it at its end.
// V2  It is believed only when its address is this machine's own, its process lives, and something answers there: the token
//     of whoever asks never goes elsewhere because a file said so.

import { rmSync } from "node:fs"
import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"

interface ServerFacts {
  readonly url: string
  readonly pid: number
}

const NAME = "server.json"
const ANSWER_MILLIS = 1_500

const isLoopbackUrl = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  return protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

const isAlive = (pid: number): boolean => {
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
    return typeof url === "string" && typeof pid === "number" ? { url, pid } : undefined
  } catch {
    return undefined
  }
}

const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(ANSWER_MILLIS) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

/** The address of the server that owns a directory; undefined when none does. */
export const serverOf = async (data: string): Promise<string | undefined> => {
  const text = await readFile(join(data, NAME), "utf8").catch(() => "")
  const facts = text === "" ? undefined : factsIn(text)
  if (facts === undefined || !isLoopbackUrl(facts.url) || !isAlive(facts.pid)) return undefined
  return (await answers(facts.url)) ? facts.url : undefined
}

/** Says where the directory's server is; answers how to take it back. */
export const sayServer = async (data: string, url: string): Promise<() => void> => {
  const path = join(data, NAME)
  const partial = `${path}.${process.pid}`
  await writeFile(partial, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 })
  await rename(partial, path)
  return () => rmSync(path, { force: true })
}
