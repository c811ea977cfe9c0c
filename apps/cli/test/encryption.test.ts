import { randomBytes } from "node:crypto"
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, run, temporary } from "./command-line.ts"

const CANARY = "kestrel-9713"

const isInTheClear = (data: string): boolean =>
  readdirSync(data, { withFileTypes: true }).some(
    (entry) => entry.isFile() && readFileSync(join(data, entry.name)).includes(CANARY)
  )

/** Tells the desk of a directory the code. */
const tellCode = async (data: string): Promise<void> => {
  await using fleet = await Fleet.open({
    data,
    model: "offline",
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
  })
  await fleet.answer("desk", `The code is ${CANARY}.`)
}

test("Z1 O1 a directory is encrypted with the key of the environment, read with it, and opened with another one after a rotation", async () => {
  await using place = await temporary()
  const data = join(place.path, "data")
  await tellCode(data)
  assert.isTrue(isInTheClear(data))
  const key = { REVERIE_KEY: randomBytes(32).toString("hex") }
  assertFailure(await run(["encrypt", "--data", data, "--json"]), 5, "data-sealed", "no key is given")
  const encrypted = await run(["encrypt", "--data", data], { env: key })
  assert.match(encrypted.stdout, /is encrypted: \d+ rows.*\n.*keys\.db; keep a copy apart/)
  assert.isFalse(isInTheClear(data))
  const read = ["export", "desk", "--data", data, "--quiet"]
  assert.include((await run(read, { env: key })).stdout, CANARY)
  const refused = await run([...read, "--out", join(data, "..", "out")])
  assert.strictEqual(refused.code, 5)
  assert.match(refused.stderr, /it is encrypted, and no key is given; set REVERIE_KEY/)
  const next = randomBytes(32).toString("base64")
  const rotated = await run(["keys", "rotate", "--renew", "--data", data], { env: { ...key, REVERIE_NEW_KEY: next } })
  assert.match(rotated.stdout, /were wrapped anew under the new key.*\n\d+ rows|wrapped anew[\s\S]*rows were encrypted/)
  assert.match((await run(read, { env: key })).stderr, /does not open its keys/)
  const [found] = [await run(["agents", "inspect", "desk", "--data", data, "--json"], { env: { REVERIE_KEY: next } })]
  assert.strictEqual(found.code, 0, found.stderr)
  rmSync(join(data, "keys.db"))
  assert.match((await run(read, { env: { REVERIE_KEY: next } })).stderr, /its keys are not there/)
})

test("R1 an agents ls that opens none of many says so in one line, with how many", async () => {
  await using place = await temporary()
  const [data, backup] = [join(place.path, "data"), join(place.path, "backup")]
  const fleet = await Fleet.open({
    data,
    model: "offline",
    fleet: defineFleet({
      assistants: ["ann", "ben", "cai"].map((id) => defineAssistant({ id, instructions: "You are under test." }))
    })
  })
  await fleet.close()
  const env = { REVERIE_KEY: randomBytes(32).toString("hex") }
  const asked = (...args: ReadonlyArray<string>) => run([...args, "--data", data], { env })
  for (const args of [["encrypt"], ["backup", backup], ["keys", "rotate", "--renew"], ["restore", backup, "--force"]]) {
    assert.strictEqual((await asked(...args)).code, 0)
  }
  const { stderr } = await asked("agents", "ls")
  assert.strictEqual(stderr.split("\n").filter((line) => line.includes("read and")).length, 1, stderr)
  assert.match(stderr, /default\/ann and 2 more cannot be read and are skipped/)
})

test("R1 new data keys make a backup of before unreadable without the keys of its time, and the command says so", async () => {
  await using place = await temporary()
  const [data, backup] = [join(place.path, "data"), join(place.path, "backup")]
  await tellCode(data)
  const env = { REVERIE_KEY: randomBytes(32).toString("hex") }
  const asked = (...args: ReadonlyArray<string>) => run([...args, "--data", data], { env })
  for (const args of [["encrypt"], ["backup", backup]]) assert.strictEqual((await asked(...args)).code, 0)
  const former = readFileSync(join(data, "keys.db"))
  const warning = /^backups of before this can not be read any more .* make a new backup now$/m
  assert.notMatch((await asked("keys", "rotate")).stderr, warning)
  for (const json of [[], ["--json"]]) {
    const renewed = await asked("keys", "rotate", "--renew", ...json)
    assert.strictEqual(renewed.code, 0, renewed.stderr)
    assert.match(renewed.stderr, warning)
  }
  assert.include(
    (await run(["keys", "rotate", "--help"])).stdout.replaceAll(/\s+/g, " "),
    "backups of before can not be read"
  )
  assert.strictEqual((await asked("restore", backup, "--force")).code, 0)
  const asJson = async (...args: ReadonlyArray<string>) => JSON.parse((await asked(...args, "--json")).stdout)
  const listed = await asked("agents", "ls")
  assert.strictEqual(listed.code, 5)
  assert.match(
    listed.stderr,
    /^reverie: the data keys there do not open default\/desk: .* \(whom you forgot stays closed: do nothing/m
  )
  const { assistants, error, ok } = await asJson("agents", "ls")
  assert.deepStrictEqual([assistants, error.code, error.exit, ok], [[], "keys-lacking", 5, false])
  for (const deep of [[], ["--deep"]]) {
    const { checks } = await asJson("doctor", ...deep)
    const failed = checks.filter((check: { readonly ok: boolean }) => !check.ok)
    assert.strictEqual(failed.length, 1, JSON.stringify(failed))
    const [{ fix, name, says }] = failed
    assert.strictEqual(name, "keys")
    assert.match(says, /^the data keys there do not open default\/desk: forgotten since, or given other keys$/)
    assert.match(
      fix,
      /^whom you forgot stays closed: .*forget it again .* put the one of the time of that data in its place/
    )
  }
  const closed = join(place.path, "closed")
  cpSync(data, closed, { recursive: true })
  const inClosed = (...args: ReadonlyArray<string>) => run([...args, "--data", closed], { env })
  const forgotten = await inClosed("forget", "desk", "--yes")
  assert.strictEqual(forgotten.code, 0, forgotten.stderr)
  assert.match(forgotten.stdout, /^erased of desk: /m)
  assert.strictEqual((await inClosed("doctor", "--deep")).code, 0)
  const read = () => asked("export", "desk", "--quiet")
  assert.notStrictEqual((await read()).code, 0)
  // As the guide says of a copy that was kept.
  writeFileSync(join(data, "keys.db"), former)
  assert.include((await read()).stdout, CANARY)
  assert.strictEqual((await asked("agents", "ls")).code, 0)
  assert.strictEqual((await asked("doctor", "--deep")).code, 0)
})

test("R1 a renewal that was killed is named where someone only reads, and running it again finishes it", async () => {
  await using place = await temporary()
  const data = join(place.path, "data")
  await tellCode(data)
  const env = { REVERIE_KEY: randomBytes(32).toString("hex") }
  const asked = (...args: ReadonlyArray<string>) => run([...args, "--data", data], { env })
  assert.strictEqual((await asked("encrypt")).code, 0)
  // As of a process that ended within a change: its journal is there, and a part of what it wrote.
  const [keys, kept] = [join(data, "keys.db"), join(place.path, "kept.db")]
  const changing = new DatabaseSync(keys)
  changing.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE")
  const put = changing.prepare("INSERT INTO keys (tenant, assistant, wrapped) VALUES ('default', ?, zeroblob(60))")
  for (let each = 0; each < 2_000; each++) put.run(`a${each}`)
  for (const end of ["", "-journal"]) cpSync(`${keys}${end}`, `${kept}${end}`)
  changing.exec("ROLLBACK")
  changing.close()
  for (const end of ["", "-journal"]) cpSync(`${kept}${end}`, `${keys}${end}`)
  const refused = await asked("agents", "ls")
  assert.strictEqual(refused.code, 5)
  assert.include(refused.stderr, "a change of its keys was broken off: run `reverie keys rotate --renew` again")
  assert.strictEqual((await asked("keys", "rotate", "--renew")).code, 0)
  assert.strictEqual((await asked("agents", "ls")).code, 0)
})

test("A1 what lies apart is encrypted with its directory, and a place that can be none is reported by the name of its variable", async () => {
  await using place = await temporary()
  const [data, apart, file] = ["data", "apart", "file"].map((name) => join(place.path, name)) as [
    string,
    string,
    string
  ]
  writeFileSync(file, "no directory")
  const retention = { archiveAfter: 5 }
  const fleet = await Fleet.open({
    data,
    model: "offline",
    segments: { directory: apart },
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", retention })]
    })
  })
  for (let each = 0; each < 30; each++) await fleet.send("desk", `Ship ${each} has the code ${CANARY}.`)
  await fleet.idle()
  await fleet.vacuum()
  await fleet.close()
  const key = { REVERIE_KEY: randomBytes(32).toString("hex") }
  const encrypt = (where: object) => run(["encrypt", "--data", data], { env: { ...key, ...where } })
  assert.match(
    (await encrypt({})).stderr,
    /older segments of it lie in a place apart; name that, with REVERIE_SEGMENTS/
  )
  const wrong = await encrypt({ REVERIE_SEGMENTS: file })
  assert.strictEqual(wrong.code, 2)
  assert.match(
    wrong.stderr,
    /^reverie: segments: \S+ is no directory; name a directory.* \(see to REVERIE_SEGMENTS\)\n$/
  )
  assert.strictEqual((await encrypt({ REVERIE_SEGMENTS: apart })).code, 0)
  const verified = await run(["replay", "desk", "--verify", "--data", data], {
    env: { ...key, REVERIE_SEGMENTS: apart }
  })
  assert.match(verified.stdout, /byte for byte/)
})
