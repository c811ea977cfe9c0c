// Connection: whether the client of a request is still there.
// Owns telling of its end. Leaves ending the work for it to the caller.
// C1  A client that was cut right behind its request is known to be gone before anything is begun for it.
// C2  A stream ends with the connection for which it was opened, and holds nothing of a connection that outlives it.

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Readable } from "node:stream"

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * After a whole turn of the event loop, in which node reads the end of a connection that was cut right behind its request:
 * the first wait ends in the turn in which the request was read.
 */
export const isGone = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
  await turn()
  await turn()
  return request.destroyed || response.destroyed || request.socket.destroyed || request.socket.readableEnded
}

/** Destroys the stream when the connection closes, or at once where it has closed already. */
export const endWith = (socket: Socket, stream: Readable): void => {
  const end = (): void => {
    stream.destroy()
  }
  if (socket.destroyed) return end()
  socket.once("close", end)
  stream.once("close", () => socket.off("close", end))
}

/** The same for a client whose leaving a signal says. */
export const endWithSignal = (leaving: AbortSignal, stream: Readable): void => {
  const end = (): void => {
    stream.destroy()
  }
  if (leaving.aborted) return end()
  leaving.addEventListener("abort", end, { once: true })
  stream.once("close", () => leaving.removeEventListener("abort", end))
}

/** Sends the stream; each ends with the other. Without `pipeline`, whose errors for clients that leave cost more than they. */
export const stream = (source: Readable, response: ServerResponse): void => {
  response.once("close", () => void source.destroy())
  source.once("error", () => void response.destroy())
  source.once("close", () => {
    if (!response.writableEnded) response.destroy()
  })
  source.pipe(response)
}
