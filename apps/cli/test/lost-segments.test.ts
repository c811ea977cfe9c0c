// Lost segments: what a person learns of an assistant whose older part is missing in its place.

import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, run, temporary } from "./command-line.ts"

const CANARY = "kestrel-9713"

test("G1 inspect and logs tell which events are in a segment that lacks, and all others", async () => {
  await using place = await temporary()
  const [data, apart] = [join(place.path, "data"), join(place.path, "apart")]
  const fleet = await Fleet.open({
    data,
    model: "offline",
    segments: { directory: apart },
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", retention: { archiveAfter: 1 } })]
    })
  })
  const files = () =>
    readdirSync(apart, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  const live = async () => {
    for (let each = 0; each < 35; each++) await fleet.send("desk", `Ship ${each} came in.`)
    await fleet.idle()
    await fleet.vacuum()
  }
  await live()
  const older = files()
  await live()
  await fleet.close()
  const file = files().find((each) => !older.includes(each)) ?? ""
  rmSync(file)
  const told = (...args: ReadonlyArray<string>) => run([...args, "--data", data], { env: { REVERIE_SEGMENTS: apart } })
  const lacks = /^ *events (\d+) to (\d+): segment \S+ is missing in .*; put it back there from a backup of that place/m

  const inspected = await told("agents", "inspect", "desk")
  assert.strictEqual(inspected.code, 0, inspected.stderr)
  assert.match(inspected.stdout, lacks)
  const { code, stdout } = await told("agents", "logs", "desk", "--limit", "1000")
  assert.strictEqual(code, 0)
  const [, from = "", to = ""] = lacks.exec(stdout) ?? []
  const numbers = [...stdout.matchAll(/^(\d+) /gm)].map(([, no]) => Number(no))
  assert.deepStrictEqual(
    numbers,
    [...numbers.keys()].map((at) => (at + 1 < Number(from) ? at + 1 : at + 1 + Number(to) - Number(from) + 1))
  )
  assert.isAbove(Number(from), 60)
  assert.isAtLeast(numbers.at(-1) ?? 0, Number(to) + 1)
  const { entries, lost } = JSON.parse((await told("agents", "logs", "desk", "--limit", "20", "--json")).stdout)
  assert.strictEqual(entries.length + lost[0].to - lost[0].from + 1, 20)

  const exported = await told("export", "desk", "--out", join(place.path, "desk.jsonl"), "--json")
  assertFailure(exported, 5, "record-unreadable", "put it back there")
  assert.notMatch(exported.stdout, /free space|upgrade/)

  const looked = await told("doctor", "--deep")
  assert.match(
    looked.stdout,
    /^FAIL segments +1 of \d+ segments missing in .*\n +put them back from a backup of it, or set/m
  )
  assert.lengthOf([...looked.stdout.matchAll(/^FAIL damage +default\/desk: entries \d+ to \d+: segment/gm)], 1)
  assert.match(looked.stderr, /reverie: segments, damage, deep failed/)
  const vacuumed = await told("vacuum", "--yes")
  assert.match(vacuumed.stdout, /^\d segments of older entries \(0\.0 MB\) in \S+; 1 missing: put back \S+$/m)
  const unnamed = (...args: ReadonlyArray<string>) => run([...args, "--data", data])
  assert.match(
    (await unnamed("vacuum", "--yes")).stdout,
    /apart from the store: their place is not named, set REVERIE_SEGMENTS/
  )
  await unnamed("agents", "send", "desk", "Is it there?")
  const listed = await unnamed("agents", "ls")
  assert.match(listed.stdout, /^\d segments of older entries .* not named: set REVERIE_SEGMENTS$/m)
  assert.match(
    (await unnamed("doctor")).stdout,
    /FAIL segments +\d segments of older entries apart from the store, and their/
  )
})

test("L1 L2 forget says which segment it could not read, and a replay which events are unknown", async () => {
  await using place = await temporary()
  const [data, apart] = [join(place.path, "data"), join(place.path, "apart")]
  const retention = { archiveAfter: 1 }
  const fleet = await Fleet.open({
    data,
    model: "offline",
    segments: { directory: apart },
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", retention })]
    })
  })
  for (let each = 0; each < 35; each++) await fleet.send("desk", `Ship ${each} of ${CANARY} came in.`)
  await fleet.idle()
  await fleet.vacuum()
  await fleet.answer("desk", `It was ${CANARY}.`)
  await fleet.close()
  const [file = ""] = readdirSync(apart, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const bytes = readFileSync(file)
  rmSync(file)
  const env = { REVERIE_SEGMENTS: apart }
  const forget = (...args: ReadonlyArray<string>) => run(["forget", "desk", ...args, "--data", data], { env })

  const copied = (...args: ReadonlyArray<string>) =>
    run(["backup", join(place.path, "copy"), ...args, "--data", data], { env })
  assert.match((await copied()).stderr, /is missing in .*; or make the backup without it, with --without-lost/)
  const copy = await copied("--without-lost")
  assert.strictEqual(copy.code, 0, copy.stderr)
  assert.match(copy.stderr, /it is without 1 segment of older entries, missing or damaged: \S+/)

  const [other, key] = [join(place.path, "other"), { REVERIE_KEY: randomBytes(32).toString("hex"), ...env }]
  const placed = await run(["restore", join(place.path, "copy"), "--data", other], { env })
  assert.strictEqual(placed.code, 0, placed.stderr)
  const sealing = (...args: ReadonlyArray<string>) => run([...args, "--data", other], { env: key })
  const refused = await sealing("encrypt")
  assert.match(refused.stderr, /is missing in .*; or go on without it, with --without-lost/)
  const without = /it went on without 1 segment of older entries, missing or damaged: \S+; put back, it does not open/
  assert.match((await sealing("encrypt", "--without-lost")).stderr, without)
  assert.notStrictEqual((await sealing("keys", "rotate", "--renew")).code, 0)
  const rotated = await sealing("keys", "rotate", "--renew", "--without-lost", "--json")
  assert.lengthOf(JSON.parse(rotated.stdout).segmentsLost, 1)

  const forgotten = await forget("--text", CANARY, "--yes")
  assert.strictEqual(forgotten.code, 0, forgotten.stderr)
  assert.match(forgotten.stdout, /erased of desk: \d+ events?/)
  assert.match(forgotten.stdout, /desk: segment \S+ \(events 1 to \d+\) is missing, so nothing in it was forgotten/)
  const verify = () => run(["replay", "desk", "--verify", "--data", data, "--json"], { env })
  assertFailure(await verify(), 5, "replay-unknown", "events 1 to")

  writeFileSync(file, bytes.subarray(1))
  const taken = await forget("--text", CANARY, "--yes", "--json")
  assert.deepInclude(JSON.parse(taken.stdout).unread[0], {
    assistant: "desk",
    from: 1,
    state: "removed",
    comesBack: true
  })
  assert.match((await forget("--yes")).stdout, /\) was missing; nothing refers to it any more/)
})
