// Moving: assistants into a file, out of one, and from data store to data store.
// Owns files, places and what is reported of a move. Leaves the moving to the SDK.
// M1  An export appears under its name only when it is whole, and only for its owner to read.
// M2  Progress goes to stderr; the result, one JSON object with --json, to stdout.
// M3  A password in a URL is never printed.
// M4  A file of a data directory is never replaced.

import { defined } from "@reverie/protocol"
import { createReadStream, createWriteStream, existsSync } from "node:fs"
import { readFile, realpath, rename, rm, stat, writeFile as writeText } from "node:fs/promises"
import { once } from "node:events"
import { dirname, join, resolve } from "node:path"
import {
  type AgentsImported,
  type Deployment,
  exportFleet,
  type ExportSource,
  type DataStorePlace,
  importAgentFile,
  importFleet,
  MAX_AGENT_FILE_BYTES,
  moveDataStore,
  placeName,
  reopenDataStore
} from "reverie"
import { CommandFailed, troubleHint } from "../../failure.ts"
import { note, say, sayJson } from "../../output.ts"
import { plain, counted } from "../../texts/plain.ts"

interface PlaceOptions {
  /** Undefined where the environment names a database. */
  readonly data?: string
  readonly json: boolean
}

const deployment = (database: string): Deployment => {
  const [name = "", password = ""] = [process.env["REVERIE_DEPLOYMENT"], process.env["DATABASE_PASSWORD"]]
  if (!/^postgres(?:ql)?:\/\//.test(database) || !URL.canParse(database)) {
    throw new CommandFailed("usage", "the database must be a URL like postgres://user@host/name")
  }
  return {
    database,
    ...defined({ password: password === "" ? undefined : password, name: name === "" ? undefined : name })
  }
}

const placeOf = ({ data }: PlaceOptions): DataStorePlace =>
  data === undefined ? { deployment: deployment(process.env["DATABASE_URL"] ?? "") } : { data }

const PHASES = { packed: "packed", checked: "checked", judged: "judged", written: "moved in" } as const

/** Notes now and then how far a move is. */
const progressOf = (isQuiet: boolean) => {
  const EVERY = 50
  return (phase: keyof typeof PHASES, who: string, done: number): void => {
    if (!isQuiet && (done === 1 || done % EVERY === 0)) note(plain(`${PHASES[phase]} ${done}: ${who}`))
  }
}

export interface ExportCommand extends PlaceOptions {
  readonly out: string
  readonly tenant?: string
  readonly all: boolean
  readonly force: boolean
  readonly quiet: boolean
}

const writeAll = async (lines: AsyncIterable<string>, stream: NodeJS.WritableStream): Promise<number> => {
  let bytes = 0
  for await (const line of lines) {
    bytes += Buffer.byteLength(line)
    if (!stream.write(line)) await once(stream, "drain")
  }
  return bytes
}

/** The name in a data directory may be one of its own, whatever is asked for. */
const assertNoData = async (path: string): Promise<void> => {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined || !existsSync(join(dirname(real), "reverie.db"))) return
  throw new CommandFailed("usage", `${path} is a file of the data directory ${dirname(real)}`, {
    code: "file-exists",
    exit: 5,
    hint: "name a file outside of it"
  })
}

/** Through a file beside it, so that anyone who finds the name finds all of it. */
const writeFile = async (path: string, lines: AsyncIterable<string>): Promise<number> => {
  const partial = `${path}.partial`
  const stream = createWriteStream(partial, { mode: 0o600, flush: true })
  // Also what is still being written when the lines break off fails: heard by no one, that would be told instead of the reason.
  const problems: Array<Error> = []
  stream.on("error", (problem) => problems.push(problem))
  try {
    await once(stream, "open")
    const bytes = await writeAll(lines, stream)
    if (problems.length > 0) throw problems[0]
    const closed = once(stream, "close")
    stream.end()
    await closed
    await rename(partial, path)
    return bytes
  } catch (error) {
    stream.destroy()
    await rm(partial, { force: true })
    const hint = troubleHint(error)
    // What the system says of a write names no file.
    if (hint === undefined || error !== problems[0]) throw error
    throw new CommandFailed("disk-full", `${path} can not be written: no space is left`, { hint })
  }
}

export const exportTo = async (ids: ReadonlyArray<string>, options: ExportCommand): Promise<number> => {
  const { all, force, json, out, quiet, tenant } = options
  if (all === ids.length > 0) throw new CommandFailed("usage", "name assistants, or say --all, one of the two")
  if (json && out === "-") throw new CommandFailed("usage", "--json needs --out FILE: stdout can not hold both")
  const path = resolve(out)
  if (out !== "-" && !force && (await stat(path).catch(() => undefined)) !== undefined) {
    throw new CommandFailed("usage", `${out} is there already`, {
      code: "file-exists",
      exit: 5,
      hint: "--force replaces it"
    })
  }
  if (out !== "-") await assertNoData(path)
  let count = 0
  const onProgress = progressOf(quiet)
  const lines = exportFleet({
    from: placeOf(options),
    ...defined({ ids: all ? undefined : ids, tenant }),
    onProgress: (who, done) => {
      count = done
      onProgress("packed", who, done)
    }
  })
  const bytes = out === "-" ? await writeAll(lines, process.stdout) : await writeFile(path, lines)
  if (json) sayJson({ ok: true, file: path, assistants: count, bytes })
  else note(plain(`${counted(count, "assistant", "assistants")}, ${bytes} bytes${out === "-" ? "" : ` in ${out}`}`))
  return 0
}

export interface ImportCommand extends PlaceOptions {
  readonly rename?: ReadonlyArray<string>
  readonly tenant?: string
  readonly dryRun: boolean
  readonly force: boolean
  readonly quiet: boolean
  readonly fleetOut?: string
}

/** `OLD=NEW`; an id has no `=`. */
const renames = (given: ReadonlyArray<string>): Readonly<Record<string, string>> => {
  const pairs = given.map((pair) => {
    const [before = "", after = "", ...more] = pair.split("=")
    if (before === "" || after === "" || more.length > 0) {
      throw new CommandFailed("usage", `--rename takes OLD=NEW, not ${JSON.stringify(pair)}`)
    }
    return [before, after] as const
  })
  return Object.fromEntries(pairs)
}

const assertFile = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new CommandFailed("no-such-file", `there is no file ${path}`)
  if (found.isDirectory()) throw new CommandFailed("usage", `${path} is a directory`)
}

const wordsOf = (moved: ReadonlyArray<string>, present: ReadonlyArray<string>, isTrial: boolean): string => {
  const isPerson = (name: string) => !name.startsWith("tenant ")
  const came = moved.filter(isPerson)
  const there = present.filter(isPerson)
  const verb = isTrial ? "would move in" : "moved in"
  return `${counted(came.length, "assistant", "assistants")} ${verb}${there.length === 0 ? "" : `, ${there.length} lived there already`}`
}

/** What came with the agents, and what did not. */
const lettaText = ({ agents, left }: AgentsImported): string =>
  [
    ...agents.map(({ blocks, id, messages, name, rules, tools }) => {
      const kept = `${counted(messages, "message", "messages")}, ${counted(blocks, "block", "blocks")}, ${counted(rules, "rule", "rules")}`
      return `${id} (${name}): ${kept}${tools.length === 0 ? "" : `; to be written: ${tools.join(", ")}`}`
    }),
    ...(left.length === 0 ? [] : ["left behind:"]),
    ...left.map(({ agent, what, why }) => `  ${agent === "" ? "" : `${agent}: `}${what} (${why})`)
  ].join("\n")

const importAgents = async (path: string, options: ImportCommand): Promise<number> => {
  const { dryRun: isTrial, fleetOut, force: isForced, json, rename: pairs = [], tenant } = options
  if ((await stat(path)).size > MAX_AGENT_FILE_BYTES) {
    throw new CommandFailed("usage", `${path} is longer than ${MAX_AGENT_FILE_BYTES} bytes`)
  }
  const into = placeOf(options)
  const imported = await importAgentFile({
    into,
    text: await readFile(path, "utf8"),
    rename: renames(pairs),
    ...defined({ tenant }),
    isTrial,
    isForced
  })
  const { agents, fleetFile, left, moved, present } = imported
  if (fleetOut !== undefined && !isTrial) await writeNew(resolve(fleetOut), fleetFile, isForced)
  if (json) {
    const fleet = fleetOut === undefined ? {} : { fleet: resolve(fleetOut) }
    sayJson({ ok: true, isTrial, moved, present, into: placeName(into), agents, left, ...fleet })
  } else say(plain(`${wordsOf(moved, present, isTrial)}\n${lettaText(imported)}`))
  return 0
}

/** A fleet file that someone has worked on is not replaced. */
const writeNew = async (path: string, text: string, isForced: boolean): Promise<void> => {
  if (isForced) await assertNoData(path)
  try {
    await writeText(path, text, { flag: isForced ? "w" : "wx" })
  } catch (error) {
    if (!(error instanceof Error && Reflect.get(error, "code") === "EEXIST")) throw error
    const hint = "the agents have moved in; --force replaces the file"
    throw new CommandFailed("usage", `${path} is there already`, { code: "file-exists", exit: 5, hint })
  }
}

export const importFrom = async (file: string, options: ImportCommand): Promise<number> => {
  const { dryRun: isTrial, force: isForced, json, quiet, rename: pairs = [], tenant } = options
  const path = resolve(file)
  await assertFile(path)
  if (file.endsWith(".af")) return importAgents(path, options)
  const into = placeOf(options)
  const source: ExportSource = () => createReadStream(path)
  const { header, manifest, moved, present } = await importFleet({
    into,
    source,
    rename: renames(pairs),
    ...defined({ tenant }),
    isTrial,
    isForced,
    onProgress: progressOf(quiet)
  })
  if (json) {
    const { exportedAt, scope, version } = header
    sayJson({
      ok: true,
      isTrial,
      moved,
      present,
      into: placeName(into),
      version,
      exportedAt,
      scope,
      sha256: manifest.sha256
    })
  } else say(plain(wordsOf(moved, present, isTrial)))
  return 0
}

export interface PromoteCommand {
  readonly data: string
  readonly to?: string
  readonly back: boolean
  readonly reopen: boolean
  readonly force: boolean
  readonly json: boolean
  readonly quiet: boolean
}

const reopened = async (data: string, json: boolean): Promise<number> => {
  const mark = await reopenDataStore({ data })
  if (json) sayJson({ ok: true, reopened: mark !== undefined, ...defined({ mark }) })
  else
    say(plain(mark === undefined ? `${data} was open` : `${data} is open again; ${mark.place} may have gone on since`))
  return 0
}

export const promote = async (options: PromoteCommand): Promise<number> => {
  const { back, data, force: isForced, json, quiet, reopen } = options
  if (reopen) return reopened(data, json)
  const database = options.to ?? process.env["DATABASE_URL"] ?? ""
  if (database === "") throw new CommandFailed("usage", "name the database: --to URL, or DATABASE_URL")
  const embedded: DataStorePlace = { data }
  const fleet: DataStorePlace = { deployment: deployment(database) }
  const { from, moved, present, to } = await moveDataStore({
    ...(back ? { from: fleet, to: embedded } : { from: embedded, to: fleet }),
    isForced,
    onProgress: progressOf(quiet)
  })
  if (json) sayJson({ ok: true, from, to, moved, present })
  else say(plain(`${wordsOf(moved, present, false)}; ${from} is left, work goes on in ${to}`))
  return 0
}
