// Tools: the allowed tools of a server, for an assistant.
// Owns which tools there are, that each is still what was looked at, and the way of one call. Leaves the connection to
// connection.ts, and whether a call runs to Reverie: approvals and tool rules hold for these as for all.
// T1  Only what the user allowed becomes a tool; what is missing, broken or not as pinned is reported by name, before any
//     call.
// T2  A tool whose definition is not the one that was first read, or pinned, is not called: not after a change of the
//     list, and not after a reconnect.
// T3  A call ends in bounded time with one text or one plain failure. It is never sent a second time.
// T4  What a server hints about its tools decides nothing: without a word of the user a person approves each call, and it is
//     not repeated.

import { defined, isJsonObject, type Json, plain } from "@reverie/protocol"
import { defineTool, type Tool, type ToolRun } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { createHash } from "node:crypto"
import { answerText } from "./answer.ts"
import { Connection, type Link } from "./connection.ts"
import { McpCallFailed, McpToolsRefused, McpUnavailable } from "./errors.ts"
import { changesOf, type Listing, namesOf, type Offered, oneLine, spelledNames } from "./listing.ts"
import { MAX_MILLIS, type McpAllowed, type McpServer } from "./options.ts"
import { withoutSecrets } from "./secrets.ts"

// Offer: what is made of a server's definition before a model or a checker sees it.
// O1  A description is shown as the server's own words, plain and bounded, and so is every description in a schema.
// O2  Arguments are checked by the server's schema without its patterns: no one's regular expression runs here.

const MAX_DESCRIPTION_CHARS = 2_000
const MAX_HINT_CHARS = 500
const MAX_NAME_CHARS = 64

/** `<server>__<tool>` in the letters that names of tools have here. A long one ends with a part of its hash. */
export const toolNameOf = (server: string, tool: string): string => {
  const words = tool
    .replaceAll(/([a-z0-9])([A-Z])/gu, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "_")
    .replaceAll(/^_+|_+$/gu, "")
  const name = `${server}__${words === "" ? "tool" : words}`
  if (name.length <= MAX_NAME_CHARS) return name
  const hash = createHash("sha256").update(tool).digest("hex").slice(0, 8)
  return `${name.slice(0, MAX_NAME_CHARS - 9)}_${hash}`
}

const descriptionOf = (server: string, tool: string, description: string): string => {
  const words = plain(description).trim()
  if (words === "") return `The tool ${oneLine(tool, 64)} of the MCP server ${server}.`
  const shown =
    words.length <= MAX_DESCRIPTION_CHARS ? words : `${words.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}...`
  return `A tool of the MCP server ${server}, which says of it: ${shown}`
}

const values = new Set(["enum", "const", "default", "examples"])

const walked = (schema: Json, change: (keyword: string, value: Json) => Json | undefined): Json => {
  if (Array.isArray(schema)) return schema.map((one) => walked(one, change))
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) => {
      if (values.has(keyword)) return [[keyword, value]]
      const changed = change(keyword, value)
      return changed === undefined ? [] : [[keyword, walked(changed, change)]]
    })
  )
}

/** As it is shown. A property may be called `description`; then its value is no text. */
export const shownSchema = (schema: { readonly [keyword: string]: Json }): Json =>
  walked(schema, (keyword, value) =>
    (keyword === "description" || keyword === "title") && typeof value === "string"
      ? oneLine(value, MAX_HINT_CHARS)
      : value
  )

/** As it is checked. */
export const checkedSchema = (schema: { readonly [keyword: string]: Json }): Json => {
  const hasPatterns = (object: Json): boolean => isJsonObject(object) && isJsonObject(object["patternProperties"])
  const open = (object: Json): Json => {
    if (Array.isArray(object)) return object.map(open)
    if (!isJsonObject(object)) return object
    const dropped = hasPatterns(object) ? ["patternProperties", "additionalProperties", "unevaluatedProperties"] : []
    return Object.fromEntries(
      Object.entries(object).flatMap(([keyword, value]) => {
        if (dropped.includes(keyword) || (keyword === "pattern" && typeof value === "string")) return []
        return [[keyword, values.has(keyword) ? value : open(value)]]
      })
    )
  }
  return open(schema)
}

/** Under this name the key of a run goes to the server, so that it can recognise an earlier attempt. */
const IDEMPOTENCY_META = "reverie/idempotencyKey"

/** Reverie waits this much longer than the call, so that its end is reported by who knows more. */
const GRACE_MILLIS = 1_000

/** A call that finds no connection waits for one first: for the handshake, and for the list. */
const waitMs = ({ startMillis }: McpServer): number => Math.min(startMillis * 2, MAX_MILLIS - 1)

/** The allowed tools of an open MCP server. */
export interface McpTools {
  /** For `tools` of `defineAssistant`; each is named `<server>__<tool>` where `allow` gives it no other name. */
  readonly tools: ReadonlyArray<Tool>
  /** The hash of each allowed tool, by the server's name of it. `pinsText` prints them. */
  readonly hashes: Readonly<Record<string, string>>
  /** Names of all the tools that the server offers. */
  readonly offered: ReadonlyArray<string>
  /** Ends the connection, and the server if it is a process. Never rejects. */
  readonly close: () => Promise<void>
  /** The same as `close`, at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Connects, reads the list and checks it. Rejects with McpUnavailable or McpToolsRefused; nothing is left open then. */
export const mcpTools = async (server: McpServer): Promise<McpTools> => {
  const connection = new Connection(server)
  try {
    const { listing } = await connection.ready(AbortSignal.timeout(waitMs(server)))
    const known = selected(server, listing)
    const tools = known.map(({ allowed, offered }) => toolOf(server, connection, allowed, offered))
    refuseTwins(server, listing, tools)
    return {
      tools,
      hashes: Object.fromEntries(known.map(({ allowed, offered }) => [allowed.tool, offered.hash])),
      offered: namesOf(listing),
      close: connection.close,
      [Symbol.asyncDispose]: connection.close
    }
  } catch (error) {
    await connection.close()
    throw error instanceof McpToolsRefused || error instanceof McpUnavailable
      ? error
      : new McpUnavailable({ server: server.name, message: `MCP server ${server.name}: it did not open in time` })
  }
}

interface Known {
  readonly allowed: McpAllowed
  readonly offered: Offered
}

const refusal = (server: McpServer, listing: Listing, problems: string): McpToolsRefused => {
  const offered = namesOf(listing)
  return new McpToolsRefused({ server: server.name, offered, message: `MCP server ${server.name}: ${problems}` })
}

const selected = (server: McpServer, listing: Listing): ReadonlyArray<Known> => {
  const offers = `it offers ${spelledNames(namesOf(listing))}`
  if (server.allow.length === 0) {
    throw refusal(server, listing, `allow names no tool, so there is none to use; ${offers}`)
  }
  const problems: Array<string> = []
  const known = server.allow.flatMap((allowed) => {
    const offered = listing.get(allowed.tool)
    const problem = problemOf(server, allowed.tool, offered)
    if (problem !== undefined) problems.push(`${JSON.stringify(oneLine(allowed.tool, 64))} ${problem}`)
    return offered === undefined || "flaw" in offered ? [] : [{ allowed, offered }]
  })
  if (problems.length === 0) return known
  const isMissing = server.allow.some(({ tool }) => !listing.has(tool))
  throw refusal(server, listing, problems.join("; ") + (isMissing ? `; ${offers}` : ""))
}

const problemOf = (server: McpServer, tool: string, offered: ReturnType<Listing["get"]>): string | undefined => {
  if (offered === undefined) return "is not among its tools"
  if ("flaw" in offered) return `can not be used: ${offered.flaw}`
  const pin = server.pins.get(tool)
  if (pin === offered.hash) return undefined
  if (pin !== undefined) {
    return (
      `is not what was pinned: its description, input schema or annotations changed (pinned ${pin}, now ` +
      `${offered.hash}); look at it again, and pin what you agree to`
    )
  }
  return server.pinned ? `has no pin; its hash is ${offered.hash}` : undefined
}

const refuseTwins = (server: McpServer, listing: Listing, tools: ReadonlyArray<Tool>): void => {
  const names = tools.map(({ name }) => name)
  const twins = names.filter((name, index) => names.indexOf(name) !== index)
  if (twins.length > 0) {
    const problem = `two allowed tools have the name ${twins.join(", ")} here; name one of them with as`
    throw refusal(server, listing, problem)
  }
}

const toolOf = (server: McpServer, connection: Connection, allowed: McpAllowed, offered: Offered): Tool => {
  const { description, inputSchema, name: tool } = offered.definition
  const { as = toolNameOf(server.name, tool), final = false, idempotent = false, needsApproval = true } = allowed
  const definition = {
    name: as,
    description: descriptionOf(server.name, tool, description),
    needsApproval,
    final,
    idempotent,
    timeoutMs: Math.min(waitMs(server) + server.timeoutMs + GRACE_MILLIS, MAX_MILLIS),
    run: () => undefined
  }
  const defined = (input: unknown) => defineTool({ ...definition, input: input as { readonly [key: string]: unknown } })
  try {
    const { validate } = defined(checkedSchema(inputSchema))
    const effect: Tool["effect"] = (args, toolRun) =>
      Effect.flatMap(Effect.option(Effect.currentSpan), (span) =>
        Effect.tryPromise({
          try: (signal) => called({ server, connection, offered }, args, toolRun, Option.getOrUndefined(span), signal),
          catch: (thrown) => failed(server, tool, thrown)
        })
      )
    return Object.freeze({ ...defined(shownSchema(inputSchema)), validate, effect })
  } catch (error) {
    const words = oneLine(error instanceof Error ? error.message : String(error), 500)
    throw refusal(server, new Map([[tool, offered]]), `${JSON.stringify(tool)} can not be used: ${words}`)
  }
}

interface Target {
  readonly server: McpServer
  readonly connection: Connection
  /** As it was first read. */
  readonly offered: Offered
}

const failed = (server: McpServer, tool: string, thrown: unknown): McpCallFailed => {
  if (thrown instanceof McpCallFailed) return thrown
  const words = thrown instanceof Error ? oneLine(thrown.message, 1_000) : "it failed"
  return new McpCallFailed({ server: server.name, tool, message: withoutSecrets(server, words) })
}

const traceparentOf = (span: Tracer.AnySpan | undefined): string | undefined => {
  if (span === undefined || !/^[0-9a-f]{32}$/u.test(span.traceId) || !/^[0-9a-f]{16}$/u.test(span.spanId))
    return undefined
  return `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
}

const called = async (
  { connection, offered, server }: Target,
  args: unknown,
  run: ToolRun,
  span: Tracer.AnySpan | undefined,
  stopped: AbortSignal
): Promise<string> => {
  const signal = AbortSignal.any([stopped, run.signal])
  const { definition } = offered
  const link = await connection.ready(AbortSignal.any([signal, AbortSignal.timeout(waitMs(server))]))
  const now = link.listing.get(definition.name)
  const change = changeOf(offered, now)
  if (change !== undefined) throw failed(server, definition.name, new Error(`${change} Nothing was called.`))
  const timeout = server.timeoutMs
  const traceparent = traceparentOf(span)
  const params = {
    name: definition.name,
    arguments: args as { [name: string]: unknown },
    _meta: { [IDEMPOTENCY_META]: run.key, ...defined({ traceparent }) }
  }
  const result = await asked(connection, link, offered, params, { signal, timeout, maxTotalTimeout: timeout }).catch(
    (thrown: unknown) => {
      const { kind, words } = connection.judge(thrown, link)
      const unknown = kind === "answer" ? "" : "; whether the call took effect is unknown"
      throw failed(server, definition.name, new Error(`MCP server ${server.name}: ${words}${unknown}`))
    }
  )
  const text = withoutSecrets(server, answerText(result, server.maxResultBytes))
  if (result.isError === true) throw new McpCallFailed({ server: server.name, tool: definition.name, message: text })
  return text
}

const asked = async (
  connection: Connection,
  { client }: Link,
  { definition }: Offered,
  params: Parameters<Link["client"]["callTool"]>[0],
  options: Parameters<Link["client"]["callTool"]>[1]
) => {
  const { inputSchema, name } = definition
  // Given without an output schema, so that no schema of a server is compiled here.
  const toolDefinition = { name, inputSchema: { ...inputSchema, type: "object" as const } }
  const result = await client.callTool(params, { ...options, toolDefinition })
  connection.answered()
  return result
}

const changeOf = (before: Offered, now: ReturnType<Listing["get"]>): string | undefined => {
  const name = JSON.stringify(oneLine(before.definition.name, 64))
  if (now === undefined) return `The server no longer offers ${name}.`
  if ("flaw" in now) return `The server changed ${name}: ${now.flaw}.`
  if (now.hash === before.hash) return undefined
  return (
    `The server changed the ${changesOf(before.definition, now.definition)} of ${name} since it was allowed ` +
    `(${before.hash.slice(0, 12)} before, ${now.hash.slice(0, 12)} now); a person must look at it again.`
  )
}
