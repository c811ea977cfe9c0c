// Front: what every request goes through, in this order: its form, the guard, its route, its body.
// Owns that order, and answering what needs no router. Leaves the API to the router behind it.
// Q1  Nothing is answered before the guard has judged, but whether the process lives and is ready.
// Q2  Whatever goes wrong on the way is answered in the contract's form, and nothing throws beyond it.
// Q3  Every answer is counted by the pattern of its route.
// Q4  No stream is opened for a client that has left already.

import type { IncomingMessage, ServerResponse } from "node:http"
import { SHORT_TEXT } from "@reverie/protocol"
import * as HttpApi from "effect/http-api/HttpApi"
import { hasTwoKeys, twoKeys } from "../views/acceptance.ts"
import { admit, type Admitted } from "./admitted.ts"
import { refuse, secure, writePacked } from "./answer.ts"
import {
  Api,
  LimitReached,
  Malformed,
  MethodNotAllowed,
  NotFound,
  type Principal,
  Unavailable,
  Unexpected
} from "../api/index.ts"
import { bodyLimitOf, type JsonBody, judgedBody, MAX_BODY_BYTES, readBody, roomFor } from "./body.ts"
import { isGone } from "./connection.ts"
import type { Door } from "../feed/event-door.ts"
import type { Guard, Wanted } from "./guard.ts"
import type { Patience } from "./patience.ts"
import type { Traffic } from "./traffic.ts"

// RouteTable: which endpoint a method and a path mean.
// R1  It is made of the contract alone: what is in no group is not found.
// R2  A route has a pattern without any id in it, so that it can be measured by it.

interface Route {
  readonly method: string
  /** e.g. `/v1/assistants/:id`. */
  readonly pattern: string
  /** `group.endpoint`. */
  readonly name: string
}

type Found = { readonly route: Route } | { readonly allow: ReadonlyArray<string> } | undefined

interface Branch {
  readonly fixed: Map<string, Branch>
  any?: Branch
  readonly routes: Map<string, Route>
}

const branch = (): Branch => ({ fixed: new Map(), routes: new Map() })

const grown = (root: Branch, pattern: string): Branch => {
  let at = root
  for (const segment of pattern.split("/").slice(1)) {
    if (segment.startsWith(":")) at = at.any ??= branch()
    else {
      const next = at.fixed.get(segment) ?? branch()
      at.fixed.set(segment, next)
      at = next
    }
  }
  return at
}

/** A fixed segment is meant before one that may be anything. */
const reached = (at: Branch, segments: ReadonlyArray<string>, index: number): Branch | undefined => {
  const segment = segments[index]
  if (segment === undefined) return at.routes.size === 0 ? undefined : at
  const fixed = at.fixed.get(segment)
  const found = fixed === undefined ? undefined : reached(fixed, segments, index + 1)
  if (found !== undefined) return found
  return at.any === undefined || segment === "" ? undefined : reached(at.any, segments, index + 1)
}

const routesOfApi = (): ReadonlyArray<Route> => {
  const routes: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      routes.push({
        method: endpoint.method,
        pattern: endpoint.path,
        name: `${group.identifier}.${endpoint.identifier}`
      })
    }
  })
  return routes
}

export const routes: ReadonlyArray<Route> = routesOfApi()

const root = branch()
for (const route of routes) grown(root, route.pattern).routes.set(route.method, route)

/** `path` is as it stands in the request, without its query. HEAD means what GET does. */
export const find = (method: string, path: string): Found => {
  const at = reached(root, path.split("/").slice(1), 0)
  if (at === undefined) return undefined
  const route = at.routes.get(method) ?? (method === "HEAD" ? at.routes.get("GET") : undefined)
  return route === undefined ? { allow: [...at.routes.keys()].toSorted() } : { route }
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** What is answered without the router, for GET and HEAD. */
export interface Plain {
  readonly wanted: Wanted | "anybody"
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void
}

/** A protocol of its own under one path, whatever the method; it gets who asks, and the judged body. */
export type Mount = (request: IncomingMessage, response: ServerResponse, admitted: Admitted) => Promise<void> | void

/** What a front is made of. */
export interface Behind {
  readonly guard: Guard
  readonly patience: Patience
  readonly traffic: Traffic
  /** By its path. */
  readonly plain: ReadonlyMap<string, Plain>
  /** By their path. */
  readonly mounts: ReadonlyMap<string, Mount>
  readonly withApi: boolean
  /** Routes that need no router for a request that fits, by their name. */
  readonly doors: ReadonlyMap<string, Door>
  readonly api: NodeHandler
  /** A file of the page; false when there is none under this path. */
  readonly page: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>
  readonly isClosing: () => boolean
  readonly onTrouble: (line: string) => void
}

interface Target {
  /** As it was sent, percent-encoded. */
  readonly path: string
}

const decodes = (text: string): boolean => {
  if (!text.includes("%")) return true
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The path of a request; undefined when it can not be read. */
export const targetOf = (url: string): Target | undefined => {
  if (!url.startsWith("/")) return undefined
  const end = url.search(/[?#]/)
  const path = end < 0 ? url : url.slice(0, end)
  return decodes(path) && decodes(url.slice(path.length)) ? { path } : undefined
}

const isLooking = (method: string | undefined): boolean => method === "GET" || method === "HEAD"

const malformed = (message: string): Malformed => new Malformed({ message })

export const nowhere = new NotFound({ message: "there is nothing here", hint: "GET /openapi.json tells what there is" })

/** Routes that a stream answers, and that change nothing. */
export const streams: ReadonlySet<string> = new Set(["system.events", "messages.answers"])

/** Marks what was answered already. */
const ANSWERED = Symbol("answered")

export class Front {
  readonly #behind: Behind

  constructor(behind: Behind) {
    this.#behind = behind
  }

  /** The listener of a server. */
  readonly handle: NodeHandler = (request, response) => {
    secure(response)
    this.#answer(request, response).catch((error: unknown) => {
      if (response.destroyed) return
      this.#behind.onTrouble(error instanceof Error ? (error.stack ?? error.message) : String(error))
      refuse(request, response, new Unexpected({ message: "it went wrong here; the log of the server says more" }))
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { mounts, plain, traffic, withApi } = this.#behind
    const target = targetOf(request.url ?? "")
    if (target === undefined) {
      traffic.begin(response, "malformed")
      return refuse(request, response, malformed("the path or the query is not well encoded"))
    }
    const { path } = target
    const one = plain.get(path)
    if (one !== undefined) return this.#toPlain(request, response, path, one)
    const mount = withApi ? mounts.get(path) : undefined
    if (mount !== undefined) return this.#toMount(request, response, path, mount)
    return path === "/v1" || path.startsWith("/v1/")
      ? this.#toApi(request, response, path)
      : this.#toPage(request, response, path)
  }

  async #toApi(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { api, isClosing, traffic, withApi } = this.#behind
    const found = withApi ? find(request.method ?? "", path) : undefined
    traffic.begin(response, found !== undefined && "route" in found ? found.route.pattern : "unknown")
    const principal = this.#admitted(request, response, "fleet")
    if (principal === ANSWERED) return
    if (found === undefined) return refuse(request, response, nowhere)
    if ("allow" in found) {
      response.setHeader("allow", found.allow.join(", "))
      const message = `${request.method ?? ""} means nothing here; what does: ${found.allow.join(", ")}`
      return refuse(request, response, new MethodNotAllowed({ message }))
    }
    if (isClosing()) {
      return refuse(request, response, new Unavailable({ message: "this process is about to end; ask again" }))
    }
    if (hasTwoKeys(request)) return refuse(request, response, twoKeys)
    if (streams.has(found.route.name) && (await isGone(request, response))) return
    const body = await bodyIn(request, response, bodyLimitOf(found.route.name))
    if (body === ANSWERED) return
    if (this.#behind.doors.get(found.route.name)?.(request, response, principal) === true) return
    admit(request, { principal, ...body })
    api(request, response)
  }

  async #toMount(request: IncomingMessage, response: ServerResponse, path: string, mount: Mount): Promise<void> {
    this.#behind.traffic.begin(response, path)
    const principal = this.#admitted(request, response, "fleet")
    if (principal === ANSWERED) return
    const body = await bodyIn(request, response, MAX_BODY_BYTES)
    if (body !== ANSWERED) await mount(request, response, { principal, ...body })
  }

  async #toPlain(request: IncomingMessage, response: ServerResponse, path: string, one: Plain): Promise<void> {
    this.#behind.traffic.begin(response, path)
    if (one.wanted !== "anybody" && this.#admitted(request, response, one.wanted) === ANSWERED) return
    if (isLooking(request.method)) return one.answer(request, response)
    response.setHeader("allow", "GET, HEAD")
    const message = `${request.method ?? ""} means nothing here; what does: GET, HEAD`
    refuse(request, response, new MethodNotAllowed({ message }))
  }

  async #toPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { page, traffic } = this.#behind
    traffic.begin(response, "page")
    if (this.#admitted(request, response, "public") === ANSWERED) return
    if (isLooking(request.method) && (await page(request, response, path))) return
    refuse(request, response, nowhere)
  }

  /** Who asks. Anyone who guesses is answered later, the longer the more often. */
  #admitted(
    request: IncomingMessage,
    response: ServerResponse,
    wanted: Wanted
  ): Principal["Service"] | typeof ANSWERED {
    const { guard, patience } = this.#behind
    const judged = guard.judge(request, wanted)
    if (!("_tag" in judged)) return judged
    if (judged._tag === "Forbidden") {
      refuse(request, response, judged)
      return ANSWERED
    }
    const wait = patience.after(request.socket.remoteAddress ?? "", Date.now())
    if (wait !== undefined) patience.wait(wait, () => refuse(request, response, judged))
    else refuse(request, response, new LimitReached({ message: "too many wrong tokens", retryAfterSeconds: 60 }))
    return ANSWERED
  }
}

const nothing: JsonBody = { text: "", value: undefined }

/** The judged body of a request. */
const bodyIn = async (
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number
): Promise<JsonBody | typeof ANSWERED> => {
  const { headers } = request
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return nothing
  const bytes = await readBody(request, maxBytes)
  if (Buffer.isBuffer(bytes) && bytes.length === 0) return nothing
  if (Buffer.isBuffer(bytes) && bytes.length > SHORT_TEXT) await roomFor(bytes.length)
  const judged = Buffer.isBuffer(bytes) ? judgedBody(bytes, headers["content-type"]) : bytes
  if (!("_tag" in judged)) return judged
  refuse(request, response, judged)
  return ANSWERED
}

/** Answers with a text that is made anew each time. */
export const plainText =
  (type: string, text: () => Promise<string> | string): Plain["answer"] =>
  async (request, response) =>
    writePacked(request, response, type, await text())
