// Connection: whether the client of a request is still there.
// Owns telling of its end. Leaves ending the work for it to the caller.
// C1  A stream ends with the connection for which it was opened, and holds nothing of a connection that outlives it.

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Readable } from "node:stream"

/** After a turn of the event loop, in which node reads of a connection that was cut right behind its request. */
export const isGone = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
  await new Promise((resolve) => setImmediate(resolve))
  return request.destroyed || response.destroyed || request.socket.destroyed
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
