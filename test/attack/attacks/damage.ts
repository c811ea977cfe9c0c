// Files of a data directory that were emptied, cut, damaged or swapped while no one looked: noticed at the start or by
// `doctor --deep`, named, and in the way of no one but the assistant they belong to.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Attack, Check } from "../attack.ts"
import { judge } from "../judge.ts"
import { judgeAgain, sendMany } from "../moves.ts"
import type { Scene } from "../scene.ts"

const PAGE_BYTES = 512

/** Whether a start is refused with a sentence, and goes on with --force. */
const refusalOf = async (scene: Scene, sentence: RegExp): Promise<ReadonlyArray<Check>> => {
  const refused = await scene.serve().then(
    async (server) => {
      await server.stop()
      return "it started"
    },
    (error: unknown) => String(error)
  )
  const forced = await scene.serve({ args: ["--force"] }).then(
    async (server) => {
      const status = await server.client.status("/v1/assistants")
      await server.stop()
      return status
    },
    (error: unknown) => String(error)
  )
  return [
    { says: "the start is refused and says what is missing", ok: sentence.test(refused), seen: refused.slice(0, 260) },
    { says: "--force accepts the loss", ok: forced === 200, seen: String(forced).slice(0, 260) }
  ]
}

/** Harms a store that had been killed in the middle of work, or stopped. */
const harmed = (
  name: string,
  says: string,
  ending: "kill" | "stop",
  harm: (data: string) => void,
  sentence: RegExp,
  isShort = false
): Attack => ({
  name,
  item: 8,
  says,
  isShort,
  run: async (scene) => {
    const server = await scene.serve()
    const posted = await sendMany(server, 24, "m")
    await judge(server.client, posted)
    await server[ending]()
    harm(scene.data)
    const checks = await refusalOf(scene, sentence)
    // What is gone was taken by the attacker; the claim is that it is said, and that nothing pretends to be new.
    return { acknowledged: posted.length, lost: 0, duplicated: 0, innocents: 0, checks }
  }
})

const LOG = "reverie.db-wal"

const cut = (file: string): void =>
  writeFileSync(file, readFileSync(file).subarray(0, Math.floor(statSync(file).size / 2)))

const scratch = (file: string): void => {
  const bytes = readFileSync(file)
  const middle = Math.floor(bytes.length / 2)
  bytes.fill(0x5a, middle, middle + 64)
  writeFileSync(file, bytes)
}

const gone = /has lost something: .*(missing or empty|ends after)/

/** Fills one page that holds a commit of an assistant. */
const ruinPageOf = (data: string, assistant: string): number => {
  const file = join(data, "reverie.db")
  const database = new DatabaseSync(file, { readOnly: true })
  const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = 'ledger' AND pagetype = 'overflow'").all()
  database.close()
  const bytes = readFileSync(file)
  const own = pages
    .map(({ pageno }) => Number(pageno))
    .filter((page) => bytes.subarray((page - 1) * PAGE_BYTES, page * PAGE_BYTES).includes(`of-${assistant}`))
  const page = own[Math.floor(own.length / 2)] ?? 0
  if (page > 0) {
    bytes.fill(0xa5, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
    writeFileSync(file, bytes)
  }
  return page
}

const onePage: Attack = {
  name: "one-bad-page",
  item: 8,
  says: "one page of one assistant's history is overwritten: doctor names it, the neighbours work on",
  isShort: true,
  run: async (scene) => {
    const server = await scene.serve()
    const posted = [
      ...(await sendMany(server, 24, "m", `${"a long story ".repeat(60)} of-neighbours`)),
      { assistant: "desk", id: "desk-1" }
    ]
    await server.client.post(
      { assistant: "desk", id: "desk-1" },
      `${"a long story ".repeat(300)} of-desk ${"x".repeat(4_000)}`
    )
    await judge(server.client, posted)
    await server.stop()
    const page = ruinPageOf(scene.data, "desk")
    const sick = await scene.cli(["doctor", "--deep", "--data", scene.data])
    const again = await scene.serve()
    const after = await sendMany(again, 24, "after")
    const judged = await judge(again.client, after)
    const list = await again.client.status("/v1/assistants")
    await again.stop()
    const checks: ReadonlyArray<Check> = [
      { says: "a page was overwritten", ok: page > 0, seen: `page ${page}` },
      {
        says: "doctor --deep names the assistant",
        ok: sick.code !== 0 && /damage\s+default\/desk/.test(sick.stdout),
        seen: sick.stdout.slice(-400)
      },
      {
        says: "the neighbours are answered",
        ok: after.length === 24 && judged.lost === 0,
        seen: judged.remarks.join("; ")
      },
      { says: "the list of assistants is answered", ok: list === 200, seen: String(list) }
    ]
    return { ...judged, checks }
  }
}

const rights: Attack = {
  name: "open-rights",
  item: 9,
  says: "a directory of mode 755 and a umask that leaves everything open: nothing is readable for others",
  isShort: true,
  run: async (scene) => {
    const { mkdirSync, readdirSync } = await import("node:fs")
    const before = process.umask(0)
    try {
      mkdirSync(scene.data, { mode: 0o755 })
      const server = await scene.serve({ fleet: "remembering.ts" })
      const posted = await sendMany(server, 8, "m", "The lease has the number 4711.")
      await judge(server.client, posted)
      await server.client.status("/v1/assistants/ann/memory/recall?q=lease")
      const paths = [scene.data, ...readdirSync(scene.data).map((name) => join(scene.data, name))]
      const open = paths.filter((path) => existsSync(path) && (statSync(path).mode & 0o077) !== 0)
      const backup = join(scene.directory, "backup")
      await scene.cli(["backup", backup, "--data", scene.data])
      const inBackup = [backup, ...readdirSync(backup).map((name) => join(backup, name))]
      await server.stop()
      const shared = join(scene.directory, "shared")
      mkdirSync(shared, { mode: 0o777 })
      writeFileSync(join(shared, "letter.txt"), "of someone else")
      const refused = await scene.serve({ data: shared }).then(
        async (other) => {
          await other.stop()
          return "it started"
        },
        (error: unknown) => String(error)
      )
      const checks: ReadonlyArray<Check> = [
        {
          says: "an index of memories is among the files",
          ok: paths.some((path) => path.endsWith("recall.db")),
          seen: paths.join(" ")
        },
        { says: "nothing is open to others", ok: open.length === 0, seen: open.join(" ") },
        { says: "nothing of a backup is", ok: inBackup.every((path) => (statSync(path).mode & 0o077) === 0) },
        {
          says: "a shared directory is refused with a sentence",
          ok: /others may read what is kept in/.test(refused),
          seen: refused.slice(0, 240)
        }
      ]
      return { ...(await judgeAgain(scene, posted)), checks }
    } finally {
      process.umask(before)
    }
  }
}

export const damage: ReadonlyArray<Attack> = [
  harmed(
    "store-emptied",
    "the database is emptied",
    "stop",
    (data) => writeFileSync(join(data, "reverie.db"), ""),
    gone,
    true
  ),
  harmed("store-removed", "the database is removed", "stop", (data) => rmSync(join(data, "reverie.db")), gone),
  harmed("log-cut", "the log is cut in half after a kill", "kill", (data) => cut(join(data, LOG)), gone),
  harmed(
    "log-scratched",
    "64 bytes of the log are overwritten after a kill",
    "kill",
    (data) => scratch(join(data, LOG)),
    gone
  ),
  harmed(
    "logs-removed",
    "the log is removed under both its names after a kill",
    "kill",
    (data) => {
      for (const name of [LOG, `${LOG}-kept`, "reverie.db-shm"]) rmSync(join(data, name), { force: true })
    },
    gone
  ),
  onePage,
  rights
]
