// Guard: who may come in by HTTP.
// Owns the token, and what a browser on a foreign page may not do. Leaves what may be asked to door.ts.
// G1  With a token nothing is answered without it; comparing takes the same time whatever was given.
// G2  Without one only the machine itself is served, under its own names and those allowed: another Host or Origin is
//     refused, so that no page on the web can reach in (DNS rebinding).

import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

export interface Guard {
  /** What `Authorization: Bearer` must carry; without it only this machine may ask. */
  readonly token?: string
  /** Names of this machine, besides its own, under which it is asked. */
  readonly hosts: ReadonlyArray<string>
}

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

const isLocalName = (name: string): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(name)

const nameOf = (host: string): string => host.replace(/:\d+$/, "").toLowerCase()

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** A page of another site than the one that is asked. */
const isForeign = (origin: string, host: string = ""): boolean => {
  try {
    const { hostname } = new URL(origin)
    return hostname !== nameOf(host) && !isLocalName(hostname)
  } catch {
    return true
  }
}

/** Why a request is turned away; undefined when it may come in. */
export const refusalOf = ({ hosts, token }: Guard, headers: IncomingHttpHeaders): Refusal | undefined => {
  if (token !== undefined) {
    const given = headers.authorization?.replace(/^Bearer /i, "") ?? ""
    if (timingSafeEqual(digest(given), digest(token))) return undefined
    return { status: 401, code: "token-needed", message: "Authorization: Bearer TOKEN is missing or wrong" }
  }
  const asked = nameOf(headers.host ?? "")
  if (!isLocalName(asked) && !hosts.includes(asked)) {
    return {
      status: 403,
      code: "foreign-host",
      message: "only this machine is served; REVERIE_TOKEN or --allow-host opens it to others"
    }
  }
  if (headers.origin !== undefined && isForeign(headers.origin, headers.host)) {
    return { status: 403, code: "foreign-origin", message: "pages of other sites may not ask" }
  }
  return undefined
}

/** True when an address to listen on is reached from this machine alone. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|::1)$/.test(host)
