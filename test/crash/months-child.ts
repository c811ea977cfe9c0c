// One process of the months lane: judges what it finds, lives on until it is done or killed, and says what is left.
// M3  It kills itself before a statement that changes the database, a durable commit, or a change of the directory of segments: each
//     of them is a step of what is under way. Its clock stands still within a round, so that no life differs from another one by its times.

import { existsSync } from "node:fs"
import files from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { Fleet } from "reverie"
import { bytesLeft, judged } from "./months-judge.ts"
import { evidenceIn, hourOf, kinds, liveMonths } from "./months-life.ts"
import { leftIn } from "./night-left.ts"
import { nightFleet } from "./night-life.ts"

const [data = "", killAt, passing = "1"] = process.argv.slice(2)

const passed: Record<string, number> = {}
let stage = "opening"
let status = ""

const placeNow = (): string => (stage === "dream" && status.startsWith("dreaming.") ? status : stage)

const changes = /^\s*(insert|update|delete|replace|commit|vacuum|pragma wal_checkpoint|with)\b/i

const step = (sql: string): void => {
  if (stage === "opening" || !changes.test(sql)) return
  const place = placeNow()
  passed[place] = (passed[place] ?? 0) + 1
  if (place === killAt && passed[place] === Number(passing)) process.kill(process.pid, "SIGKILL")
}

/** Every way to a statement that changes something leads through one of these. */
for (const name of ["run", "get", "all"] as const) {
  const real = StatementSync.prototype[name] as (this: StatementSync, ...args: Array<unknown>) => unknown
  Object.defineProperty(StatementSync.prototype, name, {
    value(this: StatementSync, ...args: Array<unknown>) {
      step(this.sourceSQL)
      return real.apply(this, args)
    }
  })
}
const { exec } = DatabaseSync.prototype as { readonly exec: (this: DatabaseSync, sql: string) => void }
Object.defineProperty(DatabaseSync.prototype, "exec", {
  value(this: DatabaseSync, sql: string) {
    step(sql)
    exec.call(this, sql)
  }
})

for (const name of ["rename", "rm", "mkdir"] as const) {
  const real = files[name] as (...args: ReadonlyArray<unknown>) => Promise<unknown>
  Object.defineProperty(files, name, {
    value(...args: ReadonlyArray<unknown>) {
      if (String(args[0]).startsWith(join(data, "segments"))) step(`replace ${name}`)
      return real(...args)
    }
  })
}
syncBuiltinESMExports()

let now = hourOf(Math.min(evidenceIn(data).rounds.size, kinds.length - 1))
Date.now = () => now

const unopened = existsSync(join(data, "store")) ? bytesLeft(data) : []
const fleet = await Fleet.open({
  data: join(data, "store"),
  fleet: nightFleet,
  model: "offline",
  onNotice: (notice) => {
    if (notice.type === "state-changed") status = notice.status
  }
})
await fleet.idle()
const found = await judged(fleet, data)
await liveMonths(fleet, data, {
  hour: (round) => (now = hourOf(round)),
  stage: (next, round) => (stage = next === "forget" ? `forget ${kinds[round]}` : next)
})
stage = "opening"
const ended = await judged(fleet, data)
await fleet.close()
const left = await leftIn(data)
process.stdout.write(
  `${JSON.stringify({ passed, unopened, found, ended, after: bytesLeft(data), lines: left.lines })}\n`
)
