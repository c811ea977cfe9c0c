// Scene: an empty place beside the repository, where a stranger installs the tarball with the ordinary npm client.
// Owns its folders, the Nodes in it, and running commands there. Leaves what is tried to rows.ts.
// C1  Nothing of the repository is on the paths of what runs there: no environment of npm, no key of a model.
// C2  Every command is written down with its exit code: a row that ran none has examined nothing.
// C3  What was started is ended with its whole group.

import { type ChildProcess, spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"

export interface Ran {
  readonly command: string
  readonly code: number
  readonly seconds: number
}

export interface Said extends Ran {
  readonly stdout: string
  readonly stderr: string
  /** Both. */
  readonly text: string
}

export interface RunOptions {
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
  readonly seconds?: number
  /** The program is ended as soon as it has said this. */
  readonly until?: RegExp
  /** How it is ended then, as a terminal ends all of its group; without it at once, and that counts as success. */
  readonly endBy?: NodeJS.Signals
  /** What is done while the program runs; then it is ended. */
  readonly meanwhile?: () => Promise<unknown>
}

const isWindows = process.platform === "win32"
const kept = /^(npm_config_(registry|cache|userconfig|offline)|NODE_EXTRA_CA_CERTS|.*_proxy|NO_PROXY)$/i
const left = /^(npm_|NODE_|VITEST|OPENAI_|DATABASE_|REDIS_|QDRANT_|REVERIE_|INIT_CWD|CI$|FORCE_COLOR)/i

const strangersEnvironment = (node: string): Record<string, string> => {
  const own = Object.entries(process.env).filter(([name]) => kept.test(name) || !left.test(name)) as Array<
    [string, string]
  >
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.includes("node_modules"))
  return { ...Object.fromEntries(own), NO_COLOR: "1", PATH: [dirname(node), ...path].join(delimiter) }
}

export class Scene {
  readonly folder: string
  readonly tarball: string
  readonly isShort: boolean
  readonly #ran: Array<Ran> = []
  readonly #children = new Set<ChildProcess>()
  readonly #nodes: string

  /** The Node of everything that asks for no other. */
  readonly #own: string

  constructor(tarball: string, isShort: boolean, nodes: string, own: string = process.execPath) {
    this.folder = mkdtempSync(join(tmpdir(), "reverie-outside-"))
    this.tarball = tarball
    this.isShort = isShort
    this.#nodes = nodes
    this.#own = own
  }

  get ran(): ReadonlyArray<Ran> {
    return this.#ran
  }

  /** A folder with these files in it, and a package.json of a program. */
  program(name: string, files: Readonly<Record<string, string>> = {}): string {
    const folder = join(this.folder, name)
    const all = { "package.json": `{ "name": "${name}", "private": true, "type": "module" }\n`, ...files }
    for (const [file, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    return folder
  }

  /** The same with the package installed, and what else is named. */
  async installed(
    name: string,
    files: Readonly<Record<string, string>> = {},
    others: ReadonlyArray<string> = []
  ): Promise<string> {
    const folder = this.program(name, files)
    if (this.isShort && others.length === 0) await this.#copied(folder)
    else await this.#install(folder, others)
    return folder
  }

  async #install(folder: string, others: ReadonlyArray<string> = []): Promise<void> {
    const offline = others.length === 0 ? ["--offline"] : []
    await this.must(folder, "npm", ["install", "--no-audit", "--no-fund", ...offline, this.tarball, ...others])
  }

  /** What npm makes of one tarball is the same each time: the first scene of a short run installs it, the others have a copy. */
  async #copied(folder: string): Promise<void> {
    const made = join(this.#nodes, "installed", this.tarball.replaceAll(/\W/g, "_"))
    if (existsSync(made)) {
      cpSync(made, join(folder, "node_modules"), { recursive: true, verbatimSymlinks: true })
      return
    }
    await this.#install(folder)
    cpSync(join(folder, "node_modules"), made, { recursive: true, verbatimSymlinks: true })
  }

  /** A Node of this version: the running one, or the one that npm has for this platform. */
  async node(version: string): Promise<string> {
    if (this.isShort) return this.#own
    return this.installedNode(version)
  }

  async installedNode(version: string): Promise<string> {
    if (process.versions.node.startsWith(`${version}.`)) return process.execPath
    const name = `node-${isWindows ? "win" : process.platform}-${process.arch}`
    const folder = join(this.#nodes, version)
    const node = join(folder, "node_modules", name, "bin", isWindows ? "node.exe" : "node")
    if (!existsSync(node)) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "package.json"), "{}")
      await this.must(folder, "npm", ["install", "--no-audit", "--no-fund", `${name}@${version}`])
    }
    return node
  }

  /** Runs a program: of the folder's own, of the system, or a file of JavaScript. */
  run(cwd: string, program: string, args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Said> {
    const { endBy, env, meanwhile, node = this.#own, seconds = 120, until } = options
    const begun = performance.now()
    const child = spawn(program === "node" ? node : program, [...args], {
      cwd,
      env: { ...strangersEnvironment(node), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: !isWindows,
      shell: isWindows && program !== "node"
    })
    this.#children.add(child)
    let stdout = ""
    let stderr = ""
    return new Promise((resolve) => {
      let isWanted = false
      let isHeard = false
      const timer = setTimeout(() => this.#end(child), seconds * 1_000)
      const finish = () => {
        isWanted = endBy === undefined
        this.#end(child, endBy)
      }
      if (meanwhile !== undefined) void meanwhile().then(finish, finish)
      const hear = () => {
        if (!isHeard && until?.test(stdout + stderr) === true) {
          isHeard = true
          finish()
        }
      }
      child.stdout.setEncoding("utf8").on("data", (text: string) => ((stdout += text), hear()))
      child.stderr.setEncoding("utf8").on("data", (text: string) => ((stderr += text), hear()))
      const done = (code: number) => {
        clearTimeout(timer)
        this.#children.delete(child)
        const where = node === process.execPath ? "" : `${node.split(/[\\/]/).at(-5) ?? ""}: `
        const command = where + [program, ...args].join(" ").replaceAll(this.folder, ".").replaceAll(/\s+/g, " ")
        const ran = { command, code, seconds: Math.round((performance.now() - begun) / 100) / 10 }
        this.#ran.push(ran)
        resolve({ ...ran, stdout, stderr, text: stdout + stderr })
      }
      child.on("error", (error) => ((stderr += error.message), done(127)))
      child.on("close", (code, signal) =>
        done(isWanted ? 0 : (code ?? (signal === null ? 1 : 128 + constants.signals[signal])))
      )
    })
  }

  /** Runs a program that has to succeed. */
  async must(cwd: string, program: string, args: ReadonlyArray<string>, options?: RunOptions): Promise<Said> {
    const said = await this.run(cwd, program, args, options)
    if (said.code !== 0)
      throw new Error(`\`${said.command}\` ended with ${said.code}: ${said.text.trim().slice(-1_500)}`)
    return said
  }

  #end(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
    try {
      if (isWindows || child.pid === undefined) child.kill()
      else process.kill(-child.pid, signal)
    } catch {
      // It has ended.
    }
  }

  close(): void {
    for (const child of this.#children) this.#end(child)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** What was looked at, in words, and whether it was as it has to be. */
export type Finding = readonly [says: string, holds: boolean, found?: string]

export interface Row {
  readonly name: string
  readonly says: string
  /** Part of the short version: it needs no network and no other Node. */
  readonly isShort?: boolean
  readonly run: (scene: Scene, figure: (name: string, value: number) => void) => Promise<ReadonlyArray<Finding>>
}
