// Failure: what a person and a script learn when a command could not do what it was asked.
// Owns the one table from error tags to code, exit and hint. Leaves printing to output.ts.
// X1  Exit codes are a stable interface: 0 ok, 1 unexpected, 2 usage, 3 permission, 4 not found, 5 conflict,
//     6 upstream unavailable, 7 timeout, 8 limit, 9 approval, 130 SIGINT, 143 SIGTERM.
// X2  Whatever is thrown becomes one failure with one line of message; nothing of a stack is in it.
// X3  On a full disk the hint is to make room, and of damaged data to look and to restore, whichever verb met it.

import { LACKING_CURE } from "./texts/lacking-text.ts"

export interface Failure {
  /** A stable word for scripts. */
  readonly code: string
  readonly message: string
  /** What to do about it; empty when the message says it all. */
  readonly hint: string
  /** True when the same command may succeed later, unchanged. */
  readonly retryable: boolean
  readonly exit: number
}

type Row = Omit<Failure, "message">

const row = (code: string, exit: number, retryable: boolean, hint: string): Row => ({ code, exit, retryable, hint })

/** Failures that the command line itself finds. */
const ownRows = {
  usage: row("usage", 2, false, "reverie --help shows the commands and their options"),
  "events-malformed": row("events-malformed", 2, false, "correct the file and run it again; nothing was accepted"),
  "fleet-invalid": row("fleet-invalid", 2, false, "a fleet file exports default defineFleet({ assistants: [...] })"),
  "no-such-file": row("no-such-file", 4, false, "check the path"),
  "unknown-assistant": row("unknown-assistant", 4, false, "reverie agents ls --data DIR names those who live there"),
  "unknown-tick": row("unknown-tick", 4, false, "without --tick the newest one is shown"),
  "model-denied": row(
    "model-denied",
    3,
    false,
    "check OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL; then run the same command with --resume"
  ),
  "model-unavailable": row(
    "model-unavailable",
    6,
    true,
    "everything accepted is kept; when the model answers again, run the same command, which goes on where it stopped"
  ),
  "assistant-halted": row("assistant-halted", 5, false, "reverie agents resume ID lets it go on"),
  "assistant-unhosted": row("assistant-unhosted", 5, false, "use the fleet file that its data directory was made with"),
  "answer-failed": row("answer-failed", 1, false, "reverie agents inspect ID shows what happened"),
  "approval-needed": row("approval-needed", 9, false, "reverie agents approve ID, or deny ID"),
  timeout: row("timeout", 7, true, "nothing is lost; run it again with a longer --timeout"),
  "port-unusable": row("port-unusable", 5, true, "choose another --port, or 0 for any that is free"),
  "no-fleet": row("usage", 2, false, "add --fleet FILE, or reach a running server with --url URL"),
  "server-unreachable": row("server-unreachable", 6, true, "check --url or REVERIE_URL, and that the server is up"),
  "server-unreadable": row(
    "server-unreadable",
    1,
    false,
    "the server may be of another version than this command line"
  ),
  "token-needed": row("token-needed", 3, false, "set REVERIE_TOKEN, or say --token-file FILE"),
  forbidden: row("forbidden", 3, false, "this token may not do that"),
  "not-found": row("not-found", 4, false, ""),
  conflict: row("conflict", 5, false, ""),
  "wrong-state": row("wrong-state", 5, false, ""),
  "not-possible": row("not-possible", 5, false, ""),
  "limit-reached": row("limit-reached", 8, true, "nothing of it was done; wait, or raise the limit"),
  "turns-spent": row("turns-spent", 8, false, "--max-turns N allows more of them"),
  "cost-spent": row("cost-spent", 8, false, "--max-cost AMOUNT allows more"),
  "consent-needed": row("consent-needed", 9, false, "say --yes if it is meant"),
  "config-invalid": row("config-invalid", 2, false, "reverie config path names the files"),
  "config-untrusted": row("config-untrusted", 3, false, ""),
  "keys-lacking": row("keys-lacking", 5, false, LACKING_CURE),
  unhealthy: row("unhealthy", 1, false, "each failed check says what to do"),
  interrupted: row("interrupted", 130, true, "what was accepted is kept; the same command goes on where it stopped"),
  terminated: row("terminated", 143, true, "what was accepted is kept; the same command goes on where it stopped"),
  "disk-full": row("disk-full", 6, true, ""),
  unexpected: row("unexpected", 1, false, "REVERIE_DEBUG=1 shows where it happened")
} as const satisfies Readonly<Record<string, Row>>

export type FailureCode = keyof typeof ownRows

/** Failures of the fleet, by the tag of the error. */
const rowsByTag: Readonly<Record<string, Row>> = {
  StoreBusy: row("data-in-use", 5, true, "one process at a time may write a data directory"),
  DatabaseUnreleased: row("data-unreleased", 5, false, "nothing in it was changed"),
  DatabaseFormatNewer: row("data-format-newer", 5, false, "nothing in it was changed"),
  StoreUnreleased: row("data-unreleased", 5, false, "nothing in it was changed"),
  StoreFormatNewer: row("data-format-newer", 5, false, "nothing in it was changed"),
  StoreFormatOlder: row("data-format-older", 5, false, "nothing in it was changed"),
  StoreMoved: row(
    "data-moved",
    5,
    false,
    "reverie promote --reopen --data DIR opens it again as it was left; nothing in it was changed"
  ),
  StoreLeft: row("data-moved", 5, false, "nothing in it was changed"),
  ExportUnreadable: row("export-unreadable", 2, false, "nothing of it was taken in; make the export again"),
  AgentFileUnreadable: row("agent-file-unreadable", 2, false, "nothing of it was taken in"),
  MoveRefused: row("move-refused", 5, false, "nothing was changed"),
  BundleRefused: row("place-taken", 5, false, "nothing was changed; --rename OLD=NEW gives another name"),
  StoreDamaged: row("data-damaged", 5, false, "nothing in it was changed"),
  BackupRefused: row("backup-refused", 5, false, "nothing was changed"),
  StoreSealed: row("data-sealed", 5, false, "nothing in it was changed"),
  StoreExposed: row("data-exposed", 3, false, "nothing was written into it"),
  StoreLost: row("data-lost", 6, true, "what was acknowledged before is kept, unless its files were removed"),
  StoreShortened: row("data-shortened", 5, false, "nothing in it was changed"),
  StoreUnopenable: row("data-unusable", 3, false, "check that the directory exists and may be written"),
  StoreUnreachable: row("database-unreachable", 6, true, "check DATABASE_URL, and that the server is up"),
  StoreUnguarded: row("database-unguarded", 3, false, "use a role that row-level security holds"),
  MailboxUnavailable: row(
    "store-unavailable",
    6,
    true,
    "what was acknowledged is kept; start the database, or see to what it names, and run it again"
  ),
  LedgerUnavailable: row(
    "store-unavailable",
    6,
    true,
    "what was committed is kept; start the database, or see to what it names, and run it again"
  ),
  RecallUnavailable: row("index-unavailable", 6, true, "nothing is lost; the index is made anew from the store later"),
  UnreadableRecord: row("record-unreadable", 5, false, "upgrade Reverie, or restore the data directory"),
  UnknownAssistant: ownRows["unknown-assistant"],
  EnvelopeInvalid: row("message-invalid", 2, false, "nothing was accepted"),
  IdReused: row("message-invalid", 2, false, "nothing was accepted; take a new --id"),
  ApprovalUnknown: row("usage", 2, false, "reverie approvals ls names the open ones"),
  AnswerLate: ownRows.timeout,
  DefinitionMissing: ownRows["assistant-unhosted"],
  ToolDefinitionInvalid: ownRows["fleet-invalid"],
  ConfigError: row("config-invalid", 2, false, "check the environment variables it names"),
  Malformed: row("message-invalid", 2, false, "nothing of it was done"),
  TooLarge: row("message-invalid", 2, false, "nothing of it was done"),
  Unauthorized: ownRows["token-needed"],
  Forbidden: ownRows.forbidden,
  NotFound: ownRows["not-found"],
  MethodNotAllowed: ownRows["server-unreadable"],
  Conflict: ownRows.conflict,
  LimitReached: ownRows["limit-reached"],
  Unavailable: row("store-unavailable", 6, true, "what was acknowledged is kept; run it again when its servers answer"),
  HttpClientError: ownRows["server-unreachable"],
  SchemaError: ownRows["server-unreadable"],
  TargetAmbiguous: row("usage", 2, false, "name one of them"),
  ReminderInvalid: row("not-a-reminder", 2, false, "reverie reminders set --help shows what a rule is"),
  ReminderUnknown: row("not-found", 4, false, "reverie reminders ls names them"),
  DeadLetterRefused: ownRows.conflict,
  MemoryRefused: ownRows.conflict,
  DeadLetterUnknown: row("not-found", 4, false, "reverie queues dead names them"),
  MemoryUnknown: ownRows["not-found"],
  RecallRefused: row("usage", 2, false, ""),
  DefinitionUnknown: row("unknown-definition", 4, false, ""),
  ForkRefused: ownRows.conflict,
  McpUnavailable: row("mcp-unavailable", 6, true, "check the command or the URL of the MCP server"),
  McpToolsRefused: ownRows.conflict,
  McpServerInvalid: ownRows.usage,
  IdInvalid: row("usage", 2, false, ""),
  BlockUnknown: ownRows["not-found"],
  BlockRefused: ownRows.conflict,
  PromptUnknown: ownRows["not-found"],
  PromptInvalid: ownRows.usage,
  ImportRefused: ownRows.usage,
  NoPlaceAfter: ownRows.usage,
  PlacesTaken: ownRows.conflict,
  KeyTaken: ownRows.conflict,
  BuiltInLocked: ownRows.conflict,
  PromptConflict: ownRows.conflict,
  NothingToUndo: ownRows.conflict,
  PromptUnreadable: row("record-unreadable", 5, false, "upgrade Reverie, or restore the data directory"),
  ConsentNeeded: ownRows.forbidden,
  DelegationRefused: ownRows.conflict,
  BudgetRefused: ownRows.conflict,
  ModelDenied: ownRows["model-denied"],
  ModelUnavailable: ownRows["model-unavailable"],
  ModelParked: ownRows["model-unavailable"],
  CallWithheld: ownRows["model-unavailable"],
  ModelRefused: ownRows["answer-failed"],
  ReplyUnusable: ownRows["model-unavailable"],
  FleetClosed: row("fleet-closed", 5, true, "")
}

/** Thrown by commands for what they find themselves. */
export class CommandFailed extends Error {
  readonly failure: Failure
  /** A failure that no one needs to be told of: the reader of our output has left. */
  readonly silent: boolean
  constructor(code: FailureCode, message: string, changes: Partial<Row> & { readonly silent?: boolean } = {}) {
    super(message)
    const { silent = false, ...rest } = changes
    this.failure = { ...ownRows[code], ...rest, message }
    this.silent = silent
  }
}

const text = (value: unknown, key: string): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const found: unknown = Reflect.get(value, key)
  return typeof found === "string" ? found : undefined
}

const causeOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, "cause") : undefined

// Trouble: what is the matter with a disk. It reaches a command as an error of any verb, of SQLite, of the system or of a server.

type Trouble = "full" | "damaged"

/** Codes of the system, and primary result codes of SQLite. */
const troubleByCode: Readonly<Record<string, Trouble>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  13: "full",
  11: "damaged",
  26: "damaged"
}

/** Where it is said in a sentence alone: by a server, by an index, of a backup. */
const troubleByWords: ReadonlyArray<readonly [words: RegExp, trouble: Trouble]> = [
  [/disk is full|no space (?:is )?left/i, "full"],
  [/disk image is malformed|is damaged or no database|its copy is damaged/i, "damaged"]
]

const ofStores = /^(?:(?:Mailbox|Ledger|Recall|PromptStore|BlockStore)?Unavailable|StoreUnopenable|BackupRefused)$/

const codeOf = (error: unknown): string => {
  const errcode: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "errcode") : undefined
  return typeof errcode === "number" ? String(errcode & 0xff) : (text(error, "code") ?? "")
}

const troubleOf = (error: unknown): Trouble | undefined => {
  const tag = text(error, "_tag")
  if (tag !== undefined && !ofStores.test(tag)) return undefined
  if (tag !== undefined && Reflect.get(Object(error), "isDamaged") === true) return "damaged"
  const coded = troubleByCode[codeOf(error)] ?? troubleByCode[codeOf(causeOf(error))]
  // What anything else says may be about something else.
  if (coded !== undefined || tag === undefined) return coded
  return troubleByWords.find(([words]) => words.test(messageOf(error)))?.[1]
}

const troubledRow = (error: unknown, usual: Row | undefined): Row | undefined => {
  const trouble = troubleOf(error)
  if (trouble === "full") {
    const hint = "free space on the disk that is written to, and run it again"
    return { ...(usual ?? ownRows["disk-full"]), exit: 6, retryable: true, hint }
  }
  // An index is made anew from the store.
  if (trouble === undefined || text(error, "_tag") === "RecallUnavailable") return usual
  const hint = "reverie doctor --deep names what is damaged, and reverie restore puts the last backup back"
  return row("data-damaged", 5, false, hint)
}

/** What helps where the disk is the trouble; undefined where it is not. */
export const troubleHint = (error: unknown): string | undefined => troubledRow(error, undefined)?.hint

/** A directory that is not there or is a file is not a matter of permission. */
const unopenableRow = (error: unknown): Row => {
  const table = rowsByTag["StoreUnopenable"] ?? ownRows.unexpected
  const code = text(causeOf(error), "code")
  if (causeOf(error) === undefined) return { ...table, code: "data-not-found", exit: 4, hint: "check --data" }
  if (code === "EEXIST" || code === "ENOTDIR") return { ...table, exit: 2, hint: "check --data" }
  return table
}

/** Anyone who is not there, and what is broken, is not in anybody's way. */
const refusedRow = (error: unknown): Row | undefined => {
  const reason = text(error, "reason")
  if (reason === "unknown") return ownRows["unknown-assistant"]
  return reason === "broken" ? rowsByTag["ExportUnreadable"] : rowsByTag["BundleRefused"]
}

/** What is wrong may stand in no file: the environment says it, or an option of the command. */
const definitionHints: Readonly<Record<string, string>> = {
  segments: "see to REVERIE_SEGMENTS",
  model: "a model is PROVIDER/NAME, an address like http://127.0.0.1:8089/v1#NAME, or offline; offline needs no key"
}

const definitionRow = (error: unknown): Row => {
  const { hint, ...row } = ownRows["fleet-invalid"]
  return { ...row, hint: definitionHints[text(error, "subject") ?? ""] ?? hint }
}

/** Of older entries that cannot be read, one sentence says why, and what it begins with. */
const segmentRow = (error: unknown): Row | undefined => {
  const table = rowsByTag["UnreadableRecord"]
  const message = text(error, "message") ?? ""
  const isOfRows = ["UnreadableRecord", "LedgerUnavailable"].includes(text(error, "_tag") ?? "")
  if (table === undefined || !isOfRows || !message.startsWith("segment ")) return undefined
  const isNamed = !message.includes("no place is given")
  const hint = isNamed
    ? "what was said since is kept and read"
    : "REVERIE_SEGMENTS names the directory that they lie in"
  return { ...table, hint }
}

/** A forgetting that an index holds up is not made up for by itself. */
const unforgottenRow = (error: unknown): Row | undefined => {
  const table = rowsByTag["RecallUnavailable"]
  if (table === undefined || text(error, "_tag") !== "RecallUnavailable" || text(error, "operation") !== "forget")
    return undefined
  return { ...table, hint: "run it again when the server answers; reverie doctor says whether it does" }
}

/** Which of them it is, and what to put back, a look at the directory says. */
const unopenedRow = (error: unknown): Row | undefined => {
  const table = rowsByTag["UnreadableRecord"]
  const isSealed = text(error, "message")?.startsWith("it is sealed, and does not open") === true
  if (table === undefined || text(error, "_tag") !== "UnreadableRecord" || !isSealed) return undefined
  return { ...table, hint: "reverie doctor says whether its keys are gone, and what to put back" }
}

const usualRow = (error: unknown): Row | undefined => {
  const tag = text(error, "_tag") ?? ""
  if (tag === "FleetDefinitionInvalid") return definitionRow(error)
  if (tag === "BundleRefused") return refusedRow(error)
  return tag === "StoreUnopenable" ? unopenableRow(error) : rowsByTag[tag]
}

const rowOf = (error: unknown): Row | undefined =>
  segmentRow(error) ?? unopenedRow(error) ?? unforgottenRow(error) ?? troubledRow(error, usualRow(error))

const messageOf = (error: unknown): string => {
  const address: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "address") : undefined
  const assistant = text(address, "assistant")
  if (text(error, "_tag") === "UnknownAssistant") return `there is no assistant "${assistant ?? "?"}"`
  const message =
    error instanceof Error && error.message !== "" ? error.message : (text(error, "message") ?? String(error))
  return message.split("\n").join(" ")
}

/** What anything thrown means to the caller. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof CommandFailed) return error.failure
  // The fleet closes because of something, and that is what matters.
  const cause = causeOf(error)
  if (text(error, "_tag") === "FleetClosed" && rowOf(cause) !== undefined) return failureOf(cause)
  return { ...(rowOf(error) ?? ownRows.unexpected), message: messageOf(error) }
}
