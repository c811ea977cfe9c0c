// Every request is taken for one that names this machine, as if nothing looked at its Host.

import { type IncomingMessage, Server } from "node:http"

const OWN = "127.0.0.1"

const emit = Reflect.get(Server.prototype, "emit") as Server["emit"]

Server.prototype.emit = function (this: Server, event: string, ...args: ReadonlyArray<unknown>): boolean {
  if (event === "request") {
    const { headers } = args[0] as IncomingMessage
    if (headers.origin === `http://${headers.host ?? ""}`) headers.origin = `http://${OWN}`
    headers.host = OWN
  }
  return Reflect.apply(emit, this, [event, ...args]) as boolean
}
