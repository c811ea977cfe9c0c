// Modes: ways in which a Qdrant server can fail a request.
// Owns the list. Leaves when one is shown to the code that runs the server.

import type { ServerResponse } from "node:http"

const JSON_TYPE = { "content-type": "application/json" }

const failed = (error: string): string => JSON.stringify({ status: { error }, time: 0 })

export const qdrantModes = {
  "internal-error": (response) => {
    response.writeHead(500, JSON_TYPE).end(failed("Service internal error: the disk is on fire"))
  },
  "too-many-requests": (response) => {
    response.writeHead(429, { ...JSON_TYPE, "retry-after": "30" }).end(failed("Rate limiting exceeded"))
  },
  "too-many-until": (response) => {
    const until = "Wed, 21 Oct 2026 07:28:00 GMT"
    response.writeHead(429, { ...JSON_TYPE, "retry-after": until }).end(failed("Rate limiting exceeded"))
  },
  forbidden: (response) => {
    response.writeHead(403, JSON_TYPE).end(failed("Forbidden: Global manage access is required"))
  },
  hang: () => {},
  "hang-in-body": (response) => {
    response.writeHead(200, JSON_TYPE)
    response.write('{"result":')
  },
  "cut-body": (response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": "4096" })
    response.write('{"result":', () => response.destroy())
  },
  "no-answer": (response) => {
    response.destroy()
  },
  "not-json": (response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html>a proxy in between</html>")
  },
  "no-result": (response) => {
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ status: "ok", time: 0 }))
  },
  "strange-result": (response) => {
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ result: "yes", status: "ok", time: 0 }))
  }
} as const satisfies Record<string, (response: ServerResponse) => void>

export type QdrantMode = keyof typeof qdrantModes
