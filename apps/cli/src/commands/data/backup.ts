// Backup and restore: a data directory as a whole, verified copy, and back.
// Owns what is said of it. Leaves copying and verifying to the SDK.

import { defined } from "@reverie/protocol"
import { backup, restore } from "reverie"
import { CommandFailed } from "../../failure.ts"
import { say, sayJson } from "../../output.ts"
import { plain } from "../../texts/plain.ts"

interface BackupOptions {
  /** Undefined where the environment names a database. */
  readonly data?: string
  readonly force: boolean
  readonly json: boolean
}

const dataOf = ({ data }: BackupOptions, verb: string): string => {
  if (data !== undefined) return data
  const hint = "say --data DIR for a data directory; a database is copied with its own tools, pg_dump for one"
  throw new CommandFailed("usage", `DATABASE_URL is set, and ${verb} works on data directories`, { hint })
}

export const makeBackup = async (target: string, options: BackupOptions): Promise<number> => {
  const data = dataOf(options, "backup")
  const { accepted, at, committed, files } = await backup({ data, to: target, force: options.force })
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (options.json) sayJson({ ok: true, data, backup: target, at, accepted, committed, bytes })
  else say(plain(`${target} holds ${data}: ${accepted} messages, ${committed} commits, ${bytes} bytes, verified`))
  return 0
}

export const putBack = async (source: string, options: BackupOptions): Promise<number> => {
  const data = dataOf(options, "restore")
  const { accepted, at, committed, former } = await restore({ from: source, data, force: options.force })
  if (options.json) {
    sayJson({ ok: true, data, backup: source, at, accepted, committed, ...defined({ former }) })
    return 0
  }
  const when = new Date(at).toISOString()
  say(plain(`${data} is as it was at ${when}: ${accepted} messages, ${committed} commits`))
  if (former !== undefined) say(plain(`what was there before is kept in ${former}`))
  return 0
}
