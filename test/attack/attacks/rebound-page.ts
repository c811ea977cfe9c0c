// A page of the web binds its name to the address of the fleet (DNS rebinding): its requests come from the user's own
// browser, to the right address, with a Host and an Origin that agree. Only the name is wrong.

import { request } from "node:http"
import type { Attack, Check } from "../attack.ts"
import { Client } from "../client.ts"
import { judge } from "../judge.ts"
import { sendMany } from "../moves.ts"
import type { Server } from "../scene.ts"

interface Asked {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: object
}

/** What a page would want first: to look, to say something, to stop everybody, to use tools. */
const wanted: ReadonlyArray<Asked> = [
  { method: "GET", path: "/v1/assistants" },
  { method: "GET", path: "/v1/system" },
  { method: "GET", path: "/v1/assistants/desk/messages" },
  { method: "GET", path: "/v1/events?after=0" },
  { method: "GET", path: "/docs" },
  { method: "POST", path: "/v1/assistants/desk/messages", body: { text: "rebound", id: "rebound" } },
  { method: "POST", path: "/v1/orders", body: { order: "halt" } },
  { method: "POST", path: "/mcp", body: { jsonrpc: "2.0", id: 1, method: "tools/list" } }
]

/** As a browser sends it. `fetch` lets no Host be chosen. */
const statusOf = (url: string, { body, method, path }: Asked, name: string | undefined): Promise<number> =>
  new Promise((resolve) => {
    const host = `${name ?? new URL(url).hostname}:${new URL(url).port}`
    const origin = name === undefined ? {} : { origin: `http://${host}`, "sec-fetch-site": "same-origin" }
    const headers = { host, ...origin, "content-type": "application/json", accept: "*/*" }
    const asking = request(`${url}${path}`, { method, headers }, (response) => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    asking.on("error", () => resolve(0))
    asking.end(body === undefined ? undefined : JSON.stringify(body))
  })

const refusals = async (server: Server, url: string, name: string): Promise<ReadonlyArray<Check>> => {
  const checks: Array<Check> = []
  for (const asked of wanted) {
    const status = await statusOf(url, asked, name)
    const says = `${name} is refused ${asked.method} ${asked.path}`
    checks.push({ says, ok: status === 403, seen: String(status) })
  }
  const heard = await server.client.taken("desk")
  return [...checks, { says: "the desk has heard nothing of it", ok: !heard.includes("rebound"), seen: heard.join() }]
}

export const reboundPage: ReadonlyArray<Attack> = [
  {
    name: "rebound-page",
    item: 12,
    says: "a page whose name was bound to an open fleet's address asks under that name",
    isShort: true,
    run: async (scene) => {
      const args = ["--host", "0.0.0.0", "--open", "--allow-host", "localhost", "127.0.0.1"]
      const opened = await scene.serve({ args })
      const url = opened.url.replace("0.0.0.0", "127.0.0.1")
      const server: Server = { ...opened, url, client: new Client(url) }
      const checks = await refusals(server, url, "evil.example")
      const own = await statusOf(url, { method: "GET", path: "/v1/assistants" }, undefined)
      const posted = await sendMany(server, 4, "own")
      const judged = await judge(server.client, posted, { withinMs: 10_000 })
      await opened.stop()
      return {
        ...judged,
        checks: [
          ...checks,
          { says: "the names that were allowed are served", ok: own === 200 && posted.length === 4, seen: `${own}` }
        ]
      }
    }
  }
]
