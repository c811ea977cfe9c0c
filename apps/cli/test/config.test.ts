// Settings: which source wins, what is refused, and that no secret is reported or sent elsewhere.

import { mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { applyConfig, readConfig } from "../src/config/sources.ts"
import { settings } from "../src/config/settings.ts"
import { CommandFailed } from "../src/failure.ts"
import { assertFailure, jsonOf, run, temporary } from "./command-line.ts"

interface Files {
  readonly project?: object | string
  readonly dotenv?: string
  readonly user?: object
}

const within = async (
  { dotenv, project, user }: Files,
  work: (place: { readonly directory: string; readonly home: string }) => Promise<void>
): Promise<void> => {
  await using place = await temporary()
  const home = join(place.path, "home")
  await mkdir(join(home, "reverie"), { recursive: true })
  const write = (path: string, value: object | string | undefined) =>
    value === undefined ? Promise.resolve() : writeFile(path, typeof value === "string" ? value : JSON.stringify(value))
  await write(join(place.path, "reverie.config.json"), project)
  await write(join(place.path, ".env"), dotenv)
  await write(join(home, "reverie", "config.json"), user)
  await work({ directory: place.path, home })
}

const read = (
  { directory, home }: { readonly directory: string; readonly home: string },
  env: Readonly<Record<string, string>> = {},
  isDeveloping = true
) => readConfig({ directory, isDeveloping, env: { ...env, XDG_CONFIG_HOME: home } })

const found = (config: ReturnType<typeof read>, name: string) => {
  const one = config.resolved.find(({ setting }) => setting.name === name)
  return [one?.value, one?.origin]
}

const failureOf = (work: () => unknown): CommandFailed => {
  try {
    work()
  } catch (error) {
    if (error instanceof CommandFailed) return error
    throw error
  }
  throw new Error("nothing was refused")
}

describe("C1 what wins", () => {
  test("environment, project, .env while developing, user, default", () =>
    within(
      { project: { model: "p" }, dotenv: "OPENAI_MODEL=e\nQDRANT_URL=q", user: { model: "u", deployment: "d" } },
      async (place) => {
        assert.deepStrictEqual(found(read(place, { OPENAI_MODEL: "v" }), "model"), ["v", "env"])
        assert.deepStrictEqual(found(read(place), "model"), ["p", "project"])
        assert.deepStrictEqual(found(read(place), "qdrant"), ["q", ".env"])
        assert.deepStrictEqual(found(read(place, {}, false), "qdrant"), [undefined, undefined])
        assert.deepStrictEqual(found(read(place), "deployment"), ["d", "user"])
        assert.deepStrictEqual(found(read(place), "data"), [".reverie", "default"])
      }
    ))

  test("what files say is put beside the environment and replaces nothing of it", () =>
    within({ project: { model: "p", data: "there" } }, async (place) => {
      const env: Record<string, string | undefined> = { OPENAI_MODEL: "v" }
      applyConfig(read(place, { OPENAI_MODEL: "v" }), env)
      assert.deepStrictEqual(env, { OPENAI_MODEL: "v", REVERIE_DATA: "there" })
    }))
})

describe("S1 C3 files", () => {
  test("may hold no secret, and nothing that is no setting", async () => {
    for (const { isSecret, name } of settings) {
      if (isSecret !== true) continue
      await within({ project: { [name]: "x" } }, async (place) => {
        assert.include(failureOf(() => read(place)).message, "is a secret")
      })
    }
    for (const project of ["{", "[]", { colour: "red" }, { model: {} }]) {
      await within({ project }, async (place) => {
        assert.strictEqual(failureOf(() => read(place)).failure.code, "config-invalid")
      })
    }
  })

  test("may name a file that holds one", () =>
    within({ user: { apiKeyFile: "key" } }, async (place) => {
      await writeFile(join(place.home, "reverie", "key"), "sk-canary\n")
      assert.deepStrictEqual(found(read(place), "apiKey"), ["sk-canary", "user"])
    }))
})

describe("C2 a project can not send your secret elsewhere", () => {
  const pairs: ReadonlyArray<readonly [string, string]> = [
    ["baseUrl", "OPENAI_API_KEY"],
    ["url", "REVERIE_TOKEN"],
    ["qdrant", "QDRANT_API_KEY"]
  ]
  for (const [address, variable] of pairs) {
    test(`${address} of a project is refused while ${variable} is yours, and taken once you trust it`, () =>
      within({ project: { [address]: "https://evil.example/v1" } }, async (place) => {
        read(place).assertTrusted()
        const { failure } = failureOf(() => read(place, { [variable]: "canary" }).assertTrusted())
        assert.deepStrictEqual([failure.exit, failure.code], [3, "config-untrusted"])
        assert.include(failure.message, "evil.example")
        assert.notInclude(`${failure.message}${failure.hint}`, "canary")
        await writeFile(
          join(place.home, "reverie", "config.json"),
          JSON.stringify({ trusted: "https://evil.example/v1" })
        )
        read(place, { [variable]: "canary" }).assertTrusted()
      }))
  }

  test("nor the password of your database, unless the address has one of its own", () =>
    within({ dotenv: "DATABASE_URL=postgres://me@evil.example/x" }, async (place) => {
      read(place).assertTrusted()
      const { failure } = failureOf(() => read(place, { DATABASE_PASSWORD: "canary" }).assertTrusted())
      assert.deepStrictEqual([failure.exit, failure.code], [3, "config-untrusted"])
      assert.notInclude(`${failure.message}${failure.hint}`, "canary")
      await writeFile(join(place.directory, ".env"), "DATABASE_URL=postgres://me:own@evil.example/x")
      read(place, { DATABASE_PASSWORD: "canary" }).assertTrusted()
    }))

  test("nor with its .env; its own key may go where it says", () =>
    within({ dotenv: "OPENAI_BASE_URL=https://evil.example" }, async (place) => {
      assert.strictEqual(failureOf(() => read(place, { OPENAI_API_KEY: "k" }).assertTrusted()).failure.exit, 3)
      await writeFile(join(place.directory, ".env"), "OPENAI_BASE_URL=https://evil.example\nOPENAI_API_KEY=its-own")
      read(place).assertTrusted()
    }))
})

describe("config", () => {
  const inside = (directory: string, home: string) => ({ cwd: directory, env: { XDG_CONFIG_HOME: home } })

  test("set, get, list and path; secrets are masked and never written", () =>
    within({}, async ({ directory, home }) => {
      const place = inside(directory, home)
      assert.strictEqual((await run(["config", "set", "data", "there"], place)).code, 0)
      assert.strictEqual((await run(["config", "set", "--user", "model", "m"], place)).code, 0)
      assert.strictEqual((await stat(join(directory, "reverie.config.json"))).mode & 0o777, 0o600)
      const told = jsonOf(await run(["config", "get", "data", "--json"], place))
      assert.deepStrictEqual([told["value"], told["origin"]], ["there", "project"])
      const secret = {
        ...place,
        env: { ...place.env, OPENAI_API_KEY: "sk-canary", DATABASE_URL: "postgres://u:pw@h/d" }
      }
      const listed = await run(["config", "list", "--show-origin"], secret)
      assert.match(listed.stdout, /apiKey\s+\*{8}\s+env\s+OPENAI_API_KEY/)
      assert.match(listed.stdout, /model\s+m\s+user/)
      assert.notMatch(listed.stdout, /canary|:pw@/)
      assertFailure(await run(["config", "set", "apiKey", "k", "--json"], place), 2, "usage", "secret")
      assertFailure(await run(["config", "set", "trusted", "https://x", "--json"], place), 2, "usage", "--user")
      assertFailure(await run(["config", "get", "colour", "--json"], place), 4, "not-found", "colour")
      const dry = await run(["config", "set", "model", "n", "--dry-run", "--json"], place)
      assert.isTrue(jsonOf(dry)["dryRun"])
      assert.deepStrictEqual(JSON.parse(await readFile(join(directory, "reverie.config.json"), "utf8")), {
        data: "there"
      })
    }))

  test("an address that is not trusted stops every command but those that help with it", () =>
    within({ project: { baseUrl: "https://evil.example" } }, async ({ directory, home }) => {
      const place = inside(directory, home)
      const env = { ...place.env, OPENAI_API_KEY: "sk-canary" }
      const refused = await run(["agents", "ls", "--json"], { ...place, env })
      assertFailure(refused, 3, "config-untrusted", "evil.example")
      assert.strictEqual((await run(["config", "list"], { ...place, env })).code, 0)
      assert.strictEqual((await run(["version"], { ...place, env })).code, 0)
    }))
})

describe("init", () => {
  test("I1 begins a fleet, keeps what is there, and says what comes next", () =>
    within({}, async ({ directory, home }) => {
      const place = inside2(directory, home)
      const made = jsonOf(await run(["init", "harbour", "--json"], place))
      assert.includeMembers(made["made"] as Array<string>, ["fleet.ts", "package.json", "README.md"])
      assert.deepStrictEqual([made["detected"], made["next"]], [["redis"], "cd harbour && npm i && npx reverie dev"])
      await writeFile(join(directory, "harbour", "fleet.ts"), "mine")
      const again = jsonOf(await run(["init", "harbour", "--json"], place))
      assert.deepStrictEqual(again["made"], [])
      assert.strictEqual(await readFile(join(directory, "harbour", "fleet.ts"), "utf8"), "mine")
      const dry = jsonOf(await run(["init", "other", "--dry-run", "--json"], place))
      assert.isTrue(dry["dryRun"])
      assert.isUndefined(await stat(join(directory, "other")).catch(() => undefined))
    }))

  test("I1 what it wrote leaves the choice of the data to the environment", () =>
    within({}, async ({ directory, home }) => {
      await run(["init", "harbour"], inside2(directory, home))
      const inHarbour = { ...inside2(directory, home), cwd: join(directory, "harbour") }
      const env = { ...inHarbour.env, DATABASE_URL: "postgres://127.0.0.1:1/none" }
      const listed = await run(["config", "list", "--show-origin"], { ...inHarbour, env })
      const lineOf = (name: string) => listed.stdout.split("\n").find((line) => line.startsWith(`${name} `)) ?? ""
      assert.match(lineOf("fleet"), /project/)
      assert.match(lineOf("data"), /default/)
      assert.match(lineOf("database"), /env/)
    }))
})

const inside2 = (directory: string, home: string) => ({
  cwd: directory,
  env: { XDG_CONFIG_HOME: home, REDIS_URL: "redis://127.0.0.1" }
})
