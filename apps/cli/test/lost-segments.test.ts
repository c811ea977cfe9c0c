// Lost segments: what a person learns of an assistant whose older part is missing in its place.

import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, run, temporary } from "./command-line.ts"

const CANARY = "kestrel-9713"

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
