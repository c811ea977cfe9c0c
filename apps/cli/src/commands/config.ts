// Config: what is set, where it comes from, and changing what a file says.
// Owns `config get`, `set`, `list` and `path`. Leaves the order of the sources to config/sources.ts.
// G1  A secret is reported masked, and never written into a file.

import { defined } from "@reverie/protocol"
import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { settings, masked, secretFiles, TRUSTED, environment } from "../config/settings.ts"
import { type Config, pathsIn, readConfig, type Resolved, valuesIn } from "../config/sources.ts"
import type { ChangeOptions } from "../consent.ts"
import { CommandFailed } from "../failure.ts"
import { type ListOptions, pageOf, tellList } from "../texts/list.ts"
import { say, sayJson } from "../output.ts"
import { onOneLine, table } from "../texts/plain.ts"

const current = (): Config => readConfig({ env: environment(), directory: process.cwd(), isDeveloping: true })

const told = ({ from, origin, setting, value }: Resolved) => ({
  name: setting.name,
  value: setting.isSecret === true ? masked(value) : value,
  origin,
  from
})

const toldOf = (name: string): ReturnType<typeof told> => {
  const setting = settings.find((each) => each.name === name || each.variable === name)
  if (setting === undefined) {
    const names = settings.map((each) => each.name).join(", ")
    throw new CommandFailed("not-found", `there is no setting "${name}"`, { hint: `there are ${names}` })
  }
  const found = current().resolved.find((each) => each.setting === setting)
  if (found === undefined) throw new CommandFailed("not-found", `${setting.name} is not set`)
  return told(found)
}

interface OriginOptions {
  readonly showOrigin: boolean
}

export const get = (name: string, { json, showOrigin }: { readonly json: boolean } & OriginOptions): number => {
  const found = toldOf(name)
  if (json) sayJson({ ok: true, ...found })
  else say(onOneLine(showOrigin ? `${found.value}  (${found.origin}: ${found.from})` : found.value, 400))
  return 0
}

export const list = (options: ListOptions & OriginOptions): Promise<number> =>
  tellList(options, async () => {
    const { items, next } = pageOf(current().resolved.map(told), options)
    const rows = items.map(({ from, name, origin, value }) => [
      name,
      onOneLine(value, 100),
      ...(options.showOrigin ? [origin, onOneLine(from, 100)] : [])
    ])
    const head = ["setting", "value", ...(options.showOrigin ? ["origin", "from"] : [])]
    return { key: "settings", items, next, text: table([head, ...rows]) }
  })

export const path = (options: ListOptions): Promise<number> =>
  tellList(options, async () => {
    const items = Object.entries(pathsIn(environment(), process.cwd())).map(([name, at]) => ({ name, path: at }))
    return { key: "paths", items, text: table(items.map(({ name, path: at }) => [name, at])) }
  })

const assertSettable = (name: string): void => {
  const setting = settings.find((each) => each.name === name)
  if (setting?.isSecret === true) {
    throw new CommandFailed("usage", `${name} is a secret: no configuration file may hold it`, {
      hint: `set ${setting.variable}, or name a file that holds it (${Object.keys(secretFiles).join(", ")})`
    })
  }
  if (setting === undefined && !(name in secretFiles) && name !== TRUSTED) {
    throw new CommandFailed("not-found", `there is no setting "${name}"`, { hint: "reverie config list names them" })
  }
}

export interface SetOptions extends ChangeOptions {
  readonly user: boolean
}

export const set = (name: string, value: string, { dryRun, json, user }: SetOptions): number => {
  assertSettable(name)
  if (name === TRUSTED && !user) {
    throw new CommandFailed("usage", "only you can trust an address: add --user", { hint: "" })
  }
  const paths = pathsIn(environment(), process.cwd())
  const file = user ? paths.user : paths.project
  const before = valuesIn(file)
  const isAdded = name === TRUSTED && (before[TRUSTED] ?? "") !== ""
  const values = { ...before, [name]: isAdded ? `${before[TRUSTED]} ${value}` : value }
  if (!dryRun) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(values, undefined, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
  }
  if (json) sayJson({ ok: true, ...defined({ dryRun: dryRun ? dryRun : undefined }), name, value, file })
  else say(onOneLine(`${name} ${dryRun ? "would be" : "is"} ${value} in ${file}`, 400))
  return 0
}
