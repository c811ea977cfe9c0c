// Rig: a real server on a free port before a real fleet, and requests as a program or a browser sends them.
// Owns opening and closing both, and requests whose every byte is said. Leaves what is asserted to the test.

import { mkdtempSync, rmSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inTurn, type Line, type Script, scriptedModel } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import {
  type AssistantOptions,
  defineAssistant,
  defineFleet,
  Fleet,
  type FleetRole,
  type ModelChoice,
  type Tool
} from "reverie"
import { assert } from "vitest"
import { openServer, type RunningServer, type ServerOptions, type Token } from "../../src/index.ts"

/** A path at which nothing exists yet. */
export const aPath = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-server-"))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "data")
}

export const SECRETS = { north: "north-secret-0123456789", south: "south-secret-0123456789" } as const

export const tokens: ReadonlyArray<Token> = [
  { name: "northerner", tenant: "north", secret: SECRETS.north, readOnly: false },
  { name: "southerner", tenant: "south", secret: SECRETS.south, readOnly: false },
  { name: "onlooker", tenant: "north", secret: "onlooker-secret-0123456789", readOnly: true }
]

export interface Request extends Partial<Omit<ServerOptions, "fleet">> {
  readonly says?: Script | ReadonlyArray<Line>
  readonly tools?: ReadonlyArray<Tool>
  readonly assistant?: Partial<AssistantOptions>
  readonly fleetRole?: FleetRole
  /** In the place of `says`. */
  readonly model?: ModelChoice
}

export const aFleet = ({ assistant, fleetRole, model, says, tools = [] }: Request = {}): Promise<Fleet> => {
  const script = typeof says === "function" || says === undefined ? says : inTurn(says[0] ?? {}, ...says.slice(1))
  return Fleet.open({
    data: ":memory:",
    model: model ?? (script === undefined ? "offline" : scriptedModel(script).model),
    ...(fleetRole === undefined ? {} : { role: fleetRole }),
    fleet: defineFleet({
      assistants: ["desk", "clerk"].map((id) =>
        defineAssistant({ id, instructions: "You are under test.", tools, ...assistant })
      )
    })
  })
}

/** JSON of an answer, whose fields an assertion names and judges. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** Of JSON; undefined otherwise. */
  readonly json: Loose
}

export interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends exactly this path and these headers. */
export const askAt = (port: number, path: string, { body, headers = {}, method = "GET" }: Asking = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
    const asked = httpRequest(
      { host: "127.0.0.1", port, path, method, headers: { ...length, ...headers }, agent: false },
      (answer) => {
        const chunks: Array<Buffer> = []
        answer.on("data", (chunk: Buffer) => chunks.push(chunk))
        answer.once("error", reject)
        answer.once("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json: parsed(text) })
        })
      }
    )
    asked.once("error", reject)
    asked.end(body)
  })

export interface Rig {
  readonly fleet: Fleet
  readonly server: RunningServer
  readonly trouble: ReadonlyArray<string>
  readonly ask: (path: string, asking?: Asking) => Promise<Answer>
  /** A POST of JSON. */
  readonly post: (path: string, value: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>
}

export const openRig = async (asked: Request = {}): Promise<Rig> => {
  const { assistant: _a, fleetRole: _f, model: _m, says: _s, tools: _t, ...options } = asked
  const fleet = await aFleet(asked)
  const trouble: Array<string> = []
  const server = await openServer({
    fleet,
    role: "all",
    tokens: [],
    onTrouble: (line) => trouble.push(line),
    ...options
  })
  later(async () => {
    await server.close()
    await fleet.close()
  })
  const ask = (path: string, asking: Asking = {}) => askAt(server.port, path, asking)
  const post = (path: string, value: unknown, headers: Readonly<Record<string, string>> = {}) =>
    ask(path, {
      method: "POST",
      body: JSON.stringify(value),
      headers: { "content-type": "application/json", ...headers }
    })
  return { fleet, server, trouble, ask, post }
}

export const bearer = (secret: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${secret}` })

/** A failure as the contract says it: E1, E2. */
export const assertFailure = (answer: Answer, status: number, tag: string): void => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.headers["content-type"], "application/json")
  assert.strictEqual(answer.json._tag, tag, answer.text)
  assert.isString(answer.json.message)
  assert.notMatch(answer.text, /\bat .+:\d+:\d+|node_modules|\/src\//, "a stack or a path")
  assert.isEmpty(
    Object.keys(answer.json).filter((key) => !["_tag", "message", "hint", "issues", "retryAfterSeconds"].includes(key))
  )
}

const securing = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin"
} as const

export const assertSecured = ({ headers }: Answer): void => {
  for (const [name, value] of Object.entries(securing)) assert.strictEqual(headers[name], value, name)
  assert.match(String(headers["content-security-policy"]), /default-src 'none'/)
  assert.notProperty(headers, "access-control-allow-origin")
}
