// Scene: where one attack takes place: a temporary directory, a model server, real servers, and what they said.
// Owns starting and ending all of it. What a client asks is in client.ts, what the servers run in fleets/.
// S1  When the scene closes, no process and no directory of it is left.
// S2  A server is started as a user starts it: the command line, a fleet file, the environment.

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ModelServer, startModelServer } from "@reverie/testkit/model-server"
import { Client } from "./client.ts"
import { spokenScript } from "./spoken.ts"

const CLI = join(import.meta.dirname, "../../apps/cli/src/main.ts")
const START_MILLIS = 60_000

export interface ServerOptions {
  /** A file of fleets/. */
  readonly fleet?: string
  /** Data directory; `data` of the scene when not said. Null: none is said, the environment names the servers. */
  readonly data?: string | null
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** With the model server of the scene unless false: then the built-in one answers. */
  readonly withModel?: boolean
}

export interface Server {
  readonly pid: number
  readonly url: string
  readonly client: Client
  /** What it has said so far, both streams. */
  readonly said: () => string
  /** The exit code, or 128 and the number of the signal. */
  readonly ended: Promise<number>
  readonly hasEnded: () => boolean
  readonly signal: (signal: NodeJS.Signals) => void
  /** SIGKILL, and the end awaited. */
  readonly kill: () => Promise<void>
  /** SIGTERM, and the end awaited. */
  readonly stop: () => Promise<number>
}

const SIGNALS: Readonly<Record<string, number>> = { SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15, SIGBUS: 7 }

const exited = async (child: ChildProcess): Promise<number> => {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + (SIGNALS[signal ?? ""] ?? 0)
}

/** Runs the command line to its end, as a person does. */
export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export class Scene {
  readonly directory: string
  /** The data directory of servers that name no other. */
  readonly data: string
  readonly model: ModelServer
  readonly #children = new Set<ChildProcess>()
  readonly #plant: string | undefined

  private constructor(directory: string, model: ModelServer, plant: string | undefined) {
    this.directory = directory
    this.data = join(directory, "data")
    this.model = model
    this.#plant = plant
  }

  /** `plant`: a module of a planted fault, loaded by every server of the scene. */
  static async open(plant?: string): Promise<Scene> {
    const directory = await mkdtemp(join(tmpdir(), "reverie-attack-"))
    return new Scene(directory, await startModelServer({ script: spokenScript, record: false }), plant)
  }

  /** The environment of everything that is started: nothing of the caller's names a server or a key. */
  environment(options: Pick<ServerOptions, "env" | "withModel"> = {}): Record<string, string> {
    const { env = {}, withModel = true } = options
    const kept = Object.entries(process.env).filter(([name]) => !/^(REVERIE|OPENAI|DATABASE|REDIS|QDRANT)_/.test(name))
    const planted = this.#plant === undefined ? {} : { NODE_OPTIONS: `--import=${this.#plant}` }
    const model = withModel
      ? { OPENAI_BASE_URL: this.model.url, OPENAI_API_KEY: "sk-attack", OPENAI_MODEL: "spoken" }
      : {}
    return {
      ...(Object.fromEntries(kept) as Record<string, string>),
      NO_COLOR: "1",
      REVERIE_ATTACK_DIRECTORY: this.directory,
      ...model,
      ...planted,
      ...env
    }
  }

  /** Starts `reverie serve` and waits for its address; rejects with what it said when it ends before. */
  async serve(options: ServerOptions = {}): Promise<Server> {
    const { args = [], data = this.data, fleet = "harbour.ts" } = options
    const child = this.spawn(
      [
        "serve",
        "--fleet",
        join(import.meta.dirname, "fleets", fleet),
        "--port",
        "0",
        "--no-page",
        ...(data === null ? [] : ["--data", data]),
        ...args
      ],
      options
    )
    let said = ""
    const listening = Promise.withResolvers<string>()
    const hear = (chunk: Buffer): void => {
      said += chunk.toString()
      const url = /(https?:\/\/[^\s(]+) \(/.exec(said)?.[1]
      if (url !== undefined) listening.resolve(url)
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", hear)
    let hasEnded = false
    const ended = exited(child).then((code) => {
      hasEnded = true
      listening.reject(new Error(`the server ended with code ${code}: ${said.trim()}`))
      return code
    })
    const timer = setTimeout(
      () => listening.reject(new Error(`no address after ${START_MILLIS} ms: ${said}`)),
      START_MILLIS
    )
    const url = await listening.promise.finally(() => clearTimeout(timer))
    return {
      pid: child.pid ?? 0,
      url,
      client: new Client(url),
      said: () => said,
      ended,
      hasEnded: () => hasEnded,
      signal: (signal) => void child.kill(signal),
      kill: async () => {
        child.kill("SIGKILL")
        await ended
      },
      stop: () => {
        child.kill("SIGTERM")
        return ended
      }
    }
  }

  /** Any command of the command line. */
  async cli(args: ReadonlyArray<string>, options: Pick<ServerOptions, "env" | "withModel"> = {}): Promise<CliResult> {
    const child = this.spawn(args, options)
    let [stdout, stderr] = ["", ""]
    child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    const code = await exited(child)
    return { code, stdout, stderr }
  }

  spawn(args: ReadonlyArray<string>, options: Pick<ServerOptions, "env" | "withModel"> = {}): ChildProcess {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", CLI, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: this.environment(options)
    })
    this.#children.add(child)
    child.once("close", () => this.#children.delete(child))
    return child
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL")
    await Promise.all([...this.#children].map((child) => once(child, "close")))
    await this.model.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}
