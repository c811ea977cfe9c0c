// RedisWire: one connection that sends commands to a Redis and reads its answers.
// Owns as much of the protocol as starting, looking at and clearing a server takes. Leaves real work to real clients.

import { connect as connectPlain, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

export type Reply = string | number | null | Error | ReadonlyArray<Reply>

export interface RedisWire {
  /** Rejects with what the server says when it refuses. */
  readonly send: (...words: ReadonlyArray<string>) => Promise<Reply>
  readonly close: () => void
}

/** A reply and where the next one begins; undefined while it is not there as a whole. */
const replyAt = (text: string, at: number): readonly [Reply, number] | undefined => {
  const lineEnd = text.indexOf("\r\n", at)
  if (lineEnd === -1) return undefined
  const line = text.slice(at + 1, lineEnd)
  const next = lineEnd + 2
  switch (text[at]) {
    case "+":
      return [line, next]
    case "-":
      return [new Error(line), next]
    case ":":
      return [Number(line), next]
    case "$": {
      const end = next + Number(line)
      if (line === "-1") return [null, next]
      return text.length < end + 2 ? undefined : [text.slice(next, end), end + 2]
    }
    case "*":
      return line === "-1" ? [null, next] : listAt(text, next, Number(line))
    default:
      throw new Error(`this is no answer of a Redis: ${JSON.stringify(text.slice(at, at + 40))}`)
  }
}

const listAt = (text: string, start: number, length: number): readonly [Reply, number] | undefined => {
  const replies: Array<Reply> = []
  let at = start
  while (replies.length < length) {
    const read = replyAt(text, at)
    if (read === undefined) return undefined
    replies.push(read[0])
    at = read[1]
  }
  return [replies, at]
}

const encoded = (words: ReadonlyArray<string>): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (cause: Error) => void
}

const speak = (socket: Socket): RedisWire => {
  const waiting: Array<Waiting> = []
  let text = ""
  const fail = (cause: Error): void => {
    for (const { reject } of waiting.splice(0)) reject(cause)
    socket.destroy()
  }
  const read = (): void => {
    for (let reply = replyAt(text, 0); reply !== undefined; reply = replyAt(text, 0)) {
      text = text.slice(reply[1])
      const next = waiting.shift()
      if (reply[0] instanceof Error) next?.reject(reply[0])
      else next?.resolve(reply[0])
    }
  }
  // Lengths are of bytes: in Latin-1 each byte is one character.
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk
    try {
      read()
    } catch (cause) {
      fail(cause as Error)
    }
  })
  socket.on("error", fail).on("close", () => fail(new Error("the connection was closed")))
  return {
    send: (...words) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error("the connection is closed"))
        waiting.push({ resolve, reject })
        socket.write(encoded(words))
      }),
    close: () => socket.destroy()
  }
}

export const openRedisWire = async (url: string): Promise<RedisWire> => {
  const { hostname, password, pathname, port, protocol, username } = new URL(url)
  const to = { host: hostname, port: Number(port === "" ? 6379 : port) }
  const wire = speak(protocol === "rediss:" ? connectTls({ ...to, servername: hostname }) : connectPlain(to))
  try {
    const names = username === "" ? [] : [decodeURIComponent(username)]
    if (password !== "") await wire.send("AUTH", ...names, decodeURIComponent(password))
    if (pathname.length > 1) await wire.send("SELECT", pathname.slice(1))
    return wire
  } catch (cause) {
    wire.close()
    throw cause
  }
}

/** Sends one command on a connection of its own. */
export const redisSays = async (url: string, ...words: ReadonlyArray<string>): Promise<Reply> => {
  const wire = await openRedisWire(url)
  try {
    return await wire.send(...words)
  } finally {
    wire.close()
  }
}
