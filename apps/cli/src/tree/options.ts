// Options: those that several commands have.
// Owns their names, defaults and how their values are read. Leaves what they do to the commands.

import { type Command, InvalidArgumentError, Option } from "commander"
import { AWAY_SECONDS } from "../running/away.ts"

const DATA = ".reverie"

export const seconds = (text: string): number => {
  const value = Number(text)
  if (!(Number.isFinite(value) && value >= 0)) throw new InvalidArgumentError("It must be a number of seconds.")
  return value
}

/** By what use can be summed; a request that asks otherwise is refused. */
export const usageGroups = ["assistant", "hour", "model", "purpose"] as const

const UNIT_MILLIS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 }

/** A moment: a date, or how long ago. */
export const moment = (text: string): number => {
  const [, count = "", unit = ""] = /^(\d{1,6})([hd])$/.exec(text.trim()) ?? []
  const millis = unit === "" ? Date.parse(text) : Date.now() - Number(count) * (UNIT_MILLIS[unit] ?? 0)
  if (!(millis >= 0)) throw new InvalidArgumentError("It must be a date, or how long ago, like 24h or 30d.")
  return millis
}

/** The same for the end of a span: a bare date counts to the end of its day, month or year, in UTC as it is read. */
export const endMoment = (text: string): number => {
  const begin = moment(text)
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text.trim()) ?? []
  if (year === undefined) return begin
  const [y, m] = [Number(year), Number(month ?? 1) - 1]
  if (day !== undefined) return Date.UTC(y, m, Number(day) + 1) - 1
  return (month === undefined ? Date.UTC(y + 1, 0) : Date.UTC(y, m + 1)) - 1
}

export const whole = (text: string): number => {
  const value = Number(text)
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError("It must be a whole number.")
  }
  return value
}

export const atLeastOne = (text: string): number => {
  const value = whole(text)
  if (value === 0) throw new InvalidArgumentError("It must be at least 1.")
  return value
}

/** What something is bounded by: a whole number, or `none`. */
export const mostWhole = (text: string): number | "none" => (text.trim() === "none" ? "none" : whole(text))

/** An amount of money, in millionths; or `none`. */
export const mostMoney = (text: string): number | "none" => {
  if (text.trim() === "none") return "none"
  const micros = Math.round(Number(text) * 1_000_000)
  if (text.trim() === "" || !Number.isSafeInteger(micros) || micros < 0) {
    throw new InvalidArgumentError("It must be an amount of money, like 2.50, or none.")
  }
  return micros
}

export const gathered = (value: string, before: ReadonlyArray<string> = []): ReadonlyArray<string> => [...before, value]

/** A directory whatever the environment names. */
export const ownDataOption = (fallback: string = DATA): Option =>
  new Option("--data <dir>", "data directory").env("REVERIE_DATA").default(fallback)

/** Without it, the servers that DATABASE_URL and REDIS_URL name, and a directory when they name none. */
export const dataOption = (): Option => {
  const option = new Option("--data <dir>", "data directory; none when DATABASE_URL is set").env("REVERIE_DATA")
  return (process.env["DATABASE_URL"] ?? "") === "" ? option.default(DATA) : option
}

export const fleetOption = (): Option =>
  new Option("--fleet <file>", "the file that exports the fleet").env("REVERIE_FLEET")

export const modelOption = (fallback: "env" | "offline"): Option =>
  new Option(
    "--model <which>",
    "env: what the fleet chooses, else what OPENAI_* names, or offline when nothing is set; offline: the stand-in, for everyone"
  )
    .choices(["env", "offline"])
    .default(fallback)

export const jsonOption = (): Option => new Option("--json", "print one JSON object on stdout").default(false)

/** Of commands that open a fleet on a directory. */
export const forceOption = (): Option =>
  new Option("--force", "open a data directory though it holds less than was acknowledged").default(false)

export const formOption = (): Option =>
  new Option("--form <file>", "a JSON Schema: the answer is one JSON object that fits it")

export const contextOption = (): Option =>
  new Option("--context <kind>", "the kind of context that it is handled in; agents contexts ID lists them")

export const attachOption = (): Option =>
  new Option(
    "--attach <file>",
    "an image, a file or audio that goes with the message; say it again for more"
  ).argParser(gathered)

export const timeoutOption = (): Option => new Option("--timeout <seconds>", "longest wait").argParser(seconds)

export const waitModelOption = (): Option =>
  new Option("--wait-model <seconds>", "how long a model that does not answer is waited for")
    .argParser(seconds)
    .default(AWAY_SECONDS)

/** A server, or the store itself. */
export const addBackend = (command: Command): Command =>
  command
    .addOption(new Option("--url <url>", "a running server").env("REVERIE_URL"))
    .addOption(new Option("--token-file <file>", "the file with its token; REVERIE_TOKEN when not said"))
    .addOption(dataOption())
    .option("--tenant <tenant>", "whose assistants, in a data directory or database; default when not said")

/** What every list has. */
export const addListing = (command: Command): Command =>
  command
    .addOption(jsonOption())
    .option("--jsonl", "print each item as a line of JSON", false)
    .addOption(new Option("--limit <n>", "most items").argParser(atLeastOne).default(50))
    .option("--cursor <cursor>", "go on where the page before ended")
    .option("--watch", "show it again on every change", false)

/** What every change has. */
export const addChanging = (command: Command): Command =>
  command
    .addOption(jsonOption())
    .option("--dry-run", "say what would be done, and do nothing", false)
    .option("-y, --yes", "ask nothing back", false)
    .option("--id <key>", "idempotency key: the same is done once")

/** What every order has, besides. */
export const addOrdering = (command: Command): Command =>
  addChanging(addBackend(command))
    .addOption(fleetOption())
    .addOption(modelOption("env"))
    .option("--wait", "wait until it is done; the default with a fleet or a server")
    .option("--no-wait", "end as soon as it is durable")
    .addOption(timeoutOption())
