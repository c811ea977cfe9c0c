// FakeApi: an HTTP server that speaks the contract of the API and has nothing behind it.
// Owns routes, the event stream and the page's files, under the content policy of the real one. `node
// apps/dashboard/test/fake-api.ts [port]` serves it until it is ended.
// Leaves what is said to fake/: answers.ts for the fleet, inside.ts for the pages of one assistant.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { existsSync, readFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { extname, join } from "node:path"
import { ensurePage } from "../build.ts"
import { fleetHandlers } from "./fake/answers.ts"
import { insideHandlers } from "./fake/inside.ts"
import { type FakeAsked, FakeFailure, type Handlers, makeWorld, type World } from "./fake/world.ts"

export interface FakeOptions {
  readonly page: string
  readonly port?: number
  readonly rows?: number
  /** Asked for with every request, where it is said. */
  readonly token?: string
  /** Something happens that often. */
  readonly liveMillis?: number
}

export interface FakeApi {
  readonly url: string
  readonly world: World
  /** Everything that was changed: its route and its key. */
  readonly changes: ReadonlyArray<{
    readonly route: string
    readonly key: string | undefined
    readonly asked: FakeAsked
  }>
  /** How often an event stream was opened, and with which last id. */
  readonly streams: ReadonlyArray<string | undefined>
  /** From now on nothing of the API answers and every event stream is cut, or it is well again. */
  readonly setBroken: (broken: boolean) => void
  readonly close: () => Promise<void>
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json"
}

type Handler = (world: World, asked: FakeAsked) => unknown

/** A handler whose answer comes later is for tests of waiting. */
const handlers: Handlers = { ...fleetHandlers, ...insideHandlers }

const routes = Object.entries(handlers).map(([route, handler]) => {
  const [method = "", path = ""] = route.split(" ")
  const pattern = new RegExp(`^${path.replace(/:([a-z]+)/gi, "(?<$1>[^/]+)")}$`)
  return { route, method, pattern, handler: handler as Handler }
})

const bodyOf = async (request: IncomingMessage): Promise<FakeAsked["payload"]> => {
  let text = ""
  for await (const piece of request) text += String(piece)
  return text === "" ? {} : (JSON.parse(text) as FakeAsked["payload"])
}

const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
  response.end(JSON.stringify(body))
}

const sendFile = (response: ServerResponse, folder: string, path: string): void => {
  const isFile = path.startsWith("/assets/") && existsSync(join(folder, path))
  const file = isFile ? join(folder, path) : join(folder, "index.html")
  response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain", "content-security-policy": POLICY })
  response.end(readFileSync(file))
}

export const openFakeApi = async (options: FakeOptions): Promise<FakeApi> => {
  const world = makeWorld(options.rows ?? 10_000)
  if (options.liveMillis !== undefined) world.live(options.liveMillis)
  const changes: Array<FakeApi["changes"][number]> = []
  const streams: Array<string | undefined> = []
  const open = new Set<ServerResponse>()
  let broken = false

  const stream = (request: IncomingMessage, response: ServerResponse, whom: string | null): void => {
    const last = request.headers["last-event-id"] as string | undefined
    streams.push(last)
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
    const send = ({ id, ...notice }: ReturnType<World["since"]>[number]) => {
      if (whom !== null && notice.address.assistant !== whom) return
      response.write(
        `${id === undefined ? "" : `id: ${id}\n`}event: ${notice.type}\ndata: ${JSON.stringify(notice)}\n\n`
      )
    }
    response.write(`: here\nid: ${last ?? world.outboxEnd()}\n\n`)
    if (last !== undefined) for (const notice of world.since(Number(last))) send(notice)
    open.add(response)
    const forget = world.onNotice(send)
    response.on("close", () => {
      forget()
      open.delete(response)
    })
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://fake")
    if (!url.pathname.startsWith("/v1/")) return sendFile(response, options.page, url.pathname)
    if (broken) return void request.socket.destroy()
    if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
      return sendJson(response, 401, { _tag: "Unauthorized", message: "a token is needed" })
    }
    if (url.pathname === "/v1/events") return stream(request, response, url.searchParams.get("assistant"))
    const route = routes.find(({ method, pattern }) => method === request.method && pattern.test(url.pathname))
    if (route === undefined) return sendJson(response, 404, { _tag: "NotFound", message: `no route ${url.pathname}` })
    const groups = Object.entries(route.pattern.exec(url.pathname)?.groups ?? {})
    const params = Object.fromEntries(groups.map(([name, value]) => [name, decodeURIComponent(value)]))
    const asked = { params, query: Object.fromEntries(url.searchParams), payload: await bodyOf(request) }
    if (request.method !== "GET") {
      changes.push({ route: route.route, key: request.headers["idempotency-key"] as string | undefined, asked })
    }
    sendJson(response, 200, route.handler(world, asked))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof FakeFailure) sendJson(response, error.status, error.body)
      else sendJson(response, 500, { _tag: "Unexpected", message: String(error) })
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    changes,
    streams,
    setBroken: (value) => {
      broken = value
      if (value) for (const response of open) response.destroy()
    },
    close: async () => {
      world.stop()
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    }
  }
}

if (import.meta.main) {
  const { url } = await openFakeApi({
    page: await ensurePage(),
    port: Number(process.argv[2] ?? 4747),
    liveMillis: 120
  })
  process.stdout.write(`${url}\n`)
}
