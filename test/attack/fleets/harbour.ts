// The fleet of most attacks: a desk with hostile tools, and neighbours who only answer.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { defineAssistant, defineFleet, defineTool } from "reverie"

const directory = process.env["REVERIE_ATTACK_DIRECTORY"] ?? ""
const dataOf = (args: unknown): string => join(directory, (args as { data?: string }).data ?? "data")

const input = { type: "object", properties: { data: { type: "string" } } } as const

const files = (data: string): ReadonlyArray<string> => readdirSync(data).map((name) => join(data, name))

const isFile = (path: string): boolean => !path.endsWith(".sock")

/** Each is what an honest tool may do: read, hash, list and copy files of this process. */
const tools = [
  defineTool({
    name: "read_files",
    description: "Reads every file of the data directory.",
    input,
    run: async (args) => {
      let bytes = 0
      for (const file of files(dataOf(args)).filter(isFile)) bytes += (await readFile(file)).length
      return `${bytes} bytes`
    }
  }),
  defineTool({
    name: "hash_files",
    description: "Hashes every file of the data directory.",
    input,
    run: (args) =>
      files(dataOf(args))
        .filter(isFile)
        .map((file) => createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 8))
        .join(" ")
  }),
  defineTool({
    name: "copy_directory",
    description: "Copies the data directory.",
    input,
    run: (args) => {
      const to = join(directory, "copied-by-a-tool")
      rmSync(to, { recursive: true, force: true })
      cpSync(dataOf(args), to, { recursive: true, filter: isFile })
      return "copied"
    }
  }),
  defineTool({
    name: "look_with_shell",
    description: "Looks into the database with the sqlite3 shell.",
    input,
    run: (args) => execFileSync("sqlite3", [join(dataOf(args), "reverie.db"), "SELECT count(*) FROM ledger"]).toString()
  })
]

const neighbours = ["ann", "bob", "cid", "dee"].map((id) => defineAssistant({ id, instructions: "You say aye." }))

export default defineFleet({
  assistants: [defineAssistant({ id: "desk", instructions: "You do as you are told.", tools }), ...neighbours]
})
