// SqliteFailure: what SQLite and the file system say when they refuse, in a sentence a person can act on.
// Owns the reading of error codes. Leaves to the callers which error of which port it becomes.
// I1  Only a refusal of SQLite or of the system is a failure; any other exception is a bug and stays one.

export interface SqliteFailure {
  readonly kind: "full" | "busy" | "damaged" | "denied" | "closed" | "other"
  /** What is the matter and what helps. */
  readonly message: string
  readonly cause: unknown
}

/** Primary result codes of SQLite, https://sqlite.org/rescode.html */
const kindByCode: Readonly<Record<number, SqliteFailure["kind"]>> = {
  5: "busy",
  8: "denied",
  11: "damaged",
  13: "full",
  14: "denied",
  26: "damaged"
}

const kindByErrno: Readonly<Record<string, SqliteFailure["kind"]>> = {
  ERR_INVALID_STATE: "closed",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ENOSPC: "full",
  EDQUOT: "full"
}

const sentences: Readonly<Record<Exclude<SqliteFailure["kind"], "other">, string>> = {
  full: "no space is left; free some and try again",
  busy: "another program holds the database locked",
  damaged: "the file is damaged or no database",
  denied: "it can not be written here; check the permissions of the directory and its files",
  closed: "the store is closed"
}

const numberAt = (error: object, key: string): number | undefined => {
  const value: unknown = Reflect.get(error, key)
  return typeof value === "number" ? value : undefined
}

/** The failure that an exception stands for; undefined when it is a bug. */
export const sqliteFailure = (error: unknown): SqliteFailure | undefined => {
  if (!(error instanceof Error)) return undefined
  const code: unknown = Reflect.get(error, "code")
  if (typeof code !== "string") return undefined
  const errcode = numberAt(error, "errcode")
  const isSystem = numberAt(error, "errno") !== undefined
  if (code !== "ERR_SQLITE_ERROR" && code !== "ERR_INVALID_STATE" && !isSystem) return undefined
  const kind = (errcode === undefined ? kindByErrno[code] : kindByCode[errcode & 0xff]) ?? "other"
  return { kind, message: kind === "other" ? error.message : `${sentences[kind]} (${error.message})`, cause: error }
}
