// Doctor: what would keep a fleet from working here, and what to do about it.
// Owns the checks. Leaves the probing of the store and the model to the SDK, a directory from outside to data/directory-checks.ts.
// D1  It changes nothing: no directory is made, no data directory is opened for writing.
// D2  Keys are named by where they come from, never shown.
// D3  With --deep every row is read once, and what is damaged is named with its assistant.
// D4  What is looked into is what the other commands find: the only fleet in a directory that has no data itself.
// D5  What talks to a server has an end, and does so beside the others: one that says nothing is a failed check within seconds.

import { defined } from "@reverie/protocol"
import { environment } from "../config/settings.ts"
import { readConfig } from "../config/sources.ts"
import { CommandFailed, failureOf, troubleHint } from "../failure.ts"
import { failureEnvelope, note, painted, say, sayJson } from "../output.ts"
import { isPageBuilt } from "../running/page.ts"
import { LACKING_CURE, lackingText } from "../texts/lacking-text.ts"
import { onOneLine, counted } from "../texts/plain.ts"
import { findBackend, serverFor, storeIn, type Where } from "../backend/find-backend.ts"
import { type Check, directoryChecks } from "./data/directory-checks.ts"
import { timed } from "../backend/transport.ts"
import { Stop } from "../running/stop.ts"

const OLDEST_NODE = 24

const nodeCheck = (): Check => {
  const ok = Number.parseInt(process.versions.node, 10) >= OLDEST_NODE
  const says = `${process.versions.node} on ${process.platform} ${process.arch}`
  return { name: "node", ok, says, ...defined({ fix: ok ? undefined : `install Node ${OLDEST_NODE} or newer` }) }
}

const formatCheck = async (data: string): Promise<Check> => {
  const { FleetReader } = await import("reverie")
  try {
    await using peek = await FleetReader.open(data)
    const { accepted } = await peek.monitor.totals()
    const loss = await peek.loss()
    if (loss !== undefined) throw loss
    return { name: "format", ok: true, says: `readable, ${accepted} messages received so far` }
  } catch (error) {
    const { code, hint, message } = failureOf(error)
    if (code === "data-not-found") return { name: "format", ok: true, says: "no data yet" }
    return { name: "format", ok: code === "data-format-older", says: message, fix: hint }
  }
}

/** Where what is set comes from, and whether a file would send a secret where no one has confirmed. */
const settingsCheck = (): Check => {
  const config = readConfig({ env: environment(), directory: process.cwd(), isDeveloping: true })
  const said = config.resolved
    .filter(({ origin, setting }) => origin !== "default" && !["data", "fleet"].includes(setting.name))
    .map(({ from, origin, setting }) => `${setting.variable} from ${origin === "env" ? "the environment" : from}`)
  try {
    config.assertTrusted()
  } catch (error) {
    const { hint, message } = failureOf(error)
    return { name: "settings", ok: false, says: message, fix: hint }
  }
  const says = said.length === 0 ? "no variable names a model or a server" : said.join(", ")
  return { name: "settings", ok: true, says }
}

const STRONG_CHARS = 24

/** Only where one is set: a token that can be guessed is worse than none, for it looks like a guard. */
const tokenChecks = (): ReadonlyArray<Check> => {
  const [one, several] = [process.env["REVERIE_TOKEN"] ?? "", process.env["REVERIE_TOKENS"] ?? ""]
  const secrets = [one, ...several.split(",").map((each) => each.split(":")[2] ?? "")].filter((each) => each !== "")
  if (secrets.length === 0) return []
  const isWeak = (secret: string) => secret.length < STRONG_CHARS || new Set(secret).size < 10
  const weak = secrets.filter(isWeak).length
  if (weak === 0) return [{ name: "tokens", ok: true, says: `${counted(secrets.length, "token")}, hard to guess` }]
  const says = `${weak} of ${counted(secrets.length, "token")} can be guessed`
  return [{ name: "tokens", ok: false, says, fix: `take ${STRONG_CHARS} random characters: openssl rand -hex 24` }]
}

const pageCheck = (): Check => ({
  name: "page",
  ok: true,
  says: isPageBuilt() ? "it is built" : "it is built with the first start or dev"
})

/** Only where one is said, or says that it owns the directory. */
const backendChecks = async (where: Where): Promise<ReadonlyArray<Check>> => {
  const stop = new Stop()
  let url: string | undefined
  try {
    url = await serverFor(where)
    if (url === undefined) return []
    await using backend = await findBackend({ ...where, url }, "look", stop)
    await backend.within(backend.page({ limit: 1 }), SERVER_MILLIS)
    return [{ name: "server", ok: true, says: `${url} answers` }]
  } catch (error) {
    const { hint, message } = failureOf(error)
    return [{ name: "server", ok: false, says: message, fix: hint }]
  }
}

const SERVER_MILLIS = 10_000

/** A model of one's own may have to be loaded first. */
const MODEL_MILLIS = 60_000

const modelCheck = async (): Promise<Check> => {
  const { describeModel, probeModel, unusedModelKey } = await import("reverie")
  const model = await describeModel()
  try {
    const answered = await timed(probeModel(), MODEL_MILLIS)
    const unused = await unusedModelKey()
    if (unused !== undefined) {
      return { name: "model", ok: false, says: `${model} answers as ${answered}`, fix: unused }
    }
    return { name: "model", ok: true, says: `${model} answers as ${answered}` }
  } catch (error) {
    const { hint, message } = failureOf(error)
    return { name: "model", ok: false, says: `${model}: ${message}`, fix: hint }
  }
}

const serverChecks = async (): Promise<ReadonlyArray<Check>> => {
  const { probeServers } = await import("reverie")
  return (await probeServers()).map(({ failure, name, says }) => {
    if (failure === undefined) return { name, ok: true, says }
    const { code, hint, message } = failureOf(failure)
    const unreached = "check DATABASE_URL, and that the server is up"
    const fixes = {
      database: code === "unexpected" ? unreached : hint,
      index: "check QDRANT_URL, or the rights of the role of DATABASE_URL",
      queue: environment()["REDIS_URL"] === undefined ? unreached : "check REDIS_URL"
    }
    return { name, ok: false, says: message, fix: fixes[name] }
  })
}

/** Only where assistants are sealed with keys that are not there: they are whole, and no backup helps that has no other keys. */
const keysChecks = async (data: string): Promise<ReadonlyArray<Check>> => {
  const { FleetReader } = await import("reverie")
  try {
    await using peek = await FleetReader.open(data)
    const lacking = await peek.lacking()
    return lacking === undefined ? [] : [{ name: "keys", ok: false, says: lackingText(lacking), fix: LACKING_CURE }]
  } catch {
    // The check of the format says why.
    return []
  }
}

/** Only where there is data: looking makes no index. */
const indexChecks = async (data: string): Promise<ReadonlyArray<Check>> => {
  const { describeIndex, FleetReader } = await import("reverie")
  try {
    await using peek = await FleetReader.open(data)
    const report = await peek.memory.index.status()
    const fix = "look at the log of the server of QDRANT_URL"
    return [{ name: "index", ok: report.state !== "red", says: describeIndex(report), fix }]
  } catch (error) {
    const { code, hint, message } = failureOf(error)
    if (code === "data-damaged") return [{ name: "ledger", ok: false, says: message, fix: hint }]
    if (code !== "index-unavailable") return []
    const fix = troubleHint(error) ?? "check QDRANT_URL, or that recall.db can be read"
    return [{ name: "index", ok: false, says: message, fix }]
  }
}

/** Only where older segments lie apart: what cannot be reached there, or lacks, is in the way of who reads that far back. */
const segmentChecks = async (data: string | undefined): Promise<ReadonlyArray<Check>> => {
  const { FleetReader } = await import("reverie")
  const name = "segments"
  try {
    await using peek = await FleetReader.open(data)
    const report = await peek.segments()
    if (report === undefined) return []
    const { isNamed, missing, place, segments } = report
    if (isNamed === false) {
      const says = `${counted(segments, "segment")} of older entries apart from the store, and their place is not named`
      return [{ name, ok: false, says, fix: "set REVERIE_SEGMENTS to the directory that they lie in" }]
    }
    const [first] = missing
    if (first === undefined) return [{ name, ok: true, says: `${counted(segments, "segment")} in ${place}` }]
    const says = `${missing.length} of ${counted(segments, "segment")} missing in ${place}: ${first}${missing.length > 1 ? ", ..." : ""}`
    const cure = missing.length === segments ? "mount the disk of that place" : "put them back from a backup of it"
    return [{ name, ok: false, says, fix: `${cure}, or set REVERIE_SEGMENTS to the directory that they lie in` }]
  } catch (error) {
    const { code, message } = failureOf(error)
    if (!message.includes("older segments")) return []
    return [{ name, ok: false, says: `${code}: ${message}`, fix: "see to the directory of REVERIE_SEGMENTS" }]
  }
}

const dataChecks = async (data: string): Promise<ReadonlyArray<Check>> => [
  ...(await directoryChecks(data)),
  await formatCheck(data),
  ...(await keysChecks(data)),
  ...(await indexChecks(data))
]

interface DoctorOptions extends Where {
  readonly json: boolean
  /** Read everything that is stored. */
  readonly deep: boolean
}

/** Most damages that are reported one by one. */
const MOST_TOLD = 20

/** Reads every row. What is damaged is named with its assistant, whose work it stops, and no one else's. */
const deepChecks = async (data: string | undefined): Promise<ReadonlyArray<Check>> => {
  const { FleetReader } = await import("reverie")
  try {
    await using peek = await FleetReader.open(data)
    const { assistants, entries, flaws: found } = await peek.deepCheck()
    const flaws = found.filter(({ isForKeys }) => isForKeys !== true)
    const read = `${counted(assistants, "assistant")} and ${entries} events read`
    if (flaws.length === 0) return [{ name: "deep", ok: true, says: `${read}, nothing is damaged` }]
    const told = flaws.slice(0, MOST_TOLD).map(({ assistant, what }): Check => {
      const says = assistant === undefined ? what : `${assistant}: ${what}`
      return { name: "damage", ok: false, says }
    })
    const fix = "put a backup back (reverie restore), or go on without what is damaged"
    return [...told, { name: "deep", ok: false, says: `${read}, ${counted(flaws.length, "damage")} found`, fix }]
  } catch (error) {
    const { code, hint, message } = failureOf(error)
    if (code === "data-not-found") return []
    return [{ name: "deep", ok: false, says: message, fix: hint }]
  }
}

const line = ({ fix, name, ok, says }: Check): string => {
  const mark = ok ? painted("green", "ok  ") : painted("red", "FAIL")
  return `${mark} ${name.padEnd(9)} ${onOneLine(says, 300)}${ok || fix === undefined || fix === "" ? "" : `\n     ${fix}`}`
}

/** Where several are found, none is meant: that is said, and is no fault. */
const lookedInto = async (
  where: Where
): Promise<{ readonly data: string | undefined; readonly said: ReadonlyArray<Check> }> => {
  try {
    return { data: await storeIn(where), said: [] }
  } catch (error) {
    const { hint, message } = failureOf(error)
    return { data: where.data, said: [{ name: "fleets", ok: true, says: `${message}; ${hint}` }] }
  }
}

export const doctor = async ({ deep, json, ...where }: DoctorOptions): Promise<number> => {
  const { data, said } = await lookedInto(where)
  const [stored, segments, backend, model] = await Promise.all([
    data === undefined ? serverChecks() : dataChecks(data),
    segmentChecks(data),
    backendChecks({ ...where, data }),
    modelCheck()
  ])
  const isAway = stored.some(({ name, ok }) => name === "database" && !ok)
  const checks = [
    nodeCheck(),
    ...said,
    ...stored,
    ...segments,
    ...backend,
    settingsCheck(),
    ...tokenChecks(),
    pageCheck(),
    ...(deep && !isAway ? await deepChecks(data) : []),
    model
  ]
  const failed = checks.filter(({ ok }) => !ok)
  if (failed.length === 0) {
    if (json) sayJson({ ok: true, checks })
    else say(checks.map(line).join("\n"))
    return 0
  }
  const failure = failureOf(
    new CommandFailed("unhealthy", `${[...new Set(failed.map(({ name }) => name))].join(", ")} failed`)
  )
  if (json) sayJson({ ...failureEnvelope(failure), checks })
  else say(checks.map(line).join("\n"))
  note(`${painted("red", "reverie:")} ${failure.message}`)
  return failure.exit
}
