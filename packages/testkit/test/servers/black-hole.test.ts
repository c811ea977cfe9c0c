import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { assert, describe, test } from "@effect/vitest"
import { blackHole } from "@reverie/testkit/servers"

/** A server that answers each byte with itself. */
const echo = async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: `redis://127.0.0.1:${port}/3`, sockets, close }
}

const dial = (url: string) => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const heard: Array<string> = []
  const listeners: Array<() => void> = []
  socket.setEncoding("utf8").on("data", (text: string) => {
    heard.push(text)
    for (const listener of listeners) listener()
  })
  const over = new Promise<string>((resolve) => {
    let why = "ended"
    socket.on("error", (error) => (why = String(Reflect.get(error, "code")))).on("close", () => resolve(why))
  })
  return {
    socket,
    over,
    said: () => heard.join(""),
    /** Resolves when all of it was heard. */
    receives: (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (heard.join("") === text) resolve()
        }
        listeners.push(look)
        look()
      })
  }
}

/** A proxy in front of the echo, and one connection through it that works. */
const scene = async (
  use: (hole: Awaited<ReturnType<typeof blackHole>>, first: ReturnType<typeof dial>) => Promise<void>
) => {
  const server = await echo()
  const hole = await blackHole(server.url)
  try {
    const first = dial(hole.url)
    first.socket.write("hello")
    await first.receives("hello")
    await use(hole, first)
  } finally {
    await hole.close()
    server.close()
  }
}

describe("a black hole", () => {
  test("keeps the rest of the url", () =>
    scene(async (hole) => {
      assert.match(hole.url, /^redis:\/\/127\.0\.0\.1:\d+\/3$/)
    }))

  test("H1 a hang passes nothing and ends nothing, also for who comes new; healed, all arrives in its order", () =>
    scene(async (hole, first) => {
      hole.hang()
      first.socket.write(" one")
      const second = dial(hole.url)
      second.socket.write("new")
      // Both were taken, and what they sent has gone into the hole before this connection is.
      const third = dial(hole.url)
      await new Promise((resolve) => third.socket.once("connect", resolve))
      first.socket.write(" two")
      assert.deepStrictEqual([first.said(), second.said()], ["hello", ""])
      assert.isFalse(first.socket.destroyed)
      await hole.heal()
      await Promise.all([first.receives("hello one two"), second.receives("new")])
      for (const { socket } of [first, second, third]) socket.destroy()
    }))

  test("H2 a cut ends connections and refuses new ones; healed, it is on the same port", () =>
    scene(async (hole, first) => {
      await hole.cut()
      await first.over
      assert.strictEqual(await dial(hole.url).over, "ECONNREFUSED")
      await hole.heal()
      const again = dial(hole.url)
      again.socket.write("x")
      await again.receives("x")
      again.socket.destroy()
    }))

  test("H3 a reset ends connections with RST, and takes new ones", () =>
    scene(async (hole, first) => {
      hole.reset()
      assert.strictEqual(await first.over, "ECONNRESET")
      const again = dial(hole.url)
      again.socket.write("x")
      await again.receives("x")
      again.socket.destroy()
    }))

  test("delay keeps the order of what passes when it becomes less", () =>
    scene(async (hole, first) => {
      hole.delay(60)
      first.socket.write("1")
      hole.delay(0)
      first.socket.write("2")
      await first.receives("hello12")
      first.socket.destroy()
    }))

  test("counts the connections of clients", () =>
    scene(async (hole, first) => {
      assert.strictEqual(hole.connections(), 1)
      first.socket.destroy()
      await hole.close()
      assert.strictEqual(hole.connections(), 0)
    }))
})
