// Streams whose client has gone: storms of connections to the event stream, each cut before the next. Nothing may be done
// for a client that is not there any more. And streams whose client never reads: they cost a bounded buffer.

import { connect, type Socket } from "node:net"
import type { Attack, Check } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { cpuSeconds, figure, listening, millisUntil, residentMegabytes, untilRest } from "../measures.ts"
import type { Scene, Server } from "../scene.ts"

const IDS = ["ann", "bob", "cid", "dee"] as const

interface Filling {
  readonly messages: number
  readonly ids: ReadonlyArray<string>
  /** Stands in the id of each, which most notices about it tell. */
  readonly padding?: string
}

/** Fills the outbox, so that there is something to tell from the beginning. */
const filled = async (server: Server, { ids, messages, padding = "" }: Filling): Promise<ReadonlyArray<Posted>> => {
  const said = "hello ".repeat(50)
  const posted = Array.from({ length: messages }, (_, index) => ({
    assistant: ids[index % ids.length] ?? "ann",
    id: `fill-${index}${padding}`
  }))
  const acknowledged: Array<Posted> = []
  for (let at = 0; at < posted.length; at += 50) {
    const answers = posted.slice(at, at + 50).map(async (each) => {
      if (await server.client.post(each, said)) acknowledged.push(each)
    })
    await Promise.all(answers)
  }
  await untilRest(server.client, 180_000)
  return acknowledged
}

const REFUSED = -1

interface Opened {
  readonly socket: Socket
  /** The status of the answer; 0 while there is none, REFUSED when the request could not be sent. */
  readonly status: () => number
}

/** Sends the request; resolves when it is sent, or the connection is refused. */
const opened = (server: Server, path: string, header = ""): Promise<Opened> =>
  new Promise((resolve) => {
    const { host, hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    let head = ""
    let isSent = false
    const status = () => (isSent ? Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0) : REFUSED)
    const said = { socket, status }
    socket.on("error", () => resolve(said))
    socket.on("data", (chunk) => {
      if (head.length < 20) head += chunk.toString("latin1").slice(0, 20)
    })
    socket.on("connect", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n`, () => {
        isSent = true
        resolve(said)
      })
    })
  })

const ROUNDS = 5

interface Storm {
  readonly connections: number
  readonly rounds: number
  /** How long they stay. */
  readonly stayMillis: number
  /** In which a new stream and a GET are answered afterwards. */
  readonly withinMs: number
}

/** Returns how many of each status were answered. */
const storm = async (server: Server, { connections, rounds, stayMillis }: Storm): Promise<Map<number, number>> => {
  const statuses = new Map<number, number>()
  const end = await figure(server.client, "reverie_envelopes_settled_total")
  for (let round = 0; round < rounds; round++) {
    const all = await Promise.all(
      Array.from({ length: connections }, (_, index) =>
        index % 2 === 0
          ? opened(server, "/v1/events?after=0")
          : opened(server, "/v1/events", `Last-Event-ID: ${index % Math.max(1, end)}\r\n`)
      )
    )
    await pause(stayMillis)
    for (const [index, { socket, status }] of all.entries()) {
      statuses.set(status(), (statuses.get(status()) ?? 0) + 1)
      if (index % 3 === 0) socket.resetAndDestroy()
      else socket.destroy()
    }
  }
  return statuses
}

const WITHIN_MILLIS = 500
const AT_REST_WITHIN_SECONDS = 3
/** Of a second: what timers and a poll cost. */
const REST_SHARE = 0.1

/** The share of a CPU that the process uses in the calmest of three seconds: once it may collect its heap. */
const calmest = async (server: Server): Promise<number> => {
  let least = Infinity
  for (let second = 0; second < 3 && least > REST_SHARE; second++) {
    const before = cpuSeconds(server.pid)
    await pause(1_000)
    least = Math.min(least, cpuSeconds(server.pid) - before)
  }
  return least
}

const afterwards = async (server: Server, withinMs: number): Promise<ReadonlyArray<Check>> => {
  const [stream, got] = await Promise.all([
    millisUntil(server, "/v1/events", ": here"),
    millisUntil(server, "/v1/assistants/ann", "HTTP/1.1 200")
  ])
  await pause(AT_REST_WITHIN_SECONDS * 1_000)
  const share = await calmest(server)
  const streams = await figure(server.client, "reverie_http_streams")
  return [
    {
      says: `a new stream has its first byte within ${withinMs} ms`,
      ok: stream <= withinMs,
      seen: `${stream} ms`
    },
    { says: `a GET is answered within ${withinMs} ms`, ok: got <= withinMs, seen: `${got} ms` },
    {
      says: `the process rests ${AT_REST_WITHIN_SECONDS} s later`,
      ok: share <= REST_SHARE,
      seen: `${Math.round(share * 100)} % of a CPU`
    },
    { says: "no stream is left", ok: streams === 0, seen: `${streams}` }
  ]
}

const stormAttack = (name: string, of: Storm, messages: number, isShort: boolean): Attack => ({
  name,
  item: 7,
  says: `${of.rounds} rounds of ${of.connections} event streams, each cut before the next`,
  isShort,
  isTimed: true,
  run: async (scene) => {
    const server = await scene.serve()
    const posted = await filled(server, { messages, ids: IDS })
    const before = cpuSeconds(server.pid)
    const statuses = await storm(server, of)
    const checks = await afterwards(server, of.withinMs)
    const cpu = Math.round((cpuSeconds(server.pid) - before) * 10) / 10
    const judged = await judge(server.client, posted)
    await server.stop()
    const seen = `${[...statuses].map(([status, count]) => `${status}: ${count}`).join(", ")}; ${cpu} CPU s in all`
    const tried = statuses.values().reduce((sum, count) => sum + count, 0)
    // Of clients that are gone before they are taken, the best that can be is that none is answered.
    const isTold = of.stayMillis === 0 || (statuses.get(200) ?? 0) > 0
    const says = "all connections asked, and streams were told to those that stayed"
    const told = { says, ok: isTold && tried === of.connections * of.rounds && !statuses.has(REFUSED), seen }
    return { ...judged, checks: [told, ...checks] }
  }
})

const SLOW_READERS = 200
const SLOW_MEGABYTES = 200
/** While megabytes are sent to each of them. */
const MEANWHILE_MILLIS = 1_000
const COLLECTED_MILLIS = 15_000

const paused = async (server: Server, count: number): Promise<ReadonlyArray<Socket>> => {
  const streams = Array.from({ length: count }, async (_, index) => {
    const about = index % 4 === 0 ? "" : "&assistant=ann"
    const { socket } = await opened(server, `/v1/events?after=0${about}`)
    socket.removeAllListeners("data")
    return socket.pause()
  })
  return Promise.all(streams)
}

/** Resident memory when it grows no more. */
const grownResident = async ({ pid }: Server): Promise<number> => {
  let seen = residentMegabytes(pid)
  for (let tries = 0; tries < 20; tries++) {
    await pause(1_000)
    const now = residentMegabytes(pid)
    if (now <= seen + 1) return Math.max(now, seen)
    seen = now
  }
  return seen
}

const slowReaders = (name: string, messages: number, isShort: boolean): Attack => ({
  name,
  item: 7,
  says: `${SLOW_READERS} streams from the beginning whose clients never read, while messages go on`,
  isShort,
  isTimed: true,
  run: async (scene: Scene) => {
    const server = await scene.serve()
    // More than a socket takes for a client that does not read.
    const posted = [...(await filled(server, { messages, ids: ["ann"], padding: "-".repeat(240) }))]
    // The garbage of filling would hide what the streams cost.
    await pause(COLLECTED_MILLIS)
    const before = residentMegabytes(server.pid)
    const sockets = await paused(server, SLOW_READERS)
    let slowest = 0
    let told = 0
    for (let round = 0; round < 10; round++) {
      const id = `while-${round}`
      const stream = listening(server, "/v1/events")
      told = Math.max(told, await stream.until(": here"))
      const begun = performance.now()
      const posting = server.client.post({ assistant: "bob", id }, "hello")
      const messageFilter = stream.until(`"${id}"`)
      if (await posting) posted.push({ assistant: "bob", id })
      slowest = Math.max(slowest, Math.round(performance.now() - begun))
      told = Math.max(told, await messageFilter)
      stream.leave()
    }
    const got = await millisUntil(server, "/v1/assistants/ann", "HTTP/1.1 200")
    const grown = (await grownResident(server)) - before
    const streams = await figure(server.client, "reverie_http_streams")
    for (const socket of sockets) socket.destroy()
    const checks = await afterwards(server, WITHIN_MILLIS)
    const judged = await judge(server.client, posted)
    await server.stop()
    return {
      ...judged,
      checks: [
        { says: "the streams were open all the time", ok: streams >= SLOW_READERS, seen: `${streams}` },
        { says: `memory grows by less than ${SLOW_MEGABYTES} MB`, ok: grown < SLOW_MEGABYTES, seen: `${grown} MB` },
        {
          says: `messages, other streams and a GET take at most ${MEANWHILE_MILLIS} ms meanwhile`,
          ok: Math.max(slowest, told, got) <= MEANWHILE_MILLIS,
          seen: `${slowest}, ${told}, ${got} ms`
        },
        ...checks
      ]
    }
  }
})

export const storms: ReadonlyArray<Attack> = [
  stormAttack("storm", { connections: 1_000, rounds: ROUNDS, stayMillis: 300, withinMs: WITHIN_MILLIS }, 1_000, false),
  // Four thousand of them wait to be taken when the last are cut, and a new client stands behind them.
  stormAttack(
    "storm-of-the-hasty",
    { connections: 1_000, rounds: ROUNDS, stayMillis: 0, withinMs: 2_000 },
    1_000,
    false
  ),
  stormAttack("small-storm", { connections: 200, rounds: 2, stayMillis: 100, withinMs: WITHIN_MILLIS }, 100, true),
  slowReaders("slow-readers", 2_500, false)
]
