// Sqlite: node:sqlite as the package finds it, on every Node that it runs on.
// Owns what older ones lack. In the bundle it stands in the place of node:sqlite.
// S1  Of all warnings that Node prints, only the one that SQLite is experimental is left out.
// S2  A Node without it is named in one sentence.
// S3  What a database does not tell of itself is found out.

const hushed = (load) => {
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest) => {
    if (!/SQLite is an experimental feature/.test(String(warning))) emitWarning.call(process, warning, ...rest)
  }
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

const sqlite = hushed(() => process.getBuiltinModule?.("node:sqlite"))
if (sqlite === undefined) {
  throw new Error(`reverie needs Node 22.13 or newer, and this is ${process.version}; nodejs.org has newer ones`)
}

export const { DatabaseSync, StatementSync } = sqlite

const lacking = (name, get) => {
  if (!(name in new DatabaseSync(":memory:"))) {
    Object.defineProperty(DatabaseSync.prototype, name, { configurable: true, get })
  }
}

// Node 22.13 and 22.14: one that is closed refuses everything.
lacking("isOpen", function () {
  try {
    this.exec("")
    return true
  } catch {
    return false
  }
})

// Node 22.13 to 22.15: a transaction within another one is refused, and that is how one is found.
lacking("isTransaction", function () {
  try {
    this.exec("BEGIN")
  } catch (error) {
    return error.code === "ERR_SQLITE_ERROR"
  }
  this.exec("ROLLBACK")
  return false
})

/** The same file in the end; the newer one copies page by page, this one at once. */
const copied = async (database, path) => {
  database.prepare("VACUUM INTO ?").run(String(path))
  return 0
}

export const backup = sqlite.backup ?? copied
