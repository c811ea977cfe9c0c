// What operators do to a data directory while a server works on it: remove it, move it, put a copy over it, start a second
// server, copy it hot, back it up. After any of it nothing is acknowledged that is not there after a kill.

import { cpSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { judgeAgain, sendMany } from "../moves.ts"
import type { Scene, Server } from "../scene.ts"

/** Longest time from the loss to the end of the process. */
const END_SECONDS = 1

/** What the end of a server whose files are gone must look like. */
const endOf = async (server: Server, since: number): Promise<ReadonlyArray<Check>> => {
  const code = await Promise.race([server.ended, pause(10_000).then(() => -1)])
  const seconds = (performance.now() - since) / 1_000
  const sentences = server
    .said()
    .split("\n")
    .filter((line) => line.startsWith("reverie: "))
  return [
    { says: "the server ends with a code that is not 0", ok: code > 0, seen: `code ${code}` },
    { says: `it ends within ${END_SECONDS} s`, ok: seconds <= END_SECONDS, seen: `${seconds.toFixed(2)} s` },
    {
      says: "it says why in one sentence",
      ok: sentences.length === 1,
      seen: sentences.join(" | ") || server.said().slice(-200)
    }
  ]
}

/** As `rm -rf`, once more where something was written meanwhile. */
const removeWhole = (directory: string): void =>
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 10 })

/** Does something to the directory under load; nothing that is sent afterwards may be acknowledged. */
const lossOf =
  (harm: (scene: Scene) => void, recovered: (scene: Scene) => string | undefined) =>
  async (scene: Scene): Promise<Finding> => {
    const server = await scene.serve()
    const before = await sendMany(server, 12, "before")
    harm(scene)
    const since = performance.now()
    const after = await sendMany(server, 40, "after")
    const checks = [
      ...(await endOf(server, since)),
      { says: "nothing is acknowledged afterwards", ok: after.length === 0, seen: `${after.length} were` }
    ]
    await server.kill()
    const data = recovered(scene)
    if (data === undefined) {
      return { acknowledged: before.length, lost: 0, duplicated: 0, innocents: 0, checks }
    }
    return { ...(await judgeAgain(scene, before, { data })), checks }
  }

const removed: Attack = {
  name: "directory-removed",
  item: 1,
  says: "rm -rf of the data directory while messages come in",
  isShort: true,
  // What was acknowledged before went with the directory: that was the operator's will.
  run: lossOf(
    ({ data }) => removeWhole(data),
    () => undefined
  )
}

/** Asks whether it is ready, and sends something, until it has ended; what it said yes to, by the time of the question. */
const askToTheEnd = async (server: Server, since: number) => {
  const [ready, accepted]: [Array<number>, Array<number>] = [[], []]
  for (let at = 0; !server.hasEnded() && performance.now() - since < 10_000; at++, await pause(5)) {
    const asked = Math.round(performance.now() - since)
    if ((await server.client.status("/readyz")) === 200) ready.push(asked)
    if (await server.client.post({ assistant: "ann", id: `gone-${since}-${at}` }, "hello")) accepted.push(asked)
  }
  return { ready, accepted }
}

/** An answer of `/readyz` is known for a second, but a loss is seen sooner by the watch. */
const KNOWN_READY_MILLIS = 500

const removedAtRest: Attack = {
  name: "directory-removed-at-rest",
  item: 1,
  says: "rm -rf of the data directory of a server at rest: /readyz says so, whether it was asked before or not",
  isShort: true,
  run: async (scene) => {
    const checks: Array<Check> = []
    const posted: Array<Posted> = []
    for (const isAskedBefore of [false, true]) {
      const server = await scene.serve()
      posted.push(...(await sendMany(server, 4, `before-${isAskedBefore}`)))
      await judge(server.client, posted.slice(-4))
      if (isAskedBefore) {
        const says = "/readyz says ok before"
        checks.push({ says, ok: (await server.client.status("/readyz")) === 200 })
      }
      removeWhole(scene.data)
      const since = performance.now()
      const { accepted, ready } = await askToTheEnd(server, since)
      const most = isAskedBefore ? KNOWN_READY_MILLIS : -1
      const when = isAskedBefore ? `after ${KNOWN_READY_MILLIS} ms where it was asked before` : "at all"
      checks.push(
        ...(await endOf(server, since)),
        {
          says: "nothing is acknowledged afterwards",
          ok: accepted.length === 0,
          seen: accepted.join()
        },
        {
          says: `/readyz does not say ok ${when}`,
          ok: ready.every((asked) => asked <= most),
          seen: ready.join()
        }
      )
    }
    // What was acknowledged before went with the directory: that was the operator's will.
    return { acknowledged: posted.length, lost: 0, duplicated: 0, innocents: 0, checks }
  }
}

const moved: Attack = {
  name: "directory-moved",
  item: 1,
  says: "mv of the data directory while messages come in, and a start where it is now",
  run: lossOf(
    ({ data, directory }) => renameSync(data, join(directory, "moved")),
    ({ directory }) => join(directory, "moved")
  )
}

const logRemoved: Attack = {
  name: "log-removed",
  item: 1,
  says: "rm of the write-ahead log while messages come in: it is found under its second name",
  run: lossOf(
    ({ data }) => rmSync(join(data, "reverie.db-wal")),
    ({ data }) => data
  )
}

const overwritten: Attack = {
  name: "copy-restored-over-it",
  item: 1,
  says: "an older copy is put over the data directory, file by file, while messages come in",
  run: async (scene) => {
    const first = await scene.serve()
    const kept = await sendMany(first, 8, "kept")
    await judge(first.client, kept)
    await first.stop()
    const copy = join(scene.directory, "copy")
    cpSync(scene.data, copy, { recursive: true })
    const server = await scene.serve()
    await sendMany(server, 12, "gone")
    for (const name of readdirSync(copy)) cpSync(join(copy, name), join(scene.data, name))
    const since = performance.now()
    const after = await sendMany(server, 40, "after")
    const checks = [
      ...(await endOf(server, since)),
      { says: "nothing is acknowledged afterwards", ok: after.length === 0, seen: `${after.length} were` }
    ]
    await server.kill()
    return { ...(await judgeAgain(scene, kept)), checks }
  }
}

const secondStart = async (scene: Scene): Promise<Check> => {
  const error = await scene.serve().then(
    async (second) => {
      await second.kill()
      return "it started"
    },
    (failure: unknown) => String(failure)
  )
  return {
    says: "a second server is refused, with the number of the first",
    ok: /another Reverie process \(pid \d+\) works on/.test(error),
    seen: error.slice(0, 200)
  }
}

const twoStarts: Attack = {
  name: "two-starts",
  item: 1,
  says: "a second server on the same directory: at once, and after a tool has read every file of it",
  isShort: true,
  isTimed: true,
  run: async (scene) => {
    const racing = await Promise.allSettled([scene.serve(), scene.serve(), scene.serve()])
    const servers = racing.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []))
    const [server] = servers
    if (server === undefined) throw new Error("no server started")
    const before = await sendMany(server, 8, "before")
    await server.client.post({ assistant: "desk", id: "read" }, "!copy_directory {}")
    await judge(server.client, [...before, { assistant: "desk", id: "read" }])
    const refused = await secondStart(scene)
    const after = await sendMany(server, 8, "after")
    await server.kill()
    return {
      ...(await judgeAgain(scene, [...before, ...after])),
      checks: [
        { says: "of three starts at once one serves", ok: servers.length === 1, seen: `${servers.length} serve` },
        refused,
        { says: "the first one works on", ok: after.length === 8, seen: `${after.length} of 8` }
      ]
    }
  }
}

const backups: Attack = {
  name: "backup-under-load",
  item: 1,
  says: "reverie backup while messages come in, kill -9, reverie restore elsewhere; and a plain hot copy",
  run: async (scene) => {
    const server = await scene.serve()
    const before = await sendMany(server, 40, "before")
    const sending = sendMany(server, 200, "during")
    const backup = join(scene.directory, "backup")
    const made = await scene.cli(["backup", backup, "--data", scene.data, "--json"])
    cpSync(scene.data, join(scene.directory, "hot"), { recursive: true })
    const during = await sending
    await server.kill()
    const restored = join(scene.directory, "restored")
    const put = await scene.cli(["restore", backup, "--data", restored, "--json"])
    const checks: Array<Check> = [
      { says: "the backup is made", ok: made.code === 0, seen: made.stderr.slice(-200) },
      { says: "it is restored", ok: put.code === 0, seen: put.stderr.slice(-200) }
    ]
    const modes = [backup, ...readdirSync(backup).map((name) => join(backup, name))].map(
      (path) => statSync(path).mode & 0o077
    )
    checks.push({ says: "the backup is for its owner alone", ok: modes.every((mode) => mode === 0) })
    const ofBackup = await judgeAgain(scene, before, { data: restored })
    const hot = await scene.serve({ data: join(scene.directory, "hot") })
    checks.push({ says: "a hot copy opens", ok: (await hot.client.status("/v1/assistants/ann")) === 200 })
    await hot.stop()
    const judged = await judgeAgain(scene, [...before, ...during])
    return { ...judged, lost: judged.lost + ofBackup.lost, checks }
  }
}

export const ownership: ReadonlyArray<Attack> = [
  removed,
  removedAtRest,
  moved,
  logRemoved,
  overwritten,
  twoStarts,
  backups
]
