// One server of the benchmark of servers: ours before an embedded store, or a bare one of node for comparison.
// S1  The bare one reads and parses the same JSON body and answers 202 with as many bytes; it keeps nothing.
// S2  Each tells its own CPU time when it is asked.

import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, Fleet, type FleetRole } from "reverie"

export interface ServerTask {
  readonly kind: "bare" | "reverie"
  readonly assistants: number
  /** With "all" the assistants answer while messages come in. */
  readonly role: FleetRole
}

export type ServerSays =
  | { readonly listens: number }
  | { readonly cpuMicros: number; readonly openStreams: number; readonly accepted: number }

const task = JSON.parse(process.argv[2] ?? "{}") as ServerTask

const say = (what: ServerSays): void => void process.send?.(what)

const answerBare = (request: IncomingMessage, response: ServerResponse): void => {
  let text = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => (text += chunk))
  request.on("end", () => {
    const { id } = JSON.parse(text) as { readonly id: string }
    const body = JSON.stringify({ outcome: "accepted", envelope: id })
    response.writeHead(202, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    response.end(body)
  })
}

const openBare = async () => {
  const server = createServer(answerBare)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    accepted: async () => 0,
    close: async () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const openOurs = async () => {
  const data = mkdtempSync(join(tmpdir(), "reverie-bench-server-"))
  const names = Array.from({ length: task.assistants }, (_, index) => `assistant-${index}`)
  const fleet = await Fleet.open({
    fleet: defineFleet({ assistants: names.map((id) => defineAssistant({ id, instructions: "You help." })) }),
    data,
    model: "offline",
    role: task.role
  })
  const server = await openServer({ fleet, role: task.role, tokens: [] })
  return {
    port: server.port,
    accepted: async () => (await fleet.monitor.totals()).accepted,
    close: async () => {
      await server.close()
      await fleet.close()
      rmSync(data, { recursive: true, force: true })
    }
  }
}

const opened = task.kind === "bare" ? await openBare() : await openOurs()
say({ listens: opened.port })

const told = async (): Promise<void> => {
  const accepted = await opened.accepted()
  const { system, user } = process.cpuUsage()
  say({ cpuMicros: system + user, openStreams: 0, accepted })
}

const ended = async (): Promise<void> => {
  await opened.close()
  process.disconnect()
}

process.on("message", (asked: "look" | "end") => void (asked === "end" ? ended() : told()))
