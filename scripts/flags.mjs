// Flags: a command that is asked wrongly says so in one line and ends with exit code 2.

import { basename, dirname } from "node:path"

/** Many files are called main: the folder names those. */
const nameOf = (file) => {
  const name = basename(file, ".ts")
  return name === "main" ? basename(dirname(file)) : name
}

process.on("uncaughtException", (error) => {
  if (String(error?.code).startsWith("ERR_PARSE_ARGS_")) {
    process.stderr.write(`${nameOf(process.argv[1] ?? "")}: ${error.message}\n`)
    process.exit(2)
  }
  console.error(error)
  process.exit(1)
})
