// What could not be read as a request: a real server of node with short limits, and sockets that are written by hand.

import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { afterEach, assert, beforeEach, test } from "vitest"
import { refuseUnread } from "../../src/http/answer.ts"

let server: Server
let port: number

beforeEach(async () => {
  server = createServer({ headersTimeout: 40, requestTimeout: 40, connectionsCheckingInterval: 10 }, (_, response) =>
    response.end("served")
  ).on("clientError", refuseUnread)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  port = (server.address() as AddressInfo).port
})
afterEach(() => void server.close())

/** What the server says to a connection before it ends. */
const heard = async (written: string): Promise<string> => {
  const socket = connect(port, "127.0.0.1")
  let all = ""
  socket.on("data", (bytes) => (all += bytes.toString("utf8"))).on("error", () => {})
  await once(socket, "connect")
  if (written !== "") socket.write(written)
  await once(socket, "close")
  return all
}

const REQUEST = "GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"

test("N2: a connection that never sent a byte ends without an answer", async () => {
  assert.strictEqual(await heard(""), "")
})

test("N1: half a request that does not go on learns that it came too late", async () => {
  const answer = await heard("GET / HTTP/1.1\r\nho")
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/)
  assert.include(answer, "the request took too long to come")
})

test("N1: what is no HTTP is refused as malformed", async () => {
  assert.match(await heard("no request at all\r\n\r\n"), /^HTTP\/1\.1 400 Bad Request\r\n/)
})

test("N2: a request that waited while the process was busy is served", async () => {
  const connected = once(server, "connection")
  const socket = connect(port, "127.0.0.1")
  let answer = ""
  socket.on("data", (bytes) => (answer += bytes.toString("utf8")))
  await connected
  socket.write(REQUEST)
  const until = process.hrtime.bigint() + 200_000_000n
  while (process.hrtime.bigint() < until);
  await once(socket, "close")
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*served$/)
})
