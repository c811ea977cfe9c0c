// Egress: requests that leave this machine for a URL someone wrote.
// Owns which URLs may be asked, and the way to their servers. Leaves what is said there to the caller.
// G1  Only http and https, without a name and password, and only to allowed hosts.
// G2  Every address a name has is judged, and the connection goes to one of the judged addresses: the name is not
//     resolved a second time, and the address of the open socket is judged again.
// G3  A redirect is a new URL under the same rules, and at most MAX_REDIRECTS of them are followed.

import type { LookupAddress } from "node:dns"
import { lookup as lookupName } from "node:dns/promises"
import type { LookupFunction } from "node:net"
import { Agent, buildConnector, fetch as send, type RequestInit as SendInit } from "undici"
import ipaddr from "ipaddr.js"
import { EgressRefused } from "../errors.ts"
import { oneLine } from "../listing.ts"

// EgressAddress: which addresses are out in the open.
// A1  Only global unicast is open: whatever is private, local, shared, reserved or a group is not, in any notation.
// A2  An address that carries an IPv4 address inside is judged by that one, or not let through at all.
// A3  What the user named may be private or this machine; never a link, a group, nothing, or everybody.

/** How far an address is from being open. closed: no one may go there. inside: who was named may. */
interface AddressVerdict {
  readonly standing: "open" | "inside" | "closed"
  /** In words, e.g. `loopback`. */
  readonly range: string
}

const words: Readonly<Record<string, string>> = {
  carrierGradeNat: "shared address of a carrier",
  linkLocal: "link-local, where cloud metadata is",
  uniqueLocal: "private",
  "6to4": "6to4 tunnel",
  teredo: "Teredo tunnel",
  rfc6145: "translated IPv4",
  rfc6052: "NAT64"
}

const named = new Set(["loopback", "private", "uniqueLocal", "carrierGradeNat"])

/** Inside these ranges, but of a provider's own servers of secrets. */
const metadata = new Set(["100.100.100.200", "fd00:ec2::254", "fd20:ce::254"])

const NAT64 = ipaddr.parseCIDR("64:ff9b::/96")
const GLOBAL = ipaddr.parseCIDR("2000::/3")
const COMPATIBLE = ipaddr.parseCIDR("::/96")

const closed = (range: string): AddressVerdict => ({ standing: "closed", range: words[range] ?? range })

const judgeV4 = (address: ipaddr.IPv4): AddressVerdict => {
  const range = address.range()
  if (range === "unicast") return { standing: "open", range: "public" }
  if (metadata.has(address.toString())) return closed("cloud metadata")
  return named.has(range) ? { standing: "inside", range: words[range] ?? range } : closed(range)
}

const embedded = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12))

const judgeV6 = (address: ipaddr.IPv6): AddressVerdict => {
  if (address.zoneId) return closed("an address with a zone")
  const range = address.range()
  if (range === "ipv4Mapped") return judgeV4(embedded(address))
  if (range === "rfc6052" && address.match(NAT64)) return judgeV4(embedded(address))
  if (metadata.has(address.toString())) return closed("cloud metadata")
  if (named.has(range)) return { standing: "inside", range: words[range] ?? range }
  if (range === "unicast" && address.match(GLOBAL)) return { standing: "open", range: "public" }
  if (range === "unicast" && address.match(COMPATIBLE)) return closed("IPv4 in an obsolete form")
  return closed(range === "unicast" ? "reserved" : range)
}

/** Undefined for what is no address. Only the usual notations are addresses here: no octal, no hexadecimal IPv4. */
export const judgeAddress = (text: string): AddressVerdict | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return judgeV4(ipaddr.IPv4.parse(text))
  // The library takes this form for a mapped address, the machine does not.
  if (/^::\d+\./u.test(text)) return closed("IPv4 in an obsolete form")
  return ipaddr.IPv6.isValid(text) ? judgeV6(ipaddr.IPv6.parse(text)) : undefined
}

// Redirect: where a server sends a request on to, and what may go along.
// R1  What was sent stays what it was: no other method, and never from https to http.
// R2  What was meant for one origin is not carried to the next.

export const MAX_REDIRECTS = 5

const statuses = new Set([301, 302, 303, 307, 308])
/** What any server may see of a request. */
const harmless = new Set(["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"])

/** Where the response leads, if it is a redirect. */
const redirectIn = (response: {
  readonly status: number
  readonly headers: { readonly get: (name: string) => string | null }
}): string | undefined => (statuses.has(response.status) ? (response.headers.get("location") ?? undefined) : undefined)

interface Asked {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
}

/** Throws EgressRefused when it may not be followed, wherever it leads. */
export const redirected = (
  { headers, method, url }: Asked,
  { location, status }: { readonly location: string; readonly status: number }
): { readonly url: URL; readonly headers: Headers } => {
  const refuse = (reason: EgressRefused["reason"], what: string) =>
    new EgressRefused({ reason, message: `${url.hostname} redirects ${what}` })
  if (!URL.canParse(location, url.href)) throw refuse("redirects", "to no URL")
  const next = new URL(location, url)
  if (url.protocol === "https:" && next.protocol === "http:") throw refuse("scheme", "from https to http")
  if (status < 307 && method !== "GET" && method !== "HEAD") {
    throw refuse("redirects", `a ${method} in a way that would change it to a GET`)
  }
  if (next.origin === url.origin) return { url: next, headers }
  return { url: next, headers: new Headers([...headers].filter(([name]) => harmless.has(name))) }
}

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
