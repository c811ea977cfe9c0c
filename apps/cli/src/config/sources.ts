// Sources: where settings come from, and which of them wins.
// Owns the order: flag, environment, the project's file, its .env while developing, the user's file, defaults; and reading
// the files. Leaves flags to the tree.
// C1  What wins is reported with where it is from.
// C2  A project can not send a secret elsewhere that is not its own: the address is confirmed by the user, or refused.
// C3  A file that can not be read, or holds a secret, is refused in one line that names it.

import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { parseEnv } from "node:util"
import { CommandFailed } from "../failure.ts"
import { guarded, secretFiles, type Setting, settings, TRUSTED } from "./settings.ts"

export type Origin = "env" | "project" | ".env" | "user" | "default"

export interface Resolved {
  readonly setting: Setting
  readonly value: string
  readonly origin: Origin
  /** The file, or the variable. */
  readonly from: string
}

export interface ConfigPaths {
  readonly project: string
  readonly dotenv: string
  readonly user: string
}

type Env = Readonly<Record<string, string | undefined>>

export const pathsIn = (env: Env, directory: string): ConfigPaths => {
  const home = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config")
  return {
    project: join(directory, "reverie.config.json"),
    dotenv: join(directory, ".env"),
    user: join(home, "reverie", "config.json")
  }
}

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

type Values = Readonly<Record<string, string>>

const invalid = (path: string, what: string): CommandFailed => new CommandFailed("config-invalid", `${path}: ${what}`)

const checkedName = (path: string, name: string): void => {
  const setting = settings.find((each) => each.name === name)
  if (setting?.isSecret === true) {
    throw invalid(path, `"${name}" is a secret: set ${setting.variable}, or name a file that holds it`)
  }
  if (setting === undefined && !(name in secretFiles) && name !== TRUSTED) {
    throw invalid(path, `there is no setting "${name}"`)
  }
}

/** What a configuration file says; nothing when it is not there. */
export const valuesIn = (path: string): Values => {
  const text = textOf(path)
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(path, "it is not JSON")
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(path, "it is no JSON object")
  const entries = Object.entries(value)
  for (const [name, each] of entries) {
    checkedName(path, name)
    if (typeof each !== "string" && typeof each !== "number") throw invalid(path, `"${name}" is no text`)
  }
  return Object.fromEntries(entries.map(([name, each]) => [name, String(each)]))
}

const secretFrom = (path: string, name: string, file: string): string => {
  const text = textOf(resolve(dirname(path), file))
  if (text === undefined) throw invalid(path, `"${name}" names a file that can not be read`)
  return text.trim()
}

const resolvedIn = (values: Values, path: string, origin: Origin): ReadonlyArray<Resolved> =>
  Object.entries(values).flatMap(([name, value]) => {
    const secret = secretFiles[name]
    const setting = settings.find((each) => each.name === (secret ?? name))
    if (setting === undefined) return []
    const told = secret === undefined ? value : secretFrom(path, name, value)
    return [{ setting, value: told, origin, from: path }]
  })

const fromDotenv = (path: string): ReadonlyArray<Resolved> => {
  const values = parseEnv(textOf(path) ?? "")
  return settings.flatMap((setting) => {
    const value = values[setting.variable]
    return value === undefined || value === "" ? [] : [{ setting, value, origin: ".env" as const, from: path }]
  })
}

/** Both stand in the project's directory, and are trusted alike. */
const zoneOf = ({ origin }: Resolved): "project" | "own" =>
  origin === "project" || origin === ".env" ? "project" : "own"

/** A URL with a password of its own is sent no other. */
const hasOwnPassword = ({ value }: Resolved): boolean => URL.canParse(value) && new URL(value).password !== ""

const assertTrusted = (found: ReadonlyArray<Resolved>, trusted: ReadonlyArray<string>): void => {
  const of = (name: string) => found.find(({ setting }) => setting.name === name)
  for (const [address, secret] of guarded) {
    const [to, what] = [of(address), of(secret)]
    if (to === undefined || what === undefined || zoneOf(to) === "own" || zoneOf(what) === "project") continue
    if (trusted.includes(to.value) || (address === "database" && hasOwnPassword(to))) continue
    throw new CommandFailed("config-untrusted", `${to.from} would send your ${what.setting.variable} to ${to.value}`, {
      hint: `if that is meant: reverie config set --user trusted ${to.value}`
    })
  }
}

export interface Config {
  readonly resolved: ReadonlyArray<Resolved>
  readonly paths: ConfigPaths
  /** Fails when a secret would go where no one has confirmed. */
  readonly assertTrusted: () => void
}

export interface ConfigRequest {
  readonly env: Env
  readonly directory: string
  /** `.env` is read while developing only. */
  readonly isDeveloping: boolean
}

export const readConfig = ({ directory, env, isDeveloping }: ConfigRequest): Config => {
  const paths = pathsIn(env, directory)
  const user = valuesIn(paths.user)
  const inEnv = settings.flatMap((setting) => {
    const value = env[setting.variable] ?? ""
    return value === "" ? [] : [{ setting, value, origin: "env" as const, from: setting.variable }]
  })
  const ordered: ReadonlyArray<Resolved> = [
    ...inEnv,
    ...resolvedIn(valuesIn(paths.project), paths.project, "project"),
    ...(isDeveloping ? fromDotenv(paths.dotenv) : []),
    ...resolvedIn(user, paths.user, "user"),
    ...settings.flatMap((setting) => {
      const { fallback } = setting
      return fallback === undefined ? [] : [{ setting, value: fallback, origin: "default" as const, from: "default" }]
    })
  ]
  const resolved = settings.flatMap((setting) => ordered.find((each) => each.setting === setting) ?? [])
  const trusted = (user[TRUSTED] ?? "").split(/[\s,]+/).filter((each) => each !== "")
  return { resolved, paths, assertTrusted: () => assertTrusted(resolved, trusted) }
}

/** Puts what files say where the environment does not: anyone who reads the environment reads all of it. */
export const applyConfig = ({ resolved }: Config, env: Record<string, string | undefined>): void => {
  for (const { origin, setting, value } of resolved) {
    if (origin !== "env" && origin !== "default") env[setting.variable] = value
  }
}
