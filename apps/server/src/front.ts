// Front: what every request goes through, in this order: its form, the guard, its route, its body.
// Owns that order, and answering what needs no router. Leaves the API to the router behind it.
// Q1  Nothing is answered before the guard has judged, but whether the process lives and is ready.
// Q2  Whatever goes wrong on the way is answered in the contract's form, and nothing throws beyond it.
// Q3  Every answer is counted by the pattern of its route.

import type { IncomingMessage, ServerResponse } from "node:http"
import { admit, type Admitted } from "./admitted.ts"
import { refuse, type Refusal, write } from "./answer.ts"
import { LimitReached, Malformed, MethodNotAllowed, NotFound, Unavailable, Unexpected } from "./api/index.ts"
import { isJsonType, jsonOf, readBody } from "./body.ts"
import type { Guard, Wanted } from "./guard.ts"
import type { Patience } from "./patience.ts"
import { find, type Route } from "./route-table.ts"
import { secure } from "./security-headers.ts"
import type { Traffic } from "./traffic.ts"

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
  readonly api: NodeHandler
  /** A file of the page; false when there is none under this path. */
  readonly page: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>
  /** Answers instead of the router where it can; false where the router must. */
  readonly shortcut?: (route: Route, request: IncomingMessage, response: ServerResponse, path: string) => boolean
  readonly isClosing: () => boolean
  readonly onTrouble: (line: string) => void
}

interface Target {
  readonly path: string
  readonly query: string
}

const decodes = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Path and query of a request; undefined when they can not be read. */
const targetOf = (url: string): Target | undefined => {
  if (!url.startsWith("/")) return undefined
  const [before = "", ...rest] = url.split("#", 1)[0]?.split("?") ?? []
  const query = rest.join("?")
  return decodes(before) && decodes(query) ? { path: before, query } : undefined
}

const isLooking = (method: string | undefined): boolean => method === "GET" || method === "HEAD"

const malformed = (message: string): Malformed => new Malformed({ message })

const nowhere = new NotFound({ message: "there is nothing here", hint: "GET /openapi.json tells what there is" })

export const openFront = (behind: Behind): NodeHandler => {
  const { guard, patience, plain, traffic } = behind

  const turnAway = (request: IncomingMessage, response: ServerResponse, refusal: Refusal): void => {
    if (refusal._tag !== "Unauthorized") return refuse(request, response, refusal)
    const wait = patience.after(request.socket.remoteAddress ?? "", Date.now())
    if (wait !== undefined) return patience.wait(wait, () => refuse(request, response, refusal))
    const message = "too many wrong tokens"
    refuse(request, response, new LimitReached({ message, retryAfterSeconds: 60 }))
  }

  /** False when it was answered with a refusal. */
  const takeBody = async (request: IncomingMessage, response: ServerResponse): Promise<string | undefined> => {
    const { headers } = request
    if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return ""
    const bytes = await readBody(request)
    if (!Buffer.isBuffer(bytes)) {
      refuse(request, response, bytes)
      return undefined
    }
    if (bytes.length === 0) return ""
    const judged = isJsonType(headers["content-type"])
      ? jsonOf(bytes)
      : malformed("the body must be JSON: send content-type: application/json")
    if (!(judged instanceof Malformed)) return judged.text
    refuse(request, response, judged)
    return undefined
  }

  const toApi = async (request: IncomingMessage, response: ServerResponse, { path }: Target): Promise<void> => {
    const found = behind.withApi ? find(request.method ?? "", path) : undefined
    if (found !== undefined && "route" in found) traffic.begin(response, found.route.pattern)
    const judged = guard.judge(request, "fleet")
    if ("_tag" in judged) return turnAway(request, response, judged)
    if (found === undefined) return refuse(request, response, nowhere)
    if ("allow" in found) {
      response.setHeader("allow", found.allow.join(", "))
      const message = `${request.method ?? ""} means nothing here; ${found.allow.join(", ")} does`
      return refuse(request, response, new MethodNotAllowed({ message }))
    }
    if (behind.isClosing()) {
      return refuse(request, response, new Unavailable({ message: "this process is about to end; ask again" }))
    }
    const text = await takeBody(request, response)
    if (text === undefined) return
    admit(request, { principal: judged, text })
    if (behind.shortcut?.(found.route, request, response, path) === true) return
    behind.api(request, response)
  }

  const toMount = async (request: IncomingMessage, response: ServerResponse, path: string, mount: Mount) => {
    traffic.begin(response, path)
    const principal = guard.judge(request, "fleet")
    if ("_tag" in principal) return turnAway(request, response, principal)
    const text = await takeBody(request, response)
    if (text !== undefined) await mount(request, response, { principal, text })
  }

  const toPlain = async (request: IncomingMessage, response: ServerResponse, path: string, one: Plain) => {
    traffic.begin(response, path)
    if (one.wanted !== "anybody") {
      const judged = guard.judge(request, one.wanted)
      if ("_tag" in judged) return turnAway(request, response, judged)
    }
    if (isLooking(request.method)) return one.answer(request, response)
    response.setHeader("allow", "GET, HEAD")
    refuse(request, response, new MethodNotAllowed({ message: `${request.method ?? ""} means nothing here` }))
  }

  const toPage = async (request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> => {
    traffic.begin(response, "page")
    const judged = guard.judge(request, "public")
    if ("_tag" in judged) return turnAway(request, response, judged)
    if (isLooking(request.method) && (await behind.page(request, response, target.path))) return
    refuse(request, response, nowhere)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = targetOf(request.url ?? "")
    if (target === undefined) {
      traffic.begin(response, "malformed")
      return refuse(request, response, malformed("the path or the query is not well encoded"))
    }
    const one = plain.get(target.path)
    if (one !== undefined) return toPlain(request, response, target.path, one)
    const mount = behind.withApi ? behind.mounts.get(target.path) : undefined
    if (mount !== undefined) return toMount(request, response, target.path, mount)
    const isApi = target.path === "/v1" || target.path.startsWith("/v1/")
    if (!isApi) return toPage(request, response, target)
    traffic.begin(response, "unknown")
    return toApi(request, response, target)
  }

  return (request, response) => {
    secure(response)
    answer(request, response).catch((error: unknown) => {
      if (response.destroyed) return
      behind.onTrouble(error instanceof Error ? (error.stack ?? error.message) : String(error))
      refuse(request, response, new Unexpected({ message: "it went wrong here; the log of the server says more" }))
    })
  }
}

/** Answers with a text that is made anew each time. */
export const plainText =
  (type: string, text: () => Promise<string> | string): Plain["answer"] =>
  async (_, response) =>
    write(response, 200, type, await text())
