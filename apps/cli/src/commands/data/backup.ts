// Backup, restore, vacuum and migrate: a store as a whole: a verified copy, the way back, its size, and the form of this version.
// Owns what is said of it. Leaves copying, verifying and the steps of a migration to the SDK.

import { defined } from "@reverie/protocol"
import { backup, restore, Fleet, FleetReader, type PlaceReport } from "reverie"
import { CommandFailed, failureOf } from "../../failure.ts"
import { note, say, sayJson } from "../../output.ts"
import { LACKING_CURE, lackingText } from "../../texts/lacking-text.ts"
import { counted, plain, onOneLine } from "../../texts/plain.ts"
import { assertConsent, type ChangeOptions } from "../../consent.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Backend } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import type { OrderOptions } from "../agents/orders.ts"

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

/** An empty path, as an unset variable leaves one, is the working directory to the system. */
const named = (directory: string): string => {
  if (directory.trim() !== "") return directory
  throw new CommandFailed("usage", "the directory of the backup is empty", { hint: "name it, like backups/monday" })
}

/** What is forgotten after such a backup is not forgotten in it. */
const KEYS_WARNING =
  "it holds the data keys: your key opens it, also what is forgotten from now on; keep it as you keep the key"

export const makeBackup = async (
  target: string,
  options: BackupOptions & { readonly withKeys: boolean; readonly withoutLost: boolean }
): Promise<number> => {
  const data = dataOf(options, "backup")
  const { force, withKeys: keys, withoutLost } = options
  const made = await backup({ data, to: named(target), force, keys, withoutLost })
  const { accepted, at, committed, files, segmentsLeft = 0, segmentsLost = [] } = made
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (options.json)
    sayJson({ ok: true, data, backup: target, at, accepted, committed, bytes, segmentsLeft, segmentsLost })
  else say(plain(`${target} holds ${data}: ${accepted} messages, ${committed} events, ${bytes} bytes, verified`))
  if (options.withKeys) note(KEYS_WARNING)
  if (segmentsLeft > 0) {
    note(
      `${segmentsLeft} segments of older entries lie apart and are not in it; set REVERIE_SEGMENTS to take them along`
    )
  }
  if (segmentsLost.length > 0) {
    const which = counted(segmentsLost.length, "segment")
    note(plain(`it is without ${which} of older entries, missing or damaged: ${segmentsLost.join(", ")}`))
  }
  return 0
}

export const putBack = async (source: string, options: BackupOptions): Promise<number> => {
  const data = dataOf(options, "restore")
  const { accepted, at, committed, former, lacking } = await restore({
    from: named(source),
    data,
    force: options.force
  })
  if (options.json) {
    sayJson({ ok: true, data, backup: source, at, accepted, committed, ...defined({ former, lacking }) })
    return 0
  }
  const when = new Date(at).toISOString()
  say(plain(`${data} is as it was at ${when}: ${accepted} messages, ${committed} events`))
  if (former !== undefined) say(plain(`what was there before is kept in ${former}`))
  if (lacking?.isAll === true) {
    note(plain(`it is encrypted, and its data keys are not there: put the keys.db of that time into ${data}`))
  } else if (lacking !== undefined) {
    note(plain(`${lackingText(lacking)}; ${LACKING_CURE}`))
  }
  return 0
}

// Vacuum: what is due by retention is put away, and the files become small.
// Owns asking where something is deleted, and the figures in words. Leaves the work to the fleet.

const MOST_NAMED = 3

const placeInWords = ({ bytes, isNamed, missing, place, removed, segments, unknown }: PlaceReport): string => {
  const all = `${counted(segments, "segment")} of older entries (${sizeOf(bytes)})`
  if (isNamed === false) return `${all} apart from the store: their place is not named, set REVERIE_SEGMENTS`
  const more = missing.length > MOST_NAMED ? ", ..." : ""
  const lacking = `${missing.length} missing: put back ${missing.slice(0, MOST_NAMED).join(", ")}${more}`
  const parts = [
    `${all} in ${place}`,
    ...(removed > 0 ? [`${removed} removed that nothing refers to`] : []),
    ...(missing.length > 0 ? [lacking] : []),
    ...(unknown > 0 ? [`${unknown} left there that this store does not know`] : [])
  ]
  return parts.join("; ")
}

/** Of those whose policy is not known here. */
const leftInWords = (left: number, { fleet }: OrderOptions, { kind }: Backend): string => {
  const [were, they, their] = left === 1 ? ["was", "it is", "its"] : ["were", "they are", "their"]
  const head = `${counted(left, "assistant")} ${were} left as ${they}`
  return kind === "store" && fleet === undefined
    ? `${head}: how long ${they} kept stands in ${their} fleet; name that with --fleet FILE`
    : `${head}: this fleet does not have ${their} definition, which says how long ${they} kept`
}

const MEGABYTE = 1_000_000

const sizeOf = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`

export const vacuum = async (options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, options.dryRun ? "fork" : "order", stop)
  const vacuumed = (dryRun: boolean) => backend.assistants((api) => api.vacuum({ payload: { dryRun } }))
  const due = await vacuumed(true)
  if (due.left > 0 && !options.json) note(leftInWords(due.left, options, backend))
  if (options.dryRun) {
    const { archived, bytesBefore, deleted } = due
    if (options.json) sayJson({ ok: true, ...due })
    else
      say(
        plain(
          `would compress ${counted(archived.entries, "event")} and delete ${deleted.entries}, of ${sizeOf(bytesBefore)}`
        )
      )
    return 0
  }
  if (due.deleted.entries > 0) {
    await assertConsent(
      options,
      `${counted(due.deleted.entries, "event")} would lose their words for good, by retention`
    )
  }
  const report = await vacuumed(false)
  const { archived, bytesAfter, bytesBefore, deleted, segments } = report
  const done = `compressed ${counted(archived.entries, "event")} and deleted ${deleted.entries}`
  if (options.json) sayJson({ ok: true, ...report })
  else {
    say(plain(`${done}; ${sizeOf(bytesBefore)} before, ${sizeOf(bytesAfter)} after`))
    if (segments !== undefined) say(plain(placeInWords(segments)))
  }
  return 0
}

// Migrate: brings a store to the form of this version.
// Owns opening it for that, and saying what was done. Leaves the steps to the adapters of the store.

export interface MigrateOptions extends ChangeOptions {
  readonly data: string | undefined
}

/** Whether it could be read as it was before. */
const wasReadable = async (data: string | undefined): Promise<boolean> => {
  try {
    await using peek = await FleetReader.open(data)
    await peek.monitor.totals()
    return true
  } catch (error) {
    if (failureOf(error).code === "data-format-older") return false
    throw error
  }
}

export const migrate = async ({ data, dryRun, json }: MigrateOptions): Promise<number> => {
  const isCurrent = await wasReadable(data)
  if (dryRun) {
    const words = isCurrent ? "it has the form of this version" : "it would be brought to the form of this version"
    if (json) sayJson({ ok: true, dryRun: true, isCurrent })
    else say(words)
    return 0
  }
  const nobody = { assistants: [], defaultAssistant: "nobody" as never }
  await using fleet = await Fleet.open({ fleet: nobody, role: "api", ...defined({ data }) })
  const { accepted } = await fleet.monitor.totals()
  const words = isCurrent ? "it had the form of this version" : "it was brought to the form of this version"
  if (json) sayJson({ ok: true, migrated: !isCurrent, place: fleet.profile, accepted })
  else say(onOneLine(`${fleet.profile}: ${words}; ${accepted} messages received so far`, 300))
  return 0
}
