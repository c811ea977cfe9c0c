// Requests: what is sent to each route of the contract, made from its own OpenAPI document.
// Owns filling in paths, queries, headers and bodies. Leaves values to values.ts, judging the answers to judge.ts.
// R1  Every operation of the document is drawn; none is left out by name.

import type { Fate } from "@reverie/testkit/world"
import { hostileText, type JsonSchema, type Pool, valueFor } from "./values.ts"

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header" | "cookie"
  readonly required?: boolean
  readonly schema: JsonSchema
}

interface Media {
  readonly schema?: JsonSchema
}

interface OperationDocument {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, unknown>>
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDocument>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> }
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: JsonSchema | undefined
  /** Statuses that the contract names. */
  readonly statuses: ReadonlySet<number>
}

export interface Sent {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const methods: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete"])

export const operationsOf = ({ paths }: OpenApiDocument): ReadonlyArray<Operation> =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, { operationId, parameters = [], requestBody, responses }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
        parameters,
        body: requestBody === undefined ? undefined : (Object.values(requestBody.content)[0]?.schema ?? {}),
        statuses: new Set(Object.keys(responses).map(Number))
      }))
  )

export const poolOf = ({ components }: OpenApiDocument, ids: ReadonlyArray<string>): Pool => ({
  ids,
  resolve: (ref) => components?.schemas?.[ref.slice(ref.lastIndexOf("/") + 1)]
})

const word = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** A lone surrogate has no place in a URL: it goes as the bytes that an attacker would send. */
const inUrl = (text: string, fate: Fate): string =>
  fate.chance(0.05) ? text.replaceAll(/[\s\0]/g, "%00") : encodeURIComponent(text.toWellFormed())

const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?")

/** Bodies that mean something: a part of each is then replaced by what the schema, or an attacker, would say. */
const meant: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "messages.post": { event: { type: "timer", name: "tide" } },
  "messages.run": { threadId: "t", runId: "r-1", messages: [{ id: "1", role: "user", content: "Hello?" }] },
  "memory.editBlock": { operation: { op: "append_text", text: "More." } },
  "prompts.write": { name: "greeting", text: "Hello {{assistant}}.", expected: 0 },
  "assistants.create": { id: "created-1", definition: "desk" },
  "approvals.decide": { decision: "denied" },
  "replay.fork": { tick: 1, model: "offline" },
  "replay.evalCase": { tick: 1, expected: ["berth"] }
}

const brokenBodies = ["", "{", "[]", "null", '{"text":', "\ufeff{}", "{}{}", "[".repeat(5_000), "\0", "text=1"]

const bodyFor = (id: string, schema: JsonSchema, pool: Pool, fate: Fate): string => {
  if (fate.chance(0.07)) return fate.pick(brokenBodies)
  const drawn = valueFor(schema, pool, fate)
  const wanted = fate.chance(0.5) ? meant[id] : undefined
  const value = wanted === undefined ? drawn : fate.chance(0.5) ? wanted : { ...wanted, ...(drawn as object) }
  const text = JSON.stringify(value) ?? ""
  // JSON.stringify drops a `__proto__` that was set as one, so it is put in as text.
  return fate.chance(0.07) ? text.replace(/^\{/, '{"__proto__":{"polluted":true},') : text
}

export const requestFor = (operation: Operation, pool: Pool, fate: Fate): Sent => {
  const query: Array<string> = []
  const headers: Record<string, string> = { "content-type": fate.chance(0.98) ? "application/json" : "text/plain" }
  let { path } = operation
  for (const parameter of operation.parameters) {
    const value = fate.chance(0.08) ? hostileText(fate) : word(valueFor(parameter.schema, pool, fate))
    if (parameter.in === "path") {
      const own = parameter.name === "id" && fate.chance(0.7) ? fate.pick(pool.ids) : value
      path = path.replace(`{${parameter.name}}`, inUrl(own, fate))
    } else if (parameter.required === true || fate.chance(parameter.in === "header" ? 0.1 : 0.4)) {
      if (parameter.in === "query") query.push(`${inUrl(parameter.name, fate)}=${inUrl(value, fate)}`)
      if (parameter.in === "header") headers[parameter.name] = printable(value)
    }
  }
  const target = query.length === 0 ? path : `${path}?${query.join("&")}`
  const body = operation.body === undefined ? undefined : bodyFor(operation.id, operation.body, pool, fate)
  return {
    operation: operation.id,
    method: fate.chance(0.02) ? fate.pick(["PUT", "DELETE", "PATCH", "POST", "OPTIONS"]) : operation.method,
    path: target,
    headers,
    ...(body === undefined ? {} : { body })
  }
}
