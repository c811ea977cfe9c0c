import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { parse } from "yaml"
import type { Judged } from "../attack/judge.ts"
import { imageOf } from "../integration/docker.ts"
import { containersIn } from "../stand-ins/composed.ts"
import { verdictOfInterrupted } from "../stand-ins/interrupted.ts"
import { PARTS, partsIn } from "../stand-ins/lane.ts"
import { leaksIn } from "../stand-ins/leaks.ts"
import { Load, type Phase } from "../stand-ins/load.ts"
import { codenameIn, type Machine, mirrorIn, needsOf } from "../stand-ins/machine.ts"
import { environmentBelow, missingFrom, packagesFor, sourceOf } from "../stand-ins/packages.ts"
import { must } from "../stand-ins/program.ts"
import {
  composeOverride,
  nodeImageIn,
  nodeRecipe,
  postgresRecipe,
  QDRANT_DOUBLE,
  redisRecipe
} from "../stand-ins/recipes.ts"
import { type RoundSeen, verdictOfRound } from "../stand-ins/round-judge.ts"
import { planted } from "../stand-ins/working-copy.ts"
import { isIgnoredBy } from "./ignored.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const bookworm = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n'
const machine: Machine = {
  platform: "linux",
  isRoot: true,
  osRelease: bookworm,
  sources: ["Types: deb\n# http://old.example/debian\nURIs: http://deb.debian.org/debian\nSuites: bookworm\n"],
  has: () => true,
  freeBytes: 50 * 1_024 ** 3,
  folder: "/tmp"
}

describe("M1 a machine for stand-ins", () => {
  test("that has everything needs nothing", () => {
    assert.deepStrictEqual(needsOf(machine), [])
  })

  test("learns all at once what it lacks, and what to do", () => {
    const poor = { ...machine, isRoot: false, osRelease: "ID=fedora\n", has: () => false, freeBytes: 5e8 }
    const needs = needsOf(poor).join("\n")
    for (const word of ["root", "no Debian", "unshare", "apt-get install util-linux", "/dev/net/tun", "0.5 GB free"]) {
      assert.include(needs, word)
    }
    assert.deepStrictEqual(needsOf({ ...machine, platform: "darwin" }).length, 1)
    assert.match(needsOf({ ...machine, sources: ["", "# nothing\n"] }).join(), /no source list/)
  })

  test("its suite and its mirror are read in either form of a list", () => {
    assert.strictEqual(codenameIn(bookworm), "bookworm")
    assert.isUndefined(codenameIn("ID=ubuntu\nVERSION_CODENAME=noble\n"))
    assert.strictEqual(mirrorIn(machine.sources), "http://deb.debian.org/debian")
    const oneLine =
      "# deb http://no.example x\ndeb [signed-by=/k.gpg arch=amd64] https://m.example/debian trixie main\n"
    assert.strictEqual(mirrorIn(["", oneLine]), "https://m.example/debian")
    assert.isUndefined(mirrorIn([]))
  })

  test("gets the packages of the programs that it has not, each once", () => {
    const missing = missingFrom((program) => !program.startsWith("docker") && program !== "slirp4netns")
    assert.deepStrictEqual(packagesFor(missing), ["docker.io", "slirp4netns"])
    assert.deepStrictEqual(packagesFor(missingFrom(() => true)), [])
    assert.match(
      sourceOf("http://m.example/debian", "trixie"),
      /^deb \[signed-by=.+\] http:\/\/m\.example\/debian trixie main$/m
    )
    const { PATH = "" } = environmentBelow("/r", "x86_64-linux-gnu", { PATH: "/usr/bin" })
    assert.match(PATH, /^\/usr\/bin:\/r\/usr\/sbin:/)
  })
})

describe("the recipes", () => {
  test("R1 stand in for what the compose file and the Dockerfile name", () => {
    const node = nodeImageIn(read("apps/cli/Dockerfile"))
    assert.match(node, /^node:24\./)
    assert.throws(() => nodeImageIn("FROM a:1\nFROM b:2\n"), /begins with a:1, b:2/)
    const { services } = parse(read("docker-compose.yml"), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly volumes?: ReadonlyArray<string> }>>
    }
    for (const [service, { dockerfile }] of Object.entries({ postgres: postgresRecipe, redis: redisRecipe })) {
      const [, folder = "none"] = (services[service]?.volumes?.[0] ?? "").split(":")
      assert.match(dockerfile, new RegExp(`^VOLUME ${folder}$`, "m"))
    }
    assert.match(read("apps/cli/Dockerfile"), /^USER node$/m)
    assert.include(nodeRecipe.dockerfile, "--uid 1000 --create-home node")
  })

  test("R1 their scripts are scripts", () => {
    for (const { files } of [postgresRecipe, redisRecipe]) {
      for (const [name, text] of Object.entries(files)) {
        const { status, stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" })
        assert.strictEqual(status, 0, `${name}: ${stderr}`)
      }
    }
  })

  test("R2 what stands in for Qdrant in the round is never taken for Qdrant", () => {
    assert.notStrictEqual(QDRANT_DOUBLE, imageOf("qdrant"))
    assert.deepStrictEqual(parse(composeOverride), {
      services: { qdrant: { image: QDRANT_DOUBLE, pull_policy: "never" } }
    })
  })
})

describe("leaks", () => {
  const whole = ["apps/cli/src/main.ts", "packages/reverie/src/index.ts", "tsconfig.json", "test/package.json"]

  test("L1 what was planted is found, and so is a test", () => {
    assert.deepStrictEqual(leaksIn("it", whole), [])
    const leaky = [...whole, "apps/cli/.env", "packages/tools/test/any.test.ts"]
    assert.deepStrictEqual(leaksIn("it", leaky), [
      "it was given apps/cli/.env",
      "it was given packages/tools/test/any.test.ts"
    ])
  })

  test("L2 a listing without the code proves nothing", () => {
    assert.lengthOf(leaksIn("it", []), whole.length)
  })

  test("L1 the list of the repository keeps all of it away", () => {
    const isIgnored = isIgnoredBy(read(".dockerignore"))
    for (const path of Object.keys(planted)) assert.isTrue(isIgnored(path), path)
    for (const path of whole) assert.isFalse(isIgnored(path), path)
  })
})

const judged: Judged = { acknowledged: 9, lost: 0, duplicated: 0, innocents: 0, recoverSeconds: 1.5, remarks: [] }
const phase = (name: string, sent: number, acknowledged: number): Phase => ({
  name,
  sent,
  acknowledged,
  refused: sent === acknowledged ? {} : { 503: sent - acknowledged }
})
const good: RoundSeen = {
  phases: [phase("one", 4, 4), phase("two", 6, 5)],
  mayRefuse: new Set(["two"]),
  looks: [{ says: "it is served", ok: true }],
  judged
}

describe("the verdict on a round", () => {
  test("a good one says what was sent, and that nothing is missing", () => {
    const { lines, ok } = verdictOfRound(good)
    assert.isTrue(ok)
    assert.deepStrictEqual(lines, [
      "one: 4 of 4 acknowledged",
      "two: 5 of 6 acknowledged; 1 with 503",
      "1 of 1 looks are as they have to be",
      "9 acknowledged, 0 lost, 0 duplicated, 0 dead letters; all were handled 1.5 s after the last"
    ])
  })

  const bad: Readonly<Record<string, readonly [Partial<RoundSeen>, RegExp]>> = {
    "R1 a lost message": [
      { judged: { ...judged, lost: 1, remarks: ["lost: desk/load-3"] } },
      /1 acknowledged .* no commit/
    ],
    "R1 a message handled twice": [
      { judged: { ...judged, duplicated: 2 } },
      /2 messages are the cause of more than one/
    ],
    "R1 a dead letter": [{ judged: { ...judged, innocents: 1 } }, /1 messages were dead-lettered/],
    "R1 messages that no one judged": [
      { judged: { ...judged, acknowledged: 3 } },
      /9 were acknowledged, and 3 were judged/
    ],
    "R2 no phase": [{ phases: [], judged: { ...judged, acknowledged: 0 } }, /nothing was sent: nothing was proved/],
    "R2 a phase without any acknowledgement": [
      { phases: [phase("one", 9, 9), phase("two", 6, 0)] },
      /two: nothing was acknowledged/
    ],
    "R3 a refusal while the database was there": [{ mayRefuse: new Set() }, /two: 1 were refused \(1 with 503\)/],
    "R4 something that is not as it has to be": [
      { looks: [{ says: "it is served", ok: false, seen: "500" }] },
      /not so: it is served \(500\)/
    ]
  }
  for (const [name, [change, words]] of Object.entries(bad)) {
    test(`${name} fails it`, () => {
      const { lines, ok } = verdictOfRound({ ...good, ...change })
      assert.isFalse(ok)
      assert.match(lines.filter((line) => line.startsWith("FAILED")).join("\n"), words)
    })
  }
})

describe("a run on stand-ins", () => {
  test("has parts, of which some may be asked for; the rest is vitest's", () => {
    assert.deepStrictEqual(partsIn([]), { parts: PARTS, unknown: [], ofVitest: [] })
    const { ofVitest, parts, unknown } = partsIn(["--part=round", "-t", "queue", "--part=leaks", "--part=nought"])
    assert.deepStrictEqual([parts, unknown, ofVitest], [["leaks", "round"], ["nought"], ["-t", "queue"]])
  })

  test("T1 T2 a run that was killed has left nothing, if there was something", () => {
    assert.isTrue(verdictOfInterrupted({ before: 1, after: 0 }).ok)
    assert.isFalse(verdictOfInterrupted({ before: 1, after: 1 }).ok)
    const { lines, ok } = verdictOfInterrupted({ before: 0, after: 0 })
    assert.deepStrictEqual([ok, lines.join().includes("nothing was proved")], [false, true])
  })

  test("containers are read as Compose prints them", () => {
    const printed = '{"Service":"worker","Name":"r-worker-1","State":"running","Health":"healthy"}\n\nno JSON\n'
    assert.deepStrictEqual(containersIn(printed), [
      { service: "worker", name: "r-worker-1", state: "running", health: "healthy" }
    ])
  })

  test("P1 a command that fails is a sentence with the last of what it said", async () => {
    const failing = must("make it", "sh", ["-c", "echo first; echo last >&2; exit 3"])
    const failure = await failing.then(
      () => undefined,
      (error: unknown) => error
    )
    assert.match(String(failure), /could not make it: sh ended with 3[\s\S]*first[\s\S]*last/)
    const gone = await must("call it", "reverie-no-such-program", []).catch(String)
    assert.match(gone, /could not call it: .* 127/)
  })

  test("L1 a load counts each answer in the phase in which it was sent", async () => {
    const said: Array<string> = []
    const statuses = [202, 503, 0, 202]
    const client = {
      say: ({ assistant, id }: { readonly assistant: string; readonly id: string }) => {
        said.push(`${assistant} ${id}`)
        return Promise.resolve(statuses[said.length - 1] ?? 202)
      }
    }
    const load = new Load(client as never, ["desk", "planner"])
    const sent = (count: number) => async () => {
      while (said.length < count) await new Promise((resolve) => setImmediate(resolve))
    }
    await load.during("one", 1_000, sent(4))
    const [first] = load.phases
    assert.deepStrictEqual([first?.name, first?.refused], ["one", { 0: 1, 503: 1 }])
    assert.strictEqual(first?.acknowledged, (first?.sent ?? 0) - 2)
    await load.during("two", 1_000, sent(said.length + 2))
    assert.deepStrictEqual(
      load.phases.map(({ name }) => name),
      ["one", "two"]
    )
    assert.strictEqual(load.acknowledged.length, said.length - 2)
    assert.strictEqual(new Set(said).size, said.length)
    assert.deepStrictEqual(said.slice(0, 2), ["planner load-1", "desk load-2"])
  })
})
