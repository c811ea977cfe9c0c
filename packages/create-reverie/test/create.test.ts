import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

const room = resolve(import.meta.dirname, "..")
const packages = resolve(room, "..")
const bin = join(room, "bin.mjs")
const names = ["support", "research", "personal", "scale", "nextjs"]

interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A key of this machine is no business of a test; a server neither. */
const bare = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(OPENAI_|REVERIE_|NODE_|VITEST|DATABASE_URL|REDIS_URL)/.test(name))
)

const node = (cwd: string, args: ReadonlyArray<string>): Promise<Said> =>
  new Promise((done) => {
    execFile(process.execPath, [...args], { cwd, env: bare }, (error, stdout, stderr) => {
      done({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout, stderr })
    })
  })

let place = ""

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "create-reverie-"))
})

afterEach(() => rm(place, { recursive: true, force: true }))

const create = (...args: ReadonlyArray<string>): Promise<Said> => node(place, [bin, ...args])

const read = (...path: ReadonlyArray<string>): Promise<string> => readFile(join(place, ...path), "utf8")

const preloadOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`

interface Manifest {
  readonly type?: string
  readonly version?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

const manifestOf = async (path: string): Promise<Manifest> => JSON.parse(await readFile(path, "utf8")) as Manifest

describe("create-reverie", () => {
  for (const name of names) {
    it(`${name}: has its files, and its own tests are green without a key`, async () => {
      const said = await create("my-fleet", "--template", name, "--no-install")
      assert.deepStrictEqual([said.code, said.stderr], [0, ""])
      assert.match(said.stdout, /\n {4}cd my-fleet && npm i\n {4}npm run dev\n$/)
      const { dependencies, scripts, type } = await manifestOf(join(place, "my-fleet/package.json"))
      const { version } = await manifestOf(join(room, "package.json"))
      assert.deepStrictEqual([type, dependencies?.["reverie"]], ["module", version])
      assert.containsAllKeys(scripts, ["start", "dev", "test"])
      const { compilerOptions } = JSON.parse(await read("my-fleet/tsconfig.json")) as {
        readonly compilerOptions: Readonly<Record<string, unknown>>
      }
      assert.deepInclude(compilerOptions, { strict: true, module: "nodenext", noEmit: true })
      assert.include((await read("my-fleet/.gitignore")).split("\n"), ".reverie")
      assert.isAtMost((await read("my-fleet/README.md")).trim().split("\n").length, 11)
      assert.isAtMost((await read("my-fleet/fleet.ts")).trim().split("\n").length, 80)

      await mkdir(join(place, "my-fleet/node_modules"))
      await symlink(join(packages, "reverie"), join(place, "my-fleet/node_modules/reverie"))
      const tested = await node(join(place, "my-fleet"), ["--test", "--test-reporter", "tap"])
      assert.strictEqual(tested.code, 0, tested.stdout + tested.stderr)
      assert.match(tested.stdout, /^# tests [2-9]$/m)
      assert.match(tested.stdout, /^# fail 0$/m)
      assert.isFalse(existsSync(join(place, "my-fleet/.reverie")), "a test leaves nothing behind")
    })
  }

  it("asks nothing without a terminal: the folder my-fleet and the template support", async () => {
    const { code, stdout } = await create("--no-install", "--yes")
    assert.strictEqual(code, 0)
    assert.match(stdout, /^support: /)
    assert.include(await readdir(join(place, "my-fleet")), "fleet.ts")
  })

  it("takes the folder it stands in, and a fresh repository", async () => {
    await mkdir(join(place, ".git"))
    const { code, stdout } = await create(".", "--no-install")
    assert.deepStrictEqual([code, /\n {4}npm i\n/.test(stdout)], [0, true])
    assert.include(await readdir(place), "fleet.ts")
  })

  it("asks for the clients that the adapters of this version are made for", async () => {
    await create("big", "--template", "scale", "--no-install")
    const { dependencies = {} } = await manifestOf(join(place, "big/package.json"))
    const adapter = await manifestOf(join(packages, "adapters/queue-bullmq/package.json"))
    for (const name of ["bullmq", "ioredis", "pg"]) {
      assert.strictEqual(dependencies[name], `^${adapter.dependencies?.[name]}`)
    }
    const { version } = await manifestOf(join(room, "package.json"))
    assert.strictEqual((await manifestOf(join(packages, "reverie/package.json"))).version, version)
  })

  it("scale: goes to the database that .env names, and into .reverie without one", async () => {
    await create("big", "--template", "scale", "--no-install")
    const [big, main] = [join(place, "big"), resolve(packages, "../apps/cli/src/main.ts")]
    await mkdir(join(big, "node_modules"))
    await symlink(join(packages, "reverie"), join(big, "node_modules/reverie"))
    const ask = [main, "run", "--quiet", "-p", '/hand_over note="Weigh the crate"']
    const embedded = await node(big, ask)
    assert.deepStrictEqual([embedded.code, embedded.stdout.trim()], [0, "The worker has it."], embedded.stderr)
    assert.isTrue(existsSync(join(big, ".reverie")))
    // Port 1 answers nothing on any machine.
    await writeFile(join(big, ".env"), (await read("big/.env.example")).replace(":5432", ":1").replace(":6379", ":1"))
    assert.match((await node(big, ask)).stderr, /postgres:\/\/reverie@127\.0\.0\.1:1\/reverie can not be opened/)
  })

  it("installs with npm in the new folder, and says in one sentence when that failed", async () => {
    const path = join(place, "path")
    await mkdir(path)
    for (const [name, code] of [
      ["good", 0],
      ["bad", 1]
    ] as const) {
      await writeFile(join(path, "npm"), `#!/bin/sh\necho "npm $* in $(basename "$PWD")"\nexit ${code}\n`, {
        mode: 0o755
      })
      const said = await node(place, [
        "--import",
        preloadOf(`process.env.PATH = "${path}:" + process.env.PATH`),
        bin,
        name
      ])
      assert.deepStrictEqual([said.code, said.stdout.split("\n")[0]], [code, `npm i in ${name}`])
      if (code === 0) assert.match(said.stdout, /\n {4}cd good\n {4}npm run dev\n$/)
      else
        assert.strictEqual(
          said.stderr,
          "create-reverie: the files are written, and npm i failed in bad; run it there again\n"
        )
    }
  })

  const refusals: ReadonlyArray<readonly [string, ReadonlyArray<string>, number, RegExp]> = [
    ["an unknown template", ["x", "--template", "suport"], 2, /no template "suport"; did you mean support\? There are/],
    ["another unknown template", ["x", "--template", "next"], 2, /did you mean nextjs\?/],
    ["a template without a name", ["x", "--template"], 2, /--template needs a name: support, research/],
    ["a name of every object", ["x", "--template", "constructor"], 2, /there is no template "constructor"/],
    ["a wrong option", ["x", "--no-instal"], 2, /no option --no-instal; did you mean --no-install\?/],
    ["a wrong short option", ["x", "-z"], 2, /there is no option -z/],
    ["a value where none belongs", ["x", "--yes=7"], 2, /--yes takes no value/],
    ["two folders", ["x", "y"], 2, /one folder at a time/]
  ]
  for (const [what, args, exit, sentence] of refusals) {
    it(`N3: refuses ${what} in one sentence, and writes nothing`, async () => {
      const { code, stderr, stdout } = await create(...args, "--no-install")
      assert.deepStrictEqual([code, stdout], [exit, ""])
      assert.match(stderr, sentence)
      assert.strictEqual(stderr.trim().split("\n").length, 1)
      assert.deepStrictEqual(await readdir(place), [])
    })
  }

  it("N1: refuses a folder that is not empty, and leaves what is in it as it is", async () => {
    await mkdir(join(place, "taken"))
    await writeFile(join(place, "taken/fleet.ts"), "mine")
    await writeFile(join(place, "file"), "mine")
    for (const [folder, sentence] of [
      ["taken", /the folder taken is not empty \(fleet\.ts\)/],
      ["file", /file can not be used: it is a file/]
    ] as const) {
      const { code, stderr } = await create(folder, "--no-install")
      assert.strictEqual(code, 5)
      assert.match(stderr, sentence)
      assert.strictEqual(stderr.trim().split("\n").length, 1)
    }
    assert.deepStrictEqual([await read("taken/fleet.ts"), await read("file")], ["mine", "mine"])
    assert.deepStrictEqual(await readdir(join(place, "taken")), ["fleet.ts"])
  })

  for (const [version, isTaken] of [
    ["20.11.0", false],
    ["22.12.0", false],
    ["22.13.0", true],
    ["26.0.0", true]
  ] as const) {
    it(`N2: ${isTaken ? "takes" : "refuses, in one sentence,"} Node ${version}`, async () => {
      const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`
      const { code, stderr, stdout } = await node(place, ["--import", preloadOf(old), bin, "x", "--no-install"])
      assert.strictEqual(code, isTaken ? 0 : 1)
      assert.strictEqual(existsSync(join(place, "x")), isTaken)
      assert.strictEqual(stdout.startsWith("Node runs TypeScript files by itself from 22.18 on"), version === "22.13.0")
      if (!isTaken)
        assert.match(stderr, /^create-reverie: Reverie needs Node 22\.13 or newer, and this is Node \S+: see \S+\n$/)
    })
  }
})
