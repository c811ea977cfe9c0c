// Options: which server, which of its tools, and how much it may take.
// Owns the description that a user writes and the check of it. Leaves reaching the server to connection.ts.
// O1  A wrong description throws at once, with one sentence that names the server and the field.
// O2  Nothing that a server says of its own tools makes one of them allowed, harmless or repeatable: only the user does.

import { isToolName, TOOL_NAME_FORM } from "@reverie/tools"
import { McpServerInvalid } from "./errors.ts"
import type { Transport } from "@modelcontextprotocol/client"

export interface McpStdio {
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** What the server finds in its environment beside PATH, HOME and the locale. Nothing else of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface McpHttp {
  /** http or https, without a name and password in it. */
  readonly url: string
  /** Sent to the host of the URL and to no other. */
  readonly headers?: Readonly<Record<string, string>>
  /** Hosts that a redirect may lead to beside that of the URL; `*.example.com` for all below one. */
  readonly allowHosts?: ReadonlyArray<string>
  /** `host:port` of servers that may stand in a private network or on this machine. */
  readonly allowPrivate?: ReadonlyArray<string>
}

export interface McpAllowed {
  /** Its name as the server says it. */
  readonly tool: string
  /** A person approves every call. True when left out: what a server says of its own tools decides nothing. */
  readonly needsApproval?: boolean
  /** A call that succeeds ends the tick; only beside `needsApproval: false`. False when left out. */
  readonly final?: boolean
  /** True when a second call with the same arguments does no more than the first. False when not said. */
  readonly idempotent?: boolean
  /** What its hash must be: 64 hexadecimal digits. */
  readonly pin?: string
  /** Its name here, in place of `<server>__<tool>`. */
  readonly as?: string
}

/** What `defineMcpServer` and `mcpServer` take. */
export interface McpServerOptions {
  /** Small letters, digits and `_`: the first part of the names of its tools. */
  readonly name: string
  /** A command that is started as a process, or the URL of a server. */
  readonly transport: McpStdio | McpHttp
  /** The only tools that are offered to an assistant. */
  readonly allow: ReadonlyArray<string | McpAllowed>
  /** Hashes by the server's names of tools. Given, every allowed tool needs one. */
  readonly pins?: Readonly<Record<string, string>>
  /** Longest wait for the answer to a call; 30 seconds when not said. */
  readonly timeoutMs?: number
  /** Longest wait for the connection, and again for the list of tools; 30 seconds when not said. */
  readonly startMs?: number
  /** Longest text of a result; 64 KiB when not said. */
  readonly maxResultBytes?: number
  /** A server that offers more tools is refused; 256 when not said. */
  readonly maxTools?: number
}

/** A checked description. Nothing has been started. */
export interface McpServer {
  readonly name: string
  readonly transport: McpStdio | McpHttp
  readonly allow: ReadonlyArray<McpAllowed>
  /** By the server's names of tools. */
  readonly pins: ReadonlyMap<string, string>
  readonly pinned: boolean
  readonly timeoutMs: number
  readonly startMillis: number
  readonly maxResultBytes: number
  readonly maxTools: number
}

/** What a timer can wait for at most. */
export const MAX_MILLIS = 2 ** 31 - 1

/**
 * @example
 * const files = defineMcpServer({
 *   name: "files",
 *   transport: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/shared"] },
 *   allow: [{ tool: "read_text_file", needsApproval: false, idempotent: true }, "write_file"]
 * })
 */
export const defineMcpServer = (options: McpServerOptions): McpServer => {
  const flaw = flawOf(options)
  const name = String((options as Partial<McpServerOptions> | undefined)?.name)
  if (flaw !== undefined) throw new McpServerInvalid({ server: name, message: `MCP server ${name}: ${flaw}` })
  const {
    maxResultBytes = 65_536,
    maxTools = 256,
    startMs: startMillis = 30_000,
    timeoutMs = 30_000,
    transport
  } = options
  const allow = options.allow.map((entry) => (typeof entry === "string" ? { tool: entry } : { ...entry }))
  const own = allow.flatMap(({ pin, tool }) => (pin === undefined ? [] : [[tool, pin] as const]))
  return Object.freeze({
    name,
    transport: structuredClone(transport),
    allow,
    pins: new Map([...Object.entries(options.pins ?? {}), ...own]),
    pinned: options.pins !== undefined,
    timeoutMs,
    startMillis,
    maxResultBytes,
    maxTools
  })
}

const flawOf = (options: McpServerOptions): string | undefined => {
  if (!isObject(options)) return "it needs options"
  if (typeof options.name !== "string" || !/^(?!.*__)[a-z][a-z0-9_]{0,30}(?<!_)$/u.test(options.name)) {
    return "its name must be small letters, digits and single _, begin with a letter and have at most 31"
  }
  const { maxResultBytes, maxTools, startMs: startMillis, timeoutMs } = options
  return (
    flawOfTransport(options.transport) ??
    flawOfAllow(options) ??
    outside("timeoutMs", timeoutMs, 1, MAX_MILLIS) ??
    outside("startMs", startMillis, 1, MAX_MILLIS) ??
    outside("maxResultBytes", maxResultBytes, 256, 8 * 1024 * 1024) ??
    outside("maxTools", maxTools, 1, 10_000)
  )
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const outside = (field: string, value: unknown, least: number, most: number): string | undefined =>
  value === undefined || (Number.isInteger(value) && Number(value) >= least && Number(value) <= most)
    ? undefined
    : `its ${field} must be a whole number from ${least} to ${most}`

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === "string")
const isTextRecord = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((one) => typeof one === "string")

const flawOfTransport = (transport: unknown): string | undefined => {
  if (!isObject(transport)) return "its transport must be { command, args?, env?, cwd? } or { url, headers? }"
  const has = (field: string) => transport[field] !== undefined
  if (has("command") === has("url")) return "its transport needs a command or a url, and not both"
  for (const field of ["command", "cwd", "url"]) {
    if (has(field) && (typeof transport[field] !== "string" || transport[field] === "")) {
      return `its transport.${field} must be a text`
    }
  }
  for (const field of ["args", "allowHosts", "allowPrivate"]) {
    if (has(field) && !areTexts(transport[field])) return `its transport.${field} must be a list of texts`
  }
  for (const field of ["env", "headers"]) {
    if (has(field) && !isTextRecord(transport[field])) return `its transport.${field} must be texts by name`
  }
  if (!has("url")) return undefined
  if (!URL.canParse(String(transport["url"]))) return "its transport.url is no URL"
  const { password, protocol, username } = new URL(String(transport["url"]))
  if (protocol !== "http:" && protocol !== "https:") return "its transport.url must be http or https"
  return username + password === "" ? undefined : "its transport.url must hold no name and password; use headers"
}

const flawOfAllow = ({ allow, pins }: McpServerOptions): string | undefined => {
  if (!Array.isArray(allow)) return "it needs allow, the list of the tools that an assistant may use"
  const names = new Set<string>()
  for (const entry of allow) {
    const flaw = typeof entry === "string" ? undefined : flawOfEntry(entry)
    if (flaw !== undefined) return flaw
    const tool = typeof entry === "string" ? entry : entry.tool
    if (names.has(tool)) return `its allow names ${JSON.stringify(tool)} twice`
    names.add(tool)
  }
  if (pins === undefined) return undefined
  if (!isTextRecord(pins)) return "its pins must be hashes by tool"
  for (const [tool, pin] of Object.entries(pins)) {
    if (!isPin(pin)) return `its pin of ${JSON.stringify(tool)} must be 64 hexadecimal digits`
    if (!names.has(tool)) return `its pins name ${JSON.stringify(tool)}, which allow does not`
  }
  return undefined
}

const isPin = (pin: unknown): boolean => typeof pin === "string" && /^[0-9a-f]{64}$/u.test(pin)

const flawOfEntry = (entry: unknown): string | undefined => {
  if (!isObject(entry) || typeof entry["tool"] !== "string" || entry["tool"] === "") {
    return "its allow must hold names of tools, or { tool, needsApproval?, final?, idempotent?, pin?, as? }"
  }
  const { as, final, idempotent, needsApproval = true, pin } = entry
  const of = `of ${JSON.stringify(entry["tool"])}`
  if (typeof needsApproval !== "boolean") return `its needsApproval ${of} must be true or false`
  if (final !== undefined && typeof final !== "boolean") return `its final ${of} must be true or false`
  if (final === true && needsApproval) return `its final ${of} needs needsApproval: false`
  if (idempotent !== undefined && typeof idempotent !== "boolean") return `its idempotent ${of} must be true or false`
  if (pin !== undefined && !isPin(pin)) return `its pin ${of} must be 64 hexadecimal digits`
  if (as === undefined || (typeof as === "string" && isToolName(as))) return undefined
  return `its name here (as) ${of} must ${TOOL_NAME_FORM}`
}

export interface Wire {
  readonly transport: Transport
  /** Why it ended, in words; undefined while that is not known. */
  readonly why: () => string | undefined
  /** Never rejects. Afterwards nothing of it is left. */
  readonly end: () => Promise<void>
}
