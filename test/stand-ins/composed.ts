// Composed: a deployment as docker-compose.yml has it, from a copy of the repository.
// Owns the words of Compose, and finding containers. Leaves what is done to them to round.ts.

import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { attempt, must } from "./program.ts"
import { composeOverride } from "./recipes.ts"

const PROJECT = "reverie-stand-ins"
const MINUTES = 60_000

export interface Container {
  readonly service: string
  readonly name: string
  readonly state: string
  readonly health: string
}

/** One JSON object a line, as `docker compose ps --format json` prints them. */
export const containersIn = (printed: string): ReadonlyArray<Container> =>
  printed
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => {
      const { Health, Name, Service, State } = JSON.parse(line) as Readonly<Record<string, string>>
      return { service: Service ?? "", name: Name ?? "", state: State ?? "", health: Health ?? "" }
    })

export class Composed {
  readonly #args: ReadonlyArray<string>
  readonly #env: Readonly<Record<string, string | undefined>>

  private constructor(args: ReadonlyArray<string>, env: Readonly<Record<string, string | undefined>>) {
    this.#args = args
    this.#env = env
  }

  /** `variables`: what a person has in the shell, or in `.env`. */
  static async of(copy: string, work: string, variables: Readonly<Record<string, string>>): Promise<Composed> {
    const override = join(work, "compose-override.yml")
    await writeFile(override, composeOverride)
    // The planted .env stays out of it: its key would send the fleet to a model.
    const nothing = join(work, "nothing.env")
    await writeFile(nothing, "")
    const files = ["--file", join(copy, "docker-compose.yml"), "--file", override, "--env-file", nothing]
    return new Composed(["compose", "--project-name", PROJECT, ...files], { ...process.env, ...variables })
  }

  run(doing: string, ...args: ReadonlyArray<string>): Promise<string> {
    return must(doing, "docker", [...this.#args, ...args], { env: this.#env, millis: 20 * MINUTES })
  }

  /** The one command of the README. */
  async up(): Promise<void> {
    try {
      await this.run("compose up", "up", "--detach", "--build", "--wait")
    } catch (failure) {
      const { stdout } = await attempt("docker", [...this.#args, "logs", "--tail", "15"], { env: this.#env })
      throw new Error(`${failure instanceof Error ? failure.message : String(failure)}\n${stdout}`, { cause: failure })
    }
  }

  async containers(): Promise<ReadonlyArray<Container>> {
    return containersIn(await this.run("list the containers", "ps", "--all", "--format", "json"))
  }

  async nameOf(service: string, which = 0): Promise<string> {
    const found = (await this.containers()).filter((each) => each.service === service)
    const name = found.map((each) => each.name).toSorted()[which]
    if (name === undefined) throw new Error(`${service} has no container number ${which + 1}`)
    return name
  }

  /** SIGKILL from the engine: it does not bring the container back by itself. */
  async kill(name: string): Promise<void> {
    await must(`kill ${name}`, "docker", ["kill", name])
  }

  async start(name: string): Promise<void> {
    await must(`start ${name}`, "docker", ["start", name])
  }

  /** SIGKILL to the first process, as by the machine: the engine brings it back. */
  async killProcess(name: string): Promise<void> {
    const pid = Number(await must(`find ${name}`, "docker", ["inspect", "--format", "{{.State.Pid}}", name]))
    if (pid <= 1) throw new Error(`${name} has no process`)
    process.kill(pid, "SIGKILL")
  }
}
