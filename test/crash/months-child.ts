// One process of the months lane: judges what it finds, lives on until it is done or killed, and says what is left.
// M3  It kills itself before a statement that changes the database, a durable commit, or a change of the directory of segments: each
//     of them is a step of what is under way. Where everything lies in a server, a step is what is sent to it.
// M6  Its clock stands still within a round, so that no life differs from another one by its times; a server has a clock of its own,
//     and times are left out of what is compared.

import { existsSync } from "node:fs"
import net from "node:net"
import files from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { Fleet } from "reverie"
import { bytesLeft, judged } from "./months-judge.ts"
import { evidenceIn, hourOf, kinds, liveMonths } from "./months-life.ts"
import { placeOf } from "./months-place.ts"
import { leftIn } from "./night-left.ts"
import { nightFleet } from "./night-life.ts"

const [data = "", killAt, passing = "1"] = process.argv.slice(2)

const database = process.env["REVERIE_MONTHS_POSTGRES"]
const place = placeOf(data, database)

const passed: Record<string, number> = {}
let stage = "opening"
let status = ""

const placeNow = (): string => (stage === "dream" && status.startsWith("dreaming.") ? status : stage)

const changes = /^\s*(insert|update|delete|replace|commit|vacuum|pragma wal_checkpoint|with)\b/i

const step = (): void => {
  if (stage === "opening") return
  const now = placeNow()
  passed[now] = (passed[now] ?? 0) + 1
  if (now === killAt && passed[now] === Number(passing)) process.kill(process.pid, "SIGKILL")
}

const stepOf = (sql: string): void => {
  if (changes.test(sql)) step()
}

/** Every way to a statement that changes something leads through one of these. */
for (const name of ["run", "get", "all"] as const) {
  const real = StatementSync.prototype[name] as (this: StatementSync, ...args: Array<unknown>) => unknown
  Object.defineProperty(StatementSync.prototype, name, {
    value(this: StatementSync, ...args: Array<unknown>) {
      stepOf(this.sourceSQL)
      return real.apply(this, args)
    }
  })
}
const { exec } = DatabaseSync.prototype as { readonly exec: (this: DatabaseSync, sql: string) => void }
Object.defineProperty(DatabaseSync.prototype, "exec", {
  value(this: DatabaseSync, sql: string) {
    stepOf(sql)
    exec.call(this, sql)
  }
})

for (const name of ["rename", "rm", "mkdir"] as const) {
  const real = files[name] as (...args: ReadonlyArray<unknown>) => Promise<unknown>
  Object.defineProperty(files, name, {
    value(...args: ReadonlyArray<unknown>) {
      if (String(args[0]).startsWith(join(data, "segments"))) step()
      return real(...args)
    }
  })
}

/** What the store and the index say to a database; what the queue says is not at the same place in every life. */
if (database !== undefined) {
  const connect = net.connect as (...args: ReadonlyArray<unknown>) => net.Socket
  Object.defineProperty(net, "connect", {
    value(...args: ReadonlyArray<unknown>) {
      const socket = connect(...args)
      if (new Error().stack?.includes("sql-pg") !== true) return socket
      const write = socket.write.bind(socket) as (...args: ReadonlyArray<unknown>) => boolean
      Object.defineProperty(socket, "write", {
        writable: true,
        value(...said: ReadonlyArray<unknown>) {
          step()
          return write(...said)
        }
      })
      return socket
    }
  })
}
syncBuiltinESMExports()

let now = hourOf(Math.min(evidenceIn(data).rounds.size, kinds.length - 1))
// A database tells its own time.
if (database === undefined) Date.now = () => now

const isThere = database !== undefined || existsSync(join(data, "store"))
const unopened = isThere ? await bytesLeft(data, place) : []
const fleet = await Fleet.open({
  ...place.options,
  fleet: nightFleet,
  model: "offline",
  onNotice: (notice) => {
    if (notice.type === "state-changed") status = notice.status
  }
})
await fleet.idle()
const found = await judged(fleet, data, place)
await liveMonths(fleet, data, {
  hour: (round) => (now = hourOf(round)),
  stage: (next, round) => (stage = next === "forget" ? `forget ${kinds[round]}` : next)
})
stage = "opening"
const ended = await judged(fleet, data, place)
await fleet.close()
/** No two lives have the times of a database in common. */
const timeless = (line: string): string =>
  database === undefined ? line : line.replace(/\b1[78]\d{11}\b/g, "then").replace(/"elapsed_?[mM]s":\d+/g, '"elapsed"')
const lines = (await leftIn(place.options)).lines.map(timeless)
const after = await bytesLeft(data, place)
process.stdout.write(`${JSON.stringify({ passed, unopened, found, ended, after, lines })}\n`)
