// CommandLine: the program as a user has it, a process of its own.
// Owns starting it, what it said, and temporary directories. Leaves what it should have said to the tests.
// W1  In a short check a command that is waited for runs in a process that is kept warm, for loading the program takes
//     longer than most commands; in a long check each has a process of its own. What is begun always has, and what is
//     given an environment, which a program reads once.

import { type ChildProcess, fork, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { isLong } from "@reverie/testkit/length"
import type { Call } from "./warm.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const cache = fileURLToPath(new URL("../../../node_modules/.cache/node", import.meta.url))

export const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

export interface Said {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** Resolves when stderr or stdout has said this. */
  readonly saying: (text: string) => Promise<void>
  readonly ended: Promise<Said>
  /** What stderr has said so far. */
  readonly said: () => string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Standard input: a text, left open (true), or closed. */
  readonly input?: string | true
  /** Where it runs; where the test runs when not said. */
  readonly cwd?: string
}

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(OPENAI_|REVERIE_|DATABASE_|REDIS_|QDRANT_|NO_COLOR|FORCE_COLOR|XDG_CONFIG|VITEST|NODE_(?!OPTIONS))|_API_KEY$/.test(
        name
      )
  )
)

/** Starts the program and does not wait for it. */
export const begin = (args: ReadonlyArray<string>, { cwd, env = {}, input }: RunOptions = {}): Running => {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: { ...inherited, NODE_COMPILE_CACHE: cache, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"]
  })
  let stdout = ""
  let stderr = ""
  const listeners = new Set<() => void>()
  const heard = () => {
    for (const listener of listeners) listener()
  }
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    heard()
  })
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
    heard()
  })
  if (input !== undefined && input !== true) child.stdin?.end(input)
  const ended = new Promise<Said>((resolve) => {
    child.on("close", (code) => {
      resolve({ code, stdout, stderr })
      heard()
    })
  })
  const saying = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const listen = () => {
        if (stdout.includes(text) || stderr.includes(text)) resolve()
        else if (child.exitCode !== null) reject(new Error(`it ended without "${text}":\n${stdout}\n${stderr}`))
      }
      listeners.add(listen)
      listen()
    })
  return { child, saying, ended, said: () => stderr }
}

/** As `begin`, and waits for its end. */
const runAlone = (args: ReadonlyArray<string>, options?: RunOptions): Promise<Said> => begin(args, options).ended

let warm: ChildProcess | undefined
let isBusy = false

const warmOne = (): ChildProcess => {
  if (warm?.connected === true) return warm
  warm = fork(fileURLToPath(new URL("warm.ts", import.meta.url)), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: { ...inherited, NODE_COMPILE_CACHE: cache },
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  // It ends with the worker that keeps it, and does not keep that.
  warm.unref()
  warm.channel?.unref()
  return warm
}

const runWarm = async (asked: Call): Promise<Said> => {
  isBusy = true
  const child = warmOne()
  try {
    return await new Promise<Said>((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`${asked.args.join(" ")} ended its process: ${code}`))
      child.once("exit", onExit)
      child.once("message", (said: Said) => {
        child.off("exit", onExit)
        resolve(said)
      })
      child.send(asked)
    })
  } finally {
    isBusy = false
  }
}

/** Runs it to its end: with a warm process where it is enough (W1). */
export const run = (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Said> => {
  const { cwd, env, input } = options
  if (isLong || isBusy || input === true || env !== undefined) return runAlone(args, options)
  return runWarm({
    args,
    ...(cwd === undefined ? {} : { cwd }),
    ...(input === undefined ? {} : { input })
  })
}

type Fields = { readonly [key: string]: unknown }

/** Asserts that stdout is one JSON object and answers it. */
export const jsonOf = ({ stderr, stdout }: Said): Fields => {
  assert.match(stdout, /^\{.*\}\n$/, `stdout is not one JSON object; stderr:\n${stderr}`)
  return JSON.parse(stdout) as Fields
}

/** Asserts a failure as scripts read it, the same on every channel, without a stack. */
export const assertFailure = (said: Said, exit: number, code: string, words: string): void => {
  const { error, ok } = jsonOf(said) as { readonly ok: boolean; readonly error: Fields }
  assert.strictEqual(ok, false)
  assert.deepStrictEqual(Object.keys(error), ["code", "message", "hint", "retryable", "exit"])
  assert.strictEqual(error["code"], code, said.stderr)
  assert.strictEqual(error["exit"], exit)
  assert.strictEqual(said.code, exit)
  assert.include(String(error["message"]), words)
  assert.notInclude(String(error["message"]), "\n")
  assert.notMatch(said.stderr, /^\s+at /m)
  const last = said.stderr.trimEnd().split("\n").at(-1) ?? ""
  assert.match(last, /^reverie: /, "the last line of stderr says what is wrong")
}

/** A directory that is gone after the test. */
export const temporary = async (): Promise<{ readonly path: string } & AsyncDisposable> => {
  const path = await mkdtemp(join(tmpdir(), "reverie-cli-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
