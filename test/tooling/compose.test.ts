import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { parse } from "yaml"
import { databaseUrl } from "reverie"
import { filesOfRepository } from "../architecture/repository.ts"
import { isIgnoredBy, linesOf } from "./ignored.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

interface Service {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string | null>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly deploy?: { readonly replicas: number }
  readonly healthcheck: { readonly test: ReadonlyArray<string>; readonly retries: number }
  readonly ports?: ReadonlyArray<string>
  readonly volumes?: ReadonlyArray<string>
}

const text = read("docker-compose.yml")
const compose = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const { services, volumes } = compose
const names = Object.keys(services)
const serviceOf = (name: string): Service => {
  const service = services[name]
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`)
  return service
}

const servers = ["postgres", "qdrant", "redis"]
const processes = ["api", "worker"]

const dockerfile = read("apps/cli/Dockerfile")
const isIgnored = isIgnoredBy(read(".dockerignore"))

/** A value that anyone who starts it can replace: `${NAME:-default}`, or nothing at all. */
const isReplaceable = (value: string | null): boolean => value === null || /^\$\{[A-Z_]+(:-[^}]*)?\}$/.test(value)

/** A service's environment as Compose hands it on. */
const interpolated = (
  environment: Readonly<Record<string, string | null>>,
  shell: Readonly<Record<string, string>>
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      (value ?? "").replaceAll(
        /\$\{(\w+):-([^}]*)\}/g,
        (_, variable: string, fallback: string) => shell[variable] ?? fallback
      )
    ])
  )

describe("docker-compose.yml", () => {
  test("has the servers, an API and two workers, and says the one command that starts them", () => {
    assert.deepStrictEqual(names.toSorted(), [...processes, ...servers].toSorted())
    assert.strictEqual(serviceOf("worker").deploy?.replicas, 2)
    assert.match(text, /^# {3}docker compose up --detach --build --wait$/m)
  })

  test("every image has its version, of two numbers at least", () => {
    for (const name of names) assert.match(serviceOf(name).image, /^[a-z/]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/, name)
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    assert.isNotEmpty(bases)
    for (const base of bases) assert.match(base ?? "", /^node:24\.\d+\.\d+-slim$/)
  })

  test("every service has a health check, and a process is asked where it listens", () => {
    for (const name of names) {
      const { test: asked, retries } = serviceOf(name).healthcheck
      assert.isAbove(asked.length, 1, name)
      assert.isAbove(retries, 0, name)
    }
    const paths = read("apps/server/src/health.ts")
    for (const name of processes) {
      const { command = [], healthcheck } = serviceOf(name)
      const [, port, path] = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'/.exec(healthcheck.test.join(" ")) ?? []
      assert.strictEqual(port, command[command.indexOf("--port") + 1], name)
      assert.include(paths, `"${path}"`)
    }
  })

  test("a process waits until every server is healthy", () => {
    for (const name of processes) {
      const waits = serviceOf(name).depends_on ?? {}
      assert.deepStrictEqual(Object.keys(waits).toSorted(), servers, name)
      for (const { condition } of Object.values(waits)) assert.strictEqual(condition, "service_healthy")
    }
  })

  test("the API alone is published, on this machine's loopback: nothing else can be taken, and nothing else is needed", () => {
    for (const name of names) {
      assert.deepStrictEqual(serviceOf(name).ports ?? [], name === "api" ? ["127.0.0.1:4000:4000"] : [], name)
    }
  })

  test("each server keeps its data in a volume of its own", () => {
    assert.deepStrictEqual(Object.keys(volumes).toSorted(), servers)
    for (const name of servers) {
      assert.strictEqual(serviceOf(name).volumes?.length, 1, name)
      assert.match(serviceOf(name).volumes?.[0] ?? "", new RegExp(`^${name}:/`))
    }
  })

  test("a secret can be replaced, and none but a default for local use is in clear", () => {
    for (const name of names) {
      for (const [variable, value] of Object.entries(serviceOf(name).environment ?? {})) {
        if (/PASSWORD|KEY|TOKEN|SECRET/.test(variable)) assert.isTrue(isReplaceable(value), `${name} ${variable}`)
        assert.notMatch(value ?? "", /:\/\/[^/]*\$/, `${name} ${variable}: what is replaced is not escaped in a URL`)
        assert.notMatch(value ?? "", /:\/\/[^@/]*:[^@/]*@/, `${name} ${variable}: a password stands in a URL`)
      }
    }
  })

  test("any password of the database will do, whatever stands for something else in a URL", () => {
    for (const password of ["reverie", "p@ss/w#rd:%20", "50%?a=b&c", " ä\\'"]) {
      const given = interpolated(serviceOf("api").environment ?? {}, { POSTGRES_PASSWORD: password })
      const { DATABASE_PASSWORD = "", DATABASE_URL = "" } = given
      const url = new URL(databaseUrl({ database: DATABASE_URL, password: DATABASE_PASSWORD }))
      assert.deepStrictEqual([decodeURIComponent(url.password), url.host], [password, "postgres:5432"])
      const server = interpolated(serviceOf("postgres").environment ?? {}, { POSTGRES_PASSWORD: password })
      assert.strictEqual(server["POSTGRES_PASSWORD"], password)
      assert.strictEqual(url.username, server["POSTGRES_USER"])
      assert.strictEqual(url.pathname, `/${server["POSTGRES_DB"]}`)
    }
  })

  test("addresses name services by what they listen on", () => {
    const { environment = {} } = serviceOf("api")
    const places = ["DATABASE_URL", "REDIS_URL", "QDRANT_URL"].map(
      (variable) => new URL(environment[variable] ?? "").host
    )
    assert.deepStrictEqual(places, ["postgres:5432", "redis:6379", "qdrant:6333"])
  })
})

/** The names of variables in the code of a room: words in capitals, in quotation marks. */
const variablesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [...read(join(folder, path)).matchAll(/"([A-Z]+(?:_[A-Z]+)+)"/g)].map(([, name = ""]) => name))

describe("the processes of docker-compose.yml", () => {
  const help = spawnSync(process.execPath, ["apps/cli/src/main.ts", "serve", "--help"], { cwd: root, encoding: "utf8" })

  test("get the variables that the code reads, and no others", () => {
    const read = new Set(["packages/reverie/src", "apps/cli/src"].flatMap(variablesIn))
    const needed = [...read].filter((name) => /^(OPENAI|DATABASE|REDIS)_|^QDRANT_URL$/.test(name))
    assert.includeMembers(needed, ["DATABASE_URL", "REDIS_URL", "QDRANT_URL", "OPENAI_API_KEY"])
    for (const name of processes) {
      const given = Object.keys(serviceOf(name).environment ?? {})
      assert.includeMembers(given, needed, name)
      for (const variable of given)
        assert.isTrue(read.has(variable), `${name} is given ${variable}, which nothing reads`)
    }
  })

  test("are commands that the command line knows, with flags and roles that it has", () => {
    assert.strictEqual(help.status, 0, help.stderr)
    for (const name of processes) {
      const [command, ...args] = serviceOf(name).command ?? []
      assert.strictEqual(command, "serve")
      const flags = args.filter((arg) => arg.startsWith("--"))
      assert.isNotEmpty(flags)
      for (const flag of flags) assert.match(help.stdout, new RegExp(`^ +${flag}\\b`, "m"))
      const role = args[args.indexOf("--role") + 1]
      assert.strictEqual(role, name)
      assert.match(help.stdout, new RegExp(`--role .*"${role}"`))
    }
  })

  test("serve others only under the names by which the published port is asked", () => {
    const { command = [], ports = [] } = serviceOf("api")
    assert.include(command, "--open")
    const named = command.slice(command.indexOf("--allow-host") + 1)
    assert.deepStrictEqual(named, ["localhost", "127.0.0.1"])
    assert.match(ports.join(), /^127\.0\.0\.1:/)
    assert.notInclude(serviceOf("worker").command ?? [], "--open")
  })

  test("run a fleet that is in the image", () => {
    const [, fleet = ""] = /:-([^}]+)/.exec(serviceOf("api").environment?.["REVERIE_FLEET"] ?? "") ?? []
    assert.isTrue(existsSync(join(root, fleet)), fleet)
    assert.include(dockerfile, `"${fleet}"`)
  })
})

describe("the image", () => {
  test("is built from what is there, by a user that is not root, with the packages of the lockfile", () => {
    for (const name of processes) assert.strictEqual(serviceOf(name).build?.dockerfile, "apps/cli/Dockerfile")
    assert.match(dockerfile, /^USER node$/m)
    assert.match(dockerfile, /npm ci --ignore-scripts --omit=dev/)
    const workspaces = [...dockerfile.matchAll(/--workspace (\S+)/g)].map(([, folder = ""]) => folder)
    assert.isNotEmpty(workspaces)
    for (const folder of workspaces) assert.isTrue(existsSync(join(root, folder, "package.json")), folder)
    const [, main = ""] = /^ENTRYPOINT .*"([^"]+)"\]$/m.exec(dockerfile) ?? []
    assert.isTrue(existsSync(join(root, main)), main)
  })

  test("is built from one list of what it is given, which every builder reads", () => {
    assert.deepStrictEqual(filesOfRepository("*.dockerignore", "**/*.dockerignore"), [".dockerignore"])
  })

  test("builds the page with every file of another package that the page imports", () => {
    const imported = filesOfRepository("apps/dashboard/src/**/*.ts", "apps/dashboard/src/**/*.tsx").flatMap((path) =>
      [...read(path).matchAll(/^import (?!type )[^"]*"@reverie\/([^/"]+)\/([^"]+)"/gm)].map(
        ([, name = "", entry = ""]) => {
          const { exports } = JSON.parse(read(`packages/${name}/package.json`)) as { exports: Record<string, string> }
          return `packages/${name}/${exports[`./${entry}`]?.replace("./", "") ?? entry}`
        }
      )
    )
    assert.isNotEmpty(imported)
    const [, page = ""] = dockerfile.split(/^FROM .* AS page$/m)
    for (const path of imported) assert.include(page.split("\nFROM ")[0], `COPY --from=sources /sources/${path} `)
  })

  test("is given every file that it copies", () => {
    const copied = [...dockerfile.matchAll(/^COPY --from=sources \/sources\/(\S+)/gm)].map(([, path = ""]) => path)
    const [, listed = ""] = /&& \\\n {2}cp ([^/]+) \/manifests$/m.exec(dockerfile) ?? []
    const named = [...copied, ...listed.split(" ")]
    assert.includeMembers(named, ["packages", "apps", "tsconfig.json", "package-lock.json"])
    for (const path of named) {
      assert.isTrue(existsSync(join(root, path)), `${path} is not there`)
      assert.isFalse(isIgnored(path), `${path} is copied and not given to the builder`)
    }
  })

  test("is given every manifest that npm ci compares, and every file of code that is no test", () => {
    const manifests = filesOfRepository("package.json", "**/package.json")
    const code = filesOfRepository("apps/**/src/**", "packages/**/src/**")
    assert.isAbove(manifests.length, 20)
    assert.isAbove(code.length, 500)
    for (const path of [...manifests, ...code]) assert.isFalse(isIgnored(path), path)
  })

  test("is given no more than it copies, and no tests", () => {
    const given = filesOfRepository().filter((path) => !isIgnored(path))
    const copied = /^(packages|apps|examples)\/|^(package\.json|package-lock\.json|\.npmrc|tsconfig\.json)$/
    const others = given.filter((path) => !copied.test(path))
    assert.deepStrictEqual(others, ["test/package.json"])
    assert.deepStrictEqual(
      given.filter((path) => /\btest\//.test(path) && path !== "test/package.json"),
      []
    )
  })

  test("is given nothing that is in a working copy and not in the repository: data, keys, packages, what was built", () => {
    const unwanted = linesOf(read(".gitignore")).map((line) => line.replace(/\/$/, ""))
    assert.includeMembers([...unwanted], ["node_modules", ".reverie", "dist"])
    const names = [...unwanted.map((name) => name.replace("*", "x")), ".env", ".env.local", ".git", ".vscode"]
    const folders = ["", "apps/", "apps/cli/", "packages/tools/src/deep/", "packages/adapters/mcp/", "examples/harbor/"]
    for (const folder of folders) {
      for (const name of names) {
        assert.isTrue(isIgnored(`${folder}${name}`), `${folder}${name}`)
        assert.isTrue(isIgnored(`${folder}${name}/inner/file`), `${folder}${name}/inner/file`)
      }
    }
  })
})

describe("the list of what a builder is not given", () => {
  const judged = isIgnoredBy("# a remark\n*\n!kept\n**/data\nkept/*/test\n!kept/data/this.txt\n")

  test("I1 the last line that matches decides, for everything below it too", () => {
    assert.deepStrictEqual(
      ["other", "other/deep", "kept", "kept/deep/file", "kept/data", "kept/a/data/b", "kept/data/this.txt"].map(judged),
      [true, true, false, false, true, true, false]
    )
  })

  test("I2 one star stays within one name", () => {
    assert.deepStrictEqual(["kept/a/test/b", "kept/test", "kept/a/b/test"].map(judged), [true, false, false])
  })
})
