// Egress: requests that leave this machine for a URL somebody wrote.
// Owns which URLs may be asked, and the way to their servers. Leaves what is said there to the caller.
// G1  Only http and https, without a name and password, and only to allowed hosts.
// G2  Every address a name has is judged, and the connection goes to one of the judged addresses: the name is not
//     resolved a second time, and the address of the open socket is judged again.
// G3  A redirect is a new URL under the same rules, and at most MAX_REDIRECTS of them are followed.

import type { LookupAddress } from "node:dns"
import { lookup as lookupName } from "node:dns/promises"
import type { LookupFunction } from "node:net"
import { Agent, buildConnector, fetch as send, type RequestInit as SendInit } from "undici"
import { type AddressVerdict, judgeAddress } from "./egress-address.ts"
import { EgressRefused } from "./errors.ts"
import { oneLine } from "./plain.ts"
import { MAX_REDIRECTS, redirected, redirectIn } from "./redirect.ts"

export type Resolve = (host: string) => Promise<ReadonlyArray<LookupAddress>>

export interface EgressOptions {
  /** The only hosts, or `*.example.com` for all below one; any host when not said. */
  readonly allowHosts?: ReadonlyArray<string>
  /** `host:port` of servers that may be private or on this machine. */
  readonly allowPrivate?: ReadonlyArray<string>
  /** How a name becomes addresses; the machine's own way when not said. */
  readonly resolve?: Resolve
  readonly connectMillis?: number
}

export interface Egress {
  /** The addresses the URL may be asked at. Rejects with EgressRefused. */
  readonly judge: (url: string | URL) => Promise<ReadonlyArray<LookupAddress>>
  /** As the global `fetch`, under the rules. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  readonly close: () => Promise<void>
}

const refuse = (reason: EgressRefused["reason"], message: string): EgressRefused =>
  new EgressRefused({ reason, message })

const systemResolve: Resolve = (host) => lookupName(host, { all: true, verbatim: true })

/** Without the brackets of IPv6 and the dot at the end. */
const bare = (hostname: string): string =>
  hostname
    .replace(/^\[(.*)\]$/u, "$1")
    .replace(/\.$/u, "")
    .toLowerCase()

const portOf = ({ port, protocol }: { readonly port: string; readonly protocol: string }): string =>
  port === "" ? (protocol === "https:" ? "443" : "80") : port

const isAllowed = (host: string, patterns: ReadonlyArray<string>): boolean =>
  patterns.some((pattern) => {
    const wanted = bare(pattern)
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted
  })

const parsed = (url: string | URL, { allowHosts }: EgressOptions): URL => {
  const shown = oneLine(String(url), 200)
  if (!URL.canParse(String(url))) throw refuse("url", `${shown} is no URL`)
  const whole = new URL(String(url))
  if (whole.protocol !== "http:" && whole.protocol !== "https:") {
    throw refuse("scheme", `${oneLine(whole.protocol, 40)} is not asked, only http: and https: are`)
  }
  const host = bare(whole.hostname)
  if (whole.username !== "" || whole.password !== "") {
    throw refuse("credentials", `a URL of ${host} holds a name or a password; use headers`)
  }
  if (host === "") throw refuse("url", `${shown} has no host`)
  if (allowHosts !== undefined && !isAllowed(host, allowHosts)) {
    throw refuse("host", `${host} is not among the allowed hosts (${allowHosts.join(", ")})`)
  }
  return whole
}

const mayGo = ({ standing }: AddressVerdict, isNamed: boolean): boolean =>
  standing === "open" || (standing === "inside" && isNamed)

/** All addresses of a host that may be reached, or EgressRefused. One that may not spoils the rest. */
const judged = async (host: string, port: string, options: EgressOptions): Promise<ReadonlyArray<LookupAddress>> => {
  const name = bare(host)
  const isNamed = options.allowPrivate?.some((one) => bareHostPort(one) === `${name}:${port}`) === true
  const literal = judgeAddress(name)
  const found =
    literal === undefined ? await resolved(name, options) : [{ address: name, family: name.includes(":") ? 6 : 4 }]
  for (const { address } of found) {
    const verdict = literal ?? judgeAddress(address)
    if (verdict === undefined) throw refuse("address", `${name} has ${oneLine(address, 60)}, which is no address`)
    if (mayGo(verdict, isNamed)) continue
    const where = literal === undefined ? `${name} is ${address}` : name
    const hint = verdict.standing === "inside" ? `; to allow it, say allowPrivate: ["${host}:${port}"]` : ""
    throw refuse("address", `${where}, which is ${verdict.range}, and is not asked${hint}`)
  }
  return found
}

const bareHostPort = (text: string): string => {
  const at = text.lastIndexOf(":")
  return `${bare(text.slice(0, at))}:${text.slice(at + 1)}`
}

const resolved = async (name: string, { resolve = systemResolve }: EgressOptions) => {
  const found = await resolve(name).catch(() => [])
  if (found.length === 0) throw refuse("unresolved", `${name} has no address`)
  return found
}

/** Resolves, judges and hands on what it judged: what is connected to is what was looked at. */
const lookupFor =
  (port: string, options: EgressOptions): LookupFunction =>
  (hostname, { all }, callback) => {
    const tell = (found: ReadonlyArray<LookupAddress> | Error): void => {
      if (found instanceof Error) return callback(found, "")
      const [first] = found
      if (all === true) return callback(null, [...found])
      callback(null, first?.address ?? "", first?.family)
    }
    void judged(hostname, port, options)
      .catch((error: Error) => error)
      .then(tell)
  }

/** The library hands these on to `net` and `tls`; its type names only those of one of them. */
type Building = buildConnector.BuildOptions & { readonly lookup: LookupFunction }

const connectorFor = (options: EgressOptions): buildConnector.connector => {
  const { connectMillis = 10_000 } = options
  return (target, callback) => {
    const port = portOf(target)
    const connect = buildConnector({ timeout: connectMillis, lookup: lookupFor(port, options) } as Building)
    const isNamed = options.allowPrivate?.some((one) => bareHostPort(one) === `${bare(target.hostname)}:${port}`)
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      const verdict = judgeAddress(socket.remoteAddress ?? "")
      if (verdict !== undefined && mayGo(verdict, isNamed === true)) return callback(null, socket)
      socket.destroy()
      callback(refuse("address", `the connection to ${bare(target.hostname)} went somewhere else`), null)
    })
  }
}

/** Undici hides why a connection was refused below its own error. */
const refusalIn = (thrown: unknown): EgressRefused | undefined => {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error instanceof EgressRefused) return error
  }
  return undefined
}

export const openEgress = (options: EgressOptions = {}): Egress => {
  const agent = new Agent({ connect: connectorFor(options), connections: 16 })
  const once = async (url: URL, init: RequestInit | undefined, headers: Headers) => {
    const given = { ...init, headers: [...headers], redirect: "manual", dispatcher: agent } as unknown as SendInit
    try {
      return await send(url.href, given)
    } catch (thrown) {
      throw refusalIn(thrown) ?? thrown
    }
  }
  return {
    judge: async (url) => {
      const whole = parsed(url, options)
      return judged(whole.hostname, portOf(whole), options)
    },
    fetch: async (url, init) => {
      let target = parsed(url, options)
      let headers = new Headers(init?.headers)
      for (let followed = 0; ; followed++) {
        // An address in the URL itself is never looked up when it is connected to.
        if (judgeAddress(bare(target.hostname)) !== undefined) await judged(target.hostname, portOf(target), options)
        const response = await once(target, init, headers)
        const location = redirectIn(response)
        if (location === undefined) return response as unknown as Response
        await response.body?.cancel()
        if (followed === MAX_REDIRECTS) throw refuse("redirects", `more than ${MAX_REDIRECTS} redirects`)
        const asked = { url: target, method: init?.method ?? "GET", headers }
        const next = redirected(asked, { status: response.status, location })
        target = parsed(next.url, options)
        headers = next.headers
      }
    },
    close: () => agent.destroy()
  }
}
