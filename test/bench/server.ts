// Server: what accepting a message by HTTP costs, beside a bare server of node.
// Owns the comparison. Leaves both servers to processes of server-child.ts, the requests to server-client.ts.
// V1  Both are asked in turn by the same client within one run; a figure is the median over all rounds.
// V2  Ours is asked with a hundred event streams open, and every accepted message is counted in the store afterwards.
// V3  Beside time on the clock stands CPU time of the server, which other work on the machine changes less.

import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"
import { median } from "./fleet.ts"
import type { ServerSays, ServerTask } from "./server-child.ts"
import { listen, load, type LoadFigures } from "./server-client.ts"

interface Round extends LoadFigures {
  readonly cpuMicrosPerRequest: number
}

export interface ServerReport {
  readonly ok: boolean
  readonly requests: number
  readonly connections: number
  readonly streams: number
  readonly bare: Round
  /** No worker in the process: what comes in waits. */
  readonly accepting: Round
  /** The same process lives the messages, and tells the streams of it. */
  readonly living: Round & { readonly bytesHeard: number }
  readonly ratio: number
  readonly cpuRatio: number
  readonly targets: Readonly<Record<string, boolean>>
}

const STREAMS = 100
/** Enough that those who wait for one fsync are many, as with a busy server. */
const CONNECTIONS = 256
const ASSISTANTS = 100
const MIN_RATIO = 0.3
const TEXT = "Please look after the boat at berth seven until the evening, and tell me when the tide turns."

const tell = (words: string): void => void process.stderr.write(`bench: ${words}\n`)

class Server {
  readonly #child: ChildProcess

  constructor(task: ServerTask) {
    this.#child = fork(join(import.meta.dirname, "server-child.ts"), [JSON.stringify(task)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: ["--disable-warning=ExperimentalWarning"]
    })
  }

  #said(): Promise<ServerSays> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null, signal: string | null): void =>
        reject(new Error(`a server ended with ${code ?? signal}`))
      this.#child.once("exit", ended)
      this.#child.once("message", (says: ServerSays) => {
        this.#child.off("exit", ended)
        resolve(says)
      })
    })
  }

  async port(): Promise<number> {
    const says = await this.#said()
    return "listens" in says ? says.listens : 0
  }

  async look(): Promise<{ readonly cpuMicros: number; readonly accepted: number }> {
    const said = this.#said()
    this.#child.send("look")
    const says = await said
    if ("listens" in says) throw new Error("a server began twice")
    return says
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.removeAllListeners("exit")
      this.#child.once("exit", () => resolve())
      this.#child.send("end")
    })
  }
}

const pathOf = (index: number): string => `/v1/assistants/assistant-${index % ASSISTANTS}/messages`

interface Opened {
  readonly server: Server
  readonly port: number
}

let sent = 0

const roundOf = async ({ port, server }: Opened, requests: number): Promise<Round> => {
  const first = sent
  sent += requests
  const before = await server.look()
  const bodyOf = (index: number) => JSON.stringify({ text: TEXT, id: `message-${first + index}`, from: "bench" })
  const figures = await load({ port, connections: CONNECTIONS, requests, pathOf, bodyOf })
  const after = await server.look()
  return { ...figures, cpuMicrosPerRequest: (after.cpuMicros - before.cpuMicros) / requests }
}

const middle = (rounds: ReadonlyArray<Round>): Round => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50Millis: median(rounds.map(({ p50Millis }) => p50Millis)),
  p99Millis: median(rounds.map(({ p99Millis }) => p99Millis)),
  cpuMicrosPerRequest: median(rounds.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest))
})

const open = async (task: ServerTask): Promise<Opened> => {
  const server = new Server(task)
  return { server, port: await server.port() }
}

export const benchServer = async (isShort: boolean): Promise<ServerReport> => {
  const rounds = isShort ? 3 : 7
  const requests = isShort ? 2_000 : 10_000
  const bare = await open({ kind: "bare", assistants: 0, role: "api" })
  const ours = await open({ kind: "reverie", assistants: ASSISTANTS, role: "api" })
  const listeners = await listen(ours.port, STREAMS)
  const ofBare: Array<Round> = []
  const ofOurs: Array<Round> = []
  // What is compiled while it warms up is not what is compared.
  for (const each of [bare, ours]) await roundOf(each, requests)
  const before = (await ours.server.look()).accepted
  for (let round = 0; round < rounds; round++) {
    ofBare.push(await roundOf(bare, requests))
    ofOurs.push(await roundOf(ours, requests))
    tell(
      `round ${round + 1}: ${Math.round(ofBare.at(-1)?.perSecond ?? 0)} bare, ${Math.round(ofOurs.at(-1)?.perSecond ?? 0)} ours a second`
    )
  }
  const accepted = (await ours.server.look()).accepted - before
  listeners.close()
  await Promise.all([bare.server.end(), ours.server.end()])
  const living = await open({ kind: "reverie", assistants: ASSISTANTS, role: "all" })
  const messageFilter = await listen(living.port, STREAMS)
  const lived = await roundOf(living, Math.min(requests, 2_000))
  const bytesHeard = messageFilter.heard()
  messageFilter.close()
  await living.server.end()
  const [one, other] = [middle(ofBare), middle(ofOurs)]
  const ratio = other.perSecond / one.perSecond
  const targets = {
    [`accepts at least ${MIN_RATIO} of what a bare server answers`]: ratio >= MIN_RATIO,
    "every accepted message is in the store": accepted === rounds * requests
  }
  return {
    ok: Object.values(targets).every(Boolean),
    requests,
    connections: CONNECTIONS,
    streams: STREAMS,
    bare: one,
    accepting: other,
    living: { ...lived, bytesHeard },
    ratio,
    cpuRatio: one.cpuMicrosPerRequest / other.cpuMicrosPerRequest,
    targets
  }
}
