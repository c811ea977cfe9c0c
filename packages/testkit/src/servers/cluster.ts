// Cluster: a directory with a PostgreSQL's data in it, made for one server.
// Owns initdb, and the user who may run the server. Leaves running it to postgres.
// C1  initdb runs once in a process; each cluster is a copy of what it made.
// C2  PostgreSQL refuses to run as root: then directory and server belong to the user `postgres`, else to `nobody`.

import { execFile } from "node:child_process"
import { chown, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { reasonOf, ServerFailed } from "./errors.ts"
import { type Keeper, startKeeper } from "./keeper.ts"

const run = promisify(execFile)

interface User {
  readonly uid: number
  readonly gid: number
}

export interface Cluster {
  /** The data is in `data` in it; the rest is for the log. */
  readonly directory: string
  readonly keeper: Keeper
  /** Undefined: the present user. */
  readonly user: User | undefined
  readonly superuser: string
}

const superuser = "reverie"

const idsOf = async (name: string): Promise<User> => {
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => Number((await run("id", [flag, name])).stdout)))
  if (uid === undefined || gid === undefined) throw new Error(`${name} has no ids`)
  return { uid, gid }
}

const userForServers = async (): Promise<User | undefined> =>
  process.getuid?.() === 0 ? idsOf("postgres").catch(() => idsOf("nobody")) : undefined

/** A directory of that user's, and its keeper. */
const newDirectory = async (user: User | undefined) => {
  const directory = await mkdtemp(join(tmpdir(), "reverie-postgres-"))
  const keeper = startKeeper(directory, "QUIT")
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  return { directory, keeper }
}

interface Template {
  readonly data: string
  readonly user: User | undefined
}

const makeTemplate = async (program: string): Promise<Template> => {
  const user = await userForServers()
  const { directory, keeper } = await newDirectory(user)
  const data = join(directory, "data")
  const flags = ["--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync", "--no-instructions"]
  try {
    await run(join(program, "../initdb"), ["-D", data, "--username", superuser, ...flags], { cwd: directory, ...user })
  } catch (cause) {
    await keeper.end()
    throw new ServerFailed({ server: "PostgreSQL", doing: "initdb", reason: reasonOf(cause) })
  }
  return { data, user }
}

/** By program; kept until this process ends. */
const templates = new Map<string, Promise<Template>>()

export const openCluster = async (program: string): Promise<Cluster> => {
  const making = templates.get(program) ?? makeTemplate(program)
  templates.set(program, making)
  const { data, user } = await making
  const { directory, keeper } = await newDirectory(user)
  try {
    await run("cp", ["-a", data, join(directory, "data")])
  } catch (cause) {
    await keeper.end()
    throw new ServerFailed({ server: "PostgreSQL", doing: "copy a cluster", reason: reasonOf(cause) })
  }
  return { directory, keeper, user, superuser }
}
