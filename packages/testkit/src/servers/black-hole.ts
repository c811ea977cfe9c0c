// BlackHole: a TCP proxy in front of a server, which can fail as networks do.
// Owns the connections on both sides. Leaves what they say to their ends.
// H1  `hang` loses no byte and tells no one: connections stay open and new ones are taken, but nothing passes, not
//     even an end. After `heal` everything passes in its order.
// H2  `cut` ends every connection and refuses new ones, on a port that no one else gets, until `heal`.
// H3  `reset` ends every connection as a crashed machine does (RST), and takes new ones.

import { connect, createServer, type Server, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "./port.ts"

export interface BlackHole {
  /** The url of the server, with the proxy's address in it. */
  readonly url: string
  readonly cut: () => Promise<void>
  readonly hang: () => void
  readonly heal: () => Promise<void>
  readonly reset: () => void
  /** How long each byte is on its way, in each direction; 0 at first. */
  readonly delay: (millis: number) => void
  /** Connections that clients have open. */
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** A gate that is open, or will be. */
const newGate = () => {
  let opened = Promise.withResolvers<void>()
  opened.resolve()
  let isOpen = true
  return {
    isOpen: () => isOpen,
    passed: () => opened.promise,
    shut: () => {
      if (isOpen) opened = Promise.withResolvers<void>()
      isOpen = false
    },
    open: () => {
      isOpen = true
      opened.resolve()
    }
  }
}

interface Road {
  readonly gate: ReturnType<typeof newGate>
  readonly delayMillis: () => number
}

/** What comes from one end goes to the other, in its order, as fast as that one reads. */
const pass = (from: Socket, to: Socket, { delayMillis, gate }: Road): void => {
  let last: Promise<unknown> = Promise.resolve()
  const then = (act: () => void): void => {
    const due = performance.now() + delayMillis()
    const before = last
    const inTurn = async (): Promise<void> => {
      await before
      const left = due - performance.now()
      if (left > 0) await sleep(left)
      await gate.passed()
      act()
    }
    last = inTurn()
  }
  const write = (chunk: Buffer): void => {
    if (to.destroyed || to.write(chunk)) return
    from.pause()
    to.once("drain", () => from.resume())
  }
  from.on("data", (chunk: Buffer) => then(() => write(chunk)))
  from.on("end", () => then(() => to.end()))
  from.on("close", () => then(() => to.destroySoon()))
  // An error is followed by `close`, which passes it on.
  from.on("error", () => undefined)
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject)
      resolve()
    })
  })

export const blackHole = async (url: string): Promise<BlackHole> => {
  const target = new URL(url)
  const host = target.hostname
  const defaultPort = { "redis:": 6379, "postgres:": 5432, "postgresql:": 5432, "http:": 80 }[target.protocol]
  const targetPort = Number(target.port === "" ? defaultPort : target.port)
  const gate = newGate()
  const sockets = new Set<Socket>()
  let clients = 0
  let delayMillis = 0
  const road: Road = { gate, delayMillis: () => delayMillis }
  const keep = (socket: Socket): void => {
    sockets.add(socket.setNoDelay())
    socket.once("close", () => sockets.delete(socket))
  }
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients++
    client.once("close", () => clients--)
    const behind = connect({ port: targetPort, host, allowHalfOpen: true })
    for (const socket of [client, behind]) keep(socket)
    pass(client, behind, road)
    pass(behind, client, road)
  })
  const port = await freePort()
  await listen(server, port)
  const endAll = (end: (socket: Socket) => void): void => {
    for (const socket of sockets) end(socket)
  }
  const closed = async (): Promise<void> => {
    if (server.listening) server.close()
    const gone = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)))
    endAll((socket) => socket.destroy())
    await Promise.all(gone)
  }
  const own = new URL(url)
  own.host = `127.0.0.1:${port}`
  return {
    url: own.href,
    cut: closed,
    hang: gate.shut,
    heal: async () => {
      gate.open()
      if (!server.listening) await listen(server, port)
    },
    reset: () => endAll((socket) => socket.resetAndDestroy()),
    delay: (millis) => {
      delayMillis = millis
    },
    connections: () => clients,
    close: () => {
      gate.open()
      return closed()
    }
  }
}
