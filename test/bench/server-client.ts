// The client of the benchmark of servers: connections that send one request after another, and streams that listen.
// C1  Requests are bytes that were made before the clock runs, so that the client is not what is measured.
// C2  An answer counts only when its status is 202 and it is whole.

import { connect, type Socket } from "node:net"

const HEAD_END = "\r\n\r\n"

export interface Load {
  readonly port: number
  readonly connections: number
  readonly requests: number
  readonly bodyOf: (index: number) => string
  readonly pathOf: (index: number) => string
}

export interface LoadFigures {
  readonly perSecond: number
  readonly p50Millis: number
  readonly p99Millis: number
}

const requestOf = ({ bodyOf, pathOf, port }: Load, index: number): Buffer => {
  const body = bodyOf(index)
  return Buffer.from(
    `POST ${pathOf(index)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

const opened = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket))
    socket.once("error", reject)
  })

/** The length of the first whole answer in a text; 0 when none is whole yet. */
const wholeAnswer = (text: string): number => {
  const head = text.indexOf(HEAD_END)
  if (head < 0) return 0
  if (!text.startsWith("HTTP/1.1 202")) throw new Error(`a request was not accepted: ${text.slice(0, 600)}`)
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1])
  const end = head + HEAD_END.length + length
  return text.length < end ? 0 : end
}

const percentileOf = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

export const load = async (options: Load): Promise<LoadFigures> => {
  const requests = Array.from({ length: options.requests }, (_, index) => requestOf(options, index))
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => opened(options.port)))
  const millis: Array<number> = []
  let next = 0
  const begun = performance.now()
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          let rest = ""
          let since = 0
          const send = (): void => {
            const request = requests[next++]
            if (request === undefined) return resolve()
            since = performance.now()
            socket.write(request)
          }
          socket.setEncoding("latin1")
          socket.on("data", (chunk: string) => {
            rest += chunk
            try {
              const end = wholeAnswer(rest)
              if (end === 0) return
              rest = rest.slice(end)
            } catch (error) {
              return reject(error instanceof Error ? error : new Error(String(error)))
            }
            millis.push(performance.now() - since)
            send()
          })
          socket.once("close", () => reject(new Error("a connection was closed")))
          send()
        })
    )
  )
  const seconds = (performance.now() - begun) / 1_000
  for (const socket of sockets) socket.removeAllListeners("close").destroy()
  const sorted = millis.toSorted((a, b) => a - b)
  return {
    perSecond: options.requests / seconds,
    p50Millis: percentileOf(sorted, 0.5),
    p99Millis: percentileOf(sorted, 0.99)
  }
}

export interface Listeners {
  /** Bytes of all of them together. */
  readonly heard: () => number
  readonly close: () => void
}

/** Streams that only listen. */
export const listen = async (port: number, streams: number): Promise<Listeners> => {
  let heard = 0
  const sockets = await Promise.all(Array.from({ length: streams }, () => opened(port)))
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          socket.once("close", () => reject(new Error("a stream was refused")))
          socket.on("data", (chunk) => {
            heard += chunk.length
            resolve()
          })
          socket.write(`GET /v1/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n\r\n`)
        })
    )
  )
  return {
    heard: () => heard,
    close: () => {
      for (const socket of sockets) socket.removeAllListeners("close").destroy()
    }
  }
}
