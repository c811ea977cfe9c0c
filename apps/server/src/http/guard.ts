// Guard: who may come in by HTTP.
// Owns tokens, and what a browser on a foreign page may not do. Leaves what a principal may ask to the gateway.
// G1  With tokens nothing of a fleet is answered without one; comparing takes the same time whatever was given.
// G2  Without one only the machine itself is served, under its own names and those allowed: another Host, Origin or place
//     is refused, so that no page on the web can reach in (DNS rebinding).
// G3  A page of another site changes nothing, whatever it sends along.
// G4  Anyone who guesses waits longer each time, and takes no more memory than the bound says.
// G5  Open, others are served too; where names are allowed, under these alone, for G2's reason.

import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Forbidden, type Principal, Unauthorized } from "../api/index.ts"

/** What a request wants: something of the fleet, or what anybody may read who reaches the server at all. */
export type Wanted = "fleet" | "public"

export interface GuardOptions {
  readonly tokens: ReadonlyArray<Token>
  /** The tenant that this machine is served for. */
  readonly tenant: string
  /** Something else guards it. */
  readonly open: boolean
  /** Names under which it is asked, besides this machine's own. Open with none of them, it is asked under any. */
  readonly hosts: ReadonlyArray<string>
}

/** What is judged of a request. */
export interface Knock {
  readonly method?: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly socket: { readonly remoteAddress?: string | undefined }
}

export type Judged = Principal["Service"] | Forbidden | Unauthorized

const localNames = new Set(["localhost", "127.0.0.1", "[::1]"])

const nameOf = (host: string): string => host.replace(/:\d*$/, "").toLowerCase()

/** True when an address to listen on is reached from this machine alone. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|::1)$/.test(host)

const isLocalPlace = (address: string | undefined): boolean =>
  address !== undefined && /^(127\.|::1$|::ffff:127\.)/.test(address)

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

const looking = new Set(["GET", "HEAD", "OPTIONS"])

const foreignOrigin = new Forbidden({
  message: "pages of other sites may not ask",
  hint: "open the page at the address that the server printed, or name the host with --allow-host"
})
const foreignHost = new Forbidden({
  message: "only this machine is served, under its own names",
  hint: "set REVERIE_TOKEN to serve others, or name the host with --allow-host"
})
const foreignName = new Forbidden({
  message: "only the names that were allowed are served",
  hint: "name the host with --allow-host, or set REVERIE_TOKEN"
})
const noToken = new Unauthorized({
  message: "a token is needed",
  hint: "send Authorization: Bearer TOKEN"
})
const wrongToken = new Unauthorized({ message: "this token opens nothing here" })

const hostIn = (origin: string): string | undefined => {
  try {
    return new URL(origin).host
  } catch {
    return undefined
  }
}

export class Guard {
  readonly #options: GuardOptions
  readonly #known: ReadonlyArray<{ readonly digest: Buffer; readonly principal: Principal["Service"] }>
  readonly #hosts: ReadonlySet<string>
  readonly #local: Principal["Service"]

  constructor(options: GuardOptions) {
    this.#options = options
    this.#hosts = new Set(options.hosts.map((host) => nameOf(host)))
    this.#local = { tenant: options.tenant, name: "local", readOnly: false }
    this.#known = options.tokens.map(({ name, readOnly, secret, tenant }) => ({
      digest: digest(secret),
      principal: { tenant, name, readOnly }
    }))
  }

  get #hasTokens(): boolean {
    return this.#known.length > 0
  }

  get #isAnyName(): boolean {
    return this.#options.open && this.#hosts.size === 0
  }

  /** Who asks, or why no one is let in. */
  judge(request: Knock, wanted: Wanted): Judged {
    const { headers } = request
    const isChange = !looking.has(request.method ?? "")
    if (!this.#hasTokens && !this.#isAnyName && !this.#isOurs(request)) {
      return this.#options.open ? foreignName : foreignHost
    }
    if (this.#isForeign(request) && (isChange || !this.#hasTokens)) return foreignOrigin
    if (wanted === "public" || !this.#hasTokens) return this.#local
    const { authorization } = headers
    if (authorization === undefined) return noToken
    const given = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1] ?? ""
    return this.#ownerOf(given) ?? wrongToken
  }

  #isOurs({ headers, socket }: Knock): boolean {
    const asked = nameOf(headers.host ?? "")
    return this.#hosts.has(asked) || (localNames.has(asked) && isLocalPlace(socket.remoteAddress))
  }

  /** Sent by a page that was not served from here. Programs send neither of these headers. */
  #isForeign({ headers }: Knock): boolean {
    const { host, origin } = headers
    if (origin !== undefined) {
      const from = hostIn(origin)
      return from === undefined || (from !== host?.toLowerCase() && !this.#hosts.has(nameOf(from)))
    }
    const site = headers["sec-fetch-site"]
    // Following a link to the page is no harm: no one reads what it shows but anyone who sits before it.
    if (site === undefined || headers["sec-fetch-mode"] === "navigate") return false
    return site !== "same-origin" && site !== "none"
  }

  /** Looks at all of them, whichever fits. */
  #ownerOf(given: string): Principal["Service"] | undefined {
    const asked = digest(given)
    let owner: Principal["Service"] | undefined
    for (const { digest: known, principal } of this.#known) if (timingSafeEqual(asked, known)) owner = principal
    return owner
  }
}

// Tokens: who may come in from outside this machine, and for which tenant.
// T1  A token that is given wrongly is refused at the start, with its place and without its text.

/** One of them opens one tenant. */
export interface Token {
  /** Its name in the audit log. */
  readonly name: string
  /** The tenant whose assistants it opens. */
  readonly tenant: string
  /** What stands behind `Bearer`; at least 16 characters. */
  readonly secret: string
  /** May look and change nothing. */
  readonly readOnly: boolean
}

/**
 * Reads `REVERIE_TOKEN` (the whole default tenant) and `REVERIE_TOKENS`: `name:tenant:secret` with commas between them,
 * `name:tenant:secret:ro` for one that may only look. Throws a TypeError that names the place.
 */
export const tokensFrom = (one: string | undefined, several?: string): ReadonlyArray<Token> => {
  const given = (several ?? "").split(",").flatMap((text, index): ReadonlyArray<Token> => {
    if (text.trim() === "") return []
    const [name = "", tenant = "", secret = "", right = "rw", ...rest] = text.trim().split(":")
    if (name === "" || tenant === "" || secret.length < 16 || rest.length > 0 || !["ro", "rw"].includes(right)) {
      throw new TypeError(
        `REVERIE_TOKENS: token ${index + 1} must be name:tenant:secret or name:tenant:secret:ro, its secret of 16 characters or more`
      )
    }
    return [{ name, tenant, secret, readOnly: right === "ro" }]
  })
  return one === undefined || one === ""
    ? given
    : [{ name: "REVERIE_TOKEN", tenant: "default", secret: one, readOnly: false }, ...given]
}
