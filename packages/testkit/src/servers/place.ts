// Place: where a test finds Redis, PostgreSQL and Qdrant.
// Owns the order: what the environment names, else a program of this machine. Leaves starting to redis and postgres.
// P1  A server that is not there is reported with a reason that says what to set or install.
// P2  One that may be killed is never the environment's.
// P3  Of several PostgreSQL on the machine it is the newest; one on the PATH comes before them.

import { accessSync, constants, readdirSync } from "node:fs"
import { delimiter, join } from "node:path"

export type ServerName = "redis" | "postgres" | "qdrant"

export type Place =
  | { readonly origin: "environment"; readonly url: string }
  /** Where the server's program stands. */
  | { readonly origin: "machine"; readonly program: string }
  | { readonly origin: undefined; readonly reason: string }

export const serverNames: ReadonlyArray<ServerName> = ["redis", "postgres", "qdrant"]

export const variableOf: Readonly<Record<ServerName, string>> = {
  redis: "REDIS_URL",
  postgres: "DATABASE_URL",
  qdrant: "QDRANT_URL"
}

const mayRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const onPath = (program: string): ReadonlyArray<string> =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))

/** Where Debian keeps the programs of each version, newest first. */
const debianFolder = "/usr/lib/postgresql"

const ofDebian = (): ReadonlyArray<string> => {
  try {
    const versions = readdirSync(debianFolder).filter((name) => /^\d+$/.test(name))
    return versions
      .toSorted((one, other) => Number(other) - Number(one))
      .map((version) => join(debianFolder, version, "bin/postgres"))
  } catch {
    return []
  }
}

const programOf: Readonly<Record<ServerName, () => string | undefined>> = {
  redis: () => onPath("redis-server").find(mayRun),
  postgres: () =>
    [...onPath("postgres"), ...ofDebian()].find((path) => mayRun(path) && mayRun(join(path, "../initdb"))),
  qdrant: () => undefined
}

const missing: Readonly<Record<ServerName, string>> = {
  redis: "no redis-server is on the PATH",
  postgres: `no postgres with its initdb is on the PATH or in ${debianFolder}`,
  qdrant: "a Qdrant is not looked for on the machine"
}

export interface Wanted {
  /** Only one that may be killed: the server of the environment is passed over. */
  readonly own?: boolean
}

/** Looked up anew with every call: it is cheap, and a test may set a variable. */
export const placeOf = (server: ServerName, { own = false }: Wanted = {}): Place => {
  const variable = variableOf[server]
  const url = process.env[variable]
  const isNamed = url !== undefined && url !== ""
  if (isNamed && !own) return { origin: "environment", url }
  const program = programOf[server]()
  if (program !== undefined) return { origin: "machine", program }
  const named = isNamed ? `that of ${variable} may not be killed` : `${variable} is not set`
  return { origin: undefined, reason: `${named}, and ${missing[server]}` }
}
