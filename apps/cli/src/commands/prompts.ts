// Prompts: the templates and components of a tenant, shown and changed.
// Owns what is shown of them, and naming the version that a change is made to. Leaves every rule to the registry.
// P1  A change is made to the version that was read just before, or to the one that --expected names.

import { defined, isJsonObject, type Json, parseJson } from "@reverie/protocol"
import { readFile } from "node:fs/promises"
import * as Result from "effect/Result"
import type { Backend } from "../backend/backend.ts"
import { findBackend, type Where } from "../backend/find-backend.ts"
import { type ChangeOptions, saidOrPiped } from "../consent.ts"
import { CommandFailed } from "../failure.ts"
import { say, sayJson } from "../output.ts"
import type { Stop } from "../running/stop.ts"
import { type ListOptions, pageOf, tellList } from "../texts/list.ts"
import { onOneLine, plain } from "../texts/plain.ts"

interface KindOptions {
  readonly component: boolean
}

/** A template or a component, in the words of this command. */
interface Shown {
  readonly key: string
  readonly name: string
  readonly text: string
  /** 0 of what is built in. */
  readonly version: number
  readonly place: string
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "")
const numberIn = (value: unknown): number => (typeof value === "number" ? value : 0)

const templatesOf = async (backend: Backend): Promise<ReadonlyArray<Shown>> => {
  const { items } = await backend.prompts((api) => api.templates())
  return items.map(({ builtin, category, key, name, text, version }) => {
    return { key, name, text, version, place: `${builtin ? "built in" : `version ${version}`}, ${category ?? ""}` }
  })
}

const componentsOf = async (backend: Backend): Promise<ReadonlyArray<Shown>> => {
  const { items } = await backend.prompts((api) => api.components())
  return items.map((item) => {
    const { content, enabled, id, isStatic, key, name, role, version } = item as { readonly [name: string]: unknown }
    const state = isStatic === true ? "built in" : `version ${numberIn(version)}${enabled === false ? ", off" : ""}`
    return {
      key: textIn(key),
      name: textIn(name),
      text: textIn(content),
      version: numberIn(version),
      place: `${numberIn(id)} ${textIn(role)}, ${state}`
    }
  })
}

const allOf = (backend: Backend, { component }: KindOptions) =>
  component ? componentsOf(backend) : templatesOf(backend)

const what = ({ component }: KindOptions): string => (component ? "component" : "template")

export const list = async (options: Where & ListOptions & KindOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const find = async () => {
    const { items, next } = pageOf(await allOf(backend, options), options)
    const text = items.map(({ key, name, place }) => onOneLine(`${key}  ${place}  ${name}`)).join("\n")
    return { key: `${what(options)}s`, items, next, text: plain(text) }
  }
  return await tellList(options, find, backend)
}

const foundIn = async (backend: Backend, key: string, options: KindOptions): Promise<Shown> => {
  const found = (await allOf(backend, options)).find((each) => each.key === key)
  if (found !== undefined) return found
  throw new CommandFailed("not-found", `there is no ${what(options)} ${JSON.stringify(key)}`)
}

export const show = async (
  key: string,
  options: Where & KindOptions & { readonly json: boolean },
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const found = await backend.within(foundIn(backend, key, options))
  if (options.json) sayJson({ ok: true, ...found })
  else say(plain(found.text))
  return 0
}

/** As it may be shared: what `import` takes. */
export const share = async (
  key: string,
  options: Where & KindOptions & { readonly json: boolean },
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const params = { key }
  const exported = await backend.within<unknown>(
    backend.prompts((api) => (options.component ? api.exportComponent({ params }) : api.export({ params })))
  )
  if (options.json) sayJson({ ok: true, key, export: exported })
  else say(plain(JSON.stringify(exported, null, 2)))
  return 0
}

export const history = async (key: string, options: Where & ListOptions & KindOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const params = { key }
  const find = async () => {
    const past = await backend.prompts((api) =>
      options.component ? api.componentHistory({ params }) : api.history({ params })
    )
    const { items, next } = pageOf(past.items, options)
    const lines = items.map(({ at, change, definition, restores, version }) => {
      const back = restores === undefined ? "" : ` of ${restores}`
      const text = textIn((definition as { readonly content?: unknown } | undefined)?.content)
      return onOneLine(`${version}  ${new Date(at).toISOString()}  ${change}${back}  ${text.slice(0, 60)}`)
    })
    return { key: "versions", items, next, text: plain(lines.join("\n")) }
  }
  return await tellList(options, find, backend)
}

export interface WriteOptions extends Where, ChangeOptions, KindOptions {
  readonly name?: string
  readonly description?: string
  readonly category?: string
  readonly role?: "system" | "user" | "assistant" | "tool"
  readonly after?: number
  readonly template?: string
  readonly enabled?: "yes" | "no"
  readonly expected?: number
}

/** What a change is made to: 0 where nothing stands, or only what is built in. */
const versionOf = async (backend: Backend, key: string, options: WriteOptions): Promise<number> =>
  options.expected ?? (await allOf(backend, options)).find((each) => each.key === key)?.version ?? 0

const told = (answer: object, words: string, { json }: ChangeOptions): number => {
  if (json) sayJson({ ok: true, ...answer })
  else say(plain(words))
  return 0
}

const writeComponent = async (backend: Backend, key: string, text: string | undefined, options: WriteOptions) => {
  const { after, description, enabled, name, role, template } = options
  const isOn = enabled === undefined ? undefined : enabled === "yes"
  const texts = defined({ after, description, enabled: isOn, name, role, template, text })
  const payload = { ...texts, expected: await versionOf(backend, key, options) }
  return { payload, ask: () => backend.prompts((api) => api.writeComponent({ params: { key }, payload })) }
}

const writeTemplate = async (backend: Backend, key: string, text: string, options: WriteOptions) => {
  const { category, description } = options
  const expected = await versionOf(backend, key, options)
  const name = options.name ?? (await allOf(backend, options)).find((each) => each.key === key)?.name ?? key
  const payload = { name, text, expected, ...defined({ category, description }) }
  return { payload, ask: () => backend.prompts((api) => api.write({ params: { key }, payload })) }
}

export const write = async (key: string, text: string | undefined, options: WriteOptions, stop: Stop) => {
  await using backend = await findBackend(options, "order", stop)
  const { after, component, enabled, template } = options
  const isMove =
    component && text === undefined && (after !== undefined || enabled !== undefined || template !== undefined)
  const said = isMove ? undefined : await saidOrPiped(text, "the text")
  const { ask, payload } = component
    ? await writeComponent(backend, key, said, options)
    : await writeTemplate(backend, key, said ?? "", options)
  if (options.dryRun) return told({ dryRun: true, would: payload }, `would write the ${what(options)} ${key}`, options)
  const answer = await backend.within<{ readonly version: number }>(ask())
  return told({ key, ...answer }, `${key} is of version ${answer.version}; the next prompt has it`, options)
}

export const remove = async (key: string, options: WriteOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { version } = await foundIn(backend, key, options)
  if (options.dryRun) return told({ dryRun: true, would: { remove: key } }, `would delete ${key}`, options)
  const asked = { params: { key }, query: { expected: options.expected ?? version } }
  await backend.within(backend.prompts((api) => (options.component ? api.removeComponent(asked) : api.remove(asked))))
  return told({ key }, `${key} is deleted; undo brings it back`, options)
}

export const undo = async (key: string, options: WriteOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  if (options.dryRun)
    return told({ dryRun: true, would: { undo: key } }, `would undo the newest change of ${key}`, options)
  const asked = { params: { key }, payload: defined({ expected: options.expected }) }
  const { definition } = await backend.within(
    backend.prompts((api) => (options.component ? api.undoComponent(asked) : api.undo(asked)))
  )
  const words = definition === undefined ? `${key} is as it was before it was written` : `${key} is as it was before`
  return told({ key, definition: definition ?? null }, words, options)
}

export const clone = async (key: string, to: string, options: WriteOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { name } = options
  if (options.dryRun) return told({ dryRun: true, would: { clone: key, to } }, `would copy ${key} to ${to}`, options)
  const asked = { params: { key }, payload: { to, ...defined({ name }) } }
  const answer = await backend.within(
    backend.prompts((api) => (options.component ? api.saveComponent(asked) : api.clone(asked)))
  )
  return told(answer, `the template ${to} has the text of ${key}; prompts undo ${to} takes it back`, options)
}

const MOST_EXPORT_BYTES = 1_000_000

const exportIn = async (file: string): Promise<Json> => {
  const text = file === "-" ? await saidOrPiped(undefined, "the export") : await readFile(file, "utf8").catch(() => "")
  if (text === "") throw new CommandFailed("usage", `${file} can not be read, or is empty`)
  const read = text.length > MOST_EXPORT_BYTES ? Result.fail("it is too long") : parseJson(text)
  if (Result.isSuccess(read)) return read.success
  throw new CommandFailed("usage", `${file} is no export of a template or a component`)
}

export interface ImportOptions extends Where, ChangeOptions {
  readonly overwrite: boolean
  readonly expected?: number
}

/** What a file holds says whether it is a template or a component. */
export const take = async (file: string, options: ImportOptions, stop: Stop): Promise<number> => {
  const { expected, overwrite } = options
  await using backend = await findBackend(options, "order", stop)
  const exported = await exportIn(file)
  const isComponent = isJsonObject(exported) && "component" in exported
  const payload = { export: exported, overwrite, ...defined({ expected }) }
  if (options.dryRun) return told({ dryRun: true, would: payload }, `would import ${file}`, options)
  const answer = await backend.within<{ readonly key: string; readonly version: number }>(
    backend.prompts((api) => (isComponent ? api.importComponent({ payload }) : api.import({ payload })))
  )
  return told(answer, `${answer.key} is of version ${answer.version}; the next prompt has it`, options)
}
