// A request is kept after it was answered, with all that hangs on it.

import { subscribe } from "node:diagnostics_channel"

const kept: Array<unknown> = []
subscribe("http.server.request.start", (message) => {
  kept.push(message, Buffer.alloc(8_192, 1))
})
