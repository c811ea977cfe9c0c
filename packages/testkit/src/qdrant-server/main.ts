// The double of Qdrant as a process of its own, for a container: `main.ts HOST PORT`. It says that it is ready as Qdrant
// does, and ends when it is asked to. The double itself listens on the loopback; this passes on what comes from elsewhere.

import { createServer, request } from "node:http"
import { startQdrantServer } from "./server.ts"

const [host = "127.0.0.1", port = "6333"] = process.argv.slice(2)
const { url } = await startQdrantServer()

createServer((incoming, response) => {
  const { headers, method = "GET", url: path = "/" } = incoming
  if (path === "/readyz") {
    response.end("all shards are ready")
    return
  }
  const asked = request(new URL(path, url), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  asked.on("error", () => response.destroy())
  incoming.pipe(asked)
}).listen(Number(port), host)

process.once("SIGTERM", () => process.exit(0))
