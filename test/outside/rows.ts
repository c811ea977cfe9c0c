// Rows: the ways in that a stranger tries, each with what has to come of it.
// Owns the list. Leaves running and judging to lane.ts, and bundlers to bundled.ts.
// R1  A row says what it examined; one that examined nothing has failed.
// R2  The model is the offline one.

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { root } from "../../scripts/check/program.ts"
import { bundled } from "./bundled.ts"
import { clone } from "./clone.ts"
import { create } from "./create.ts"
import { aiSdk, documents, mounted, schemas, tasks, tests } from "./entries.ts"
import { features } from "./features.ts"
import { firstSteps } from "./first-steps.ts"
import {
  answered,
  firstQuestion,
  peersProgram,
  plainProgram,
  readmeProgram,
  typedProgram,
  workersProgram,
  mountedProgram,
  testingProgram
} from "./programs.ts"
import type { Finding, Row, Scene } from "./scene.ts"
import { upgrade } from "./upgrade.ts"

const NODES = ["22.13.0", "22", "24", "26"]
const nodesFor = ({ isShort }: Scene): ReadonlyArray<string> => (isShort ? ["this"] : NODES)

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const megabytesIn = (folder: string): number =>
  filesIn(folder).reduce((sum, file) => sum + statSync(file).size, 0) / 1_048_576

const packageOf = (folder: string): string => join(folder, "node_modules/reverie")

/** Files that the code starts or reads by their URL. */
const namedByUrl = (lib: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(lib)
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) =>
      [...readFileSync(join(lib, file), "utf8").matchAll(/new URL\("(\.[^"]+)", import\.meta\.url\)/g)].map(
        ([, path = ""]) => [file, path] as const
      )
    )

const install: Row = {
  name: "install",
  says: "npm i of the tarball: one package, small, whole, without sources or tests",
  isShort: true,
  run: async (scene, figure) => {
    const folder = await scene.installed("install")
    const packages = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))
    const megabytes = megabytesIn(packageOf(folder))
    figure("packages", packages.length)
    figure("megabytes", Math.round(megabytes * 10) / 10)
    const files = filesIn(packageOf(folder))
    const urls = namedByUrl(join(packageOf(folder), "lib"))
    return [
      ["at most 30 packages come along", packages.length <= 30, packages.join(" ")],
      ["at most 60 MB", megabytes <= 60, `${megabytes} MB`],
      ["no compiler and no second tokenizer", !packages.some((name) => /^(typescript|js-tiktoken)$/.test(name))],
      ["no sources and no tests", !files.some((file) => /\.test\.|[^d]\.ts$/.test(file))],
      ["it names files by their URL", urls.length > 0],
      ...urls.map(([file, path]): Finding => {
        const isThere = existsSync(join(packageOf(folder), "lib", path))
        return [`${path}, which ${file} starts or reads, is in the package`, isThere]
      })
    ]
  }
}

const publish: Row = {
  name: "publish",
  says: "npm publish --dry-run of the tarball",
  run: async (scene) => {
    const folder = scene.program("publish")
    const said = await scene.run(folder, "npm", ["publish", "--dry-run", "--loglevel=notice", scene.tarball])
    return [
      ["npm would publish it", said.code === 0 && /\+ reverie@/.test(said.text), said.text.slice(-800)],
      ["nothing is skipped as private", !/private/i.test(said.text)]
    ]
  }
}

const hello: Row = {
  name: "hello",
  says: "the README's first program, in JavaScript, on every Node",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("hello", { "hello.mjs": plainProgram() })
    const findings: Array<Finding> = []
    for (const version of nodesFor(scene)) {
      rmSync(join(folder, ".reverie"), { recursive: true, force: true })
      const said = await scene.run(folder, "node", ["hello.mjs"], { node: await scene.node(version) })
      findings.push(...answered(`Node ${version}`, said))
    }
    return findings
  }
}

const readme: Row = {
  name: "readme",
  says: "the README's first program letter for letter, as a .ts file that Node runs itself",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("readme", { "hello.ts": readmeProgram() })
    const findings: Array<Finding> = []
    for (const version of scene.isShort ? ["this"] : ["22", "24", "26"]) {
      rmSync(join(folder, ".reverie"), { recursive: true, force: true })
      const said = await scene.run(folder, "node", ["hello.ts"], { node: await scene.node(version) })
      findings.push(...answered(`Node ${version}`, said))
    }
    return findings
  }
}

const oldNode: Row = {
  name: "node-20",
  says: "Node 20 is refused in one sentence",
  run: async (scene) => {
    const folder = await scene.installed("node-20", { "hello.mjs": plainProgram() })
    const node = await scene.node("20")
    const said = await scene.run(folder, "node", ["hello.mjs"], { node })
    const command = await scene.run(folder, "node", ["node_modules/reverie/lib/cli.js", "--version"], { node })
    const sentence = /reverie needs Node 22\.13 or newer, and this is v20/
    return [
      ["the program learns which Node it needs", said.code !== 0 && sentence.test(said.stderr), said.stderr],
      ["so is the command", command.code !== 0 && sentence.test(command.stderr), command.text]
    ]
  }
}

/** The folder that is in the tarball. */
export const unpacked = async (scene: Scene): Promise<string> => {
  const folder = scene.program("unpacked")
  await scene.must(folder, "tar", ["-xzf", scene.tarball])
  return join(folder, "package")
}

const copied = (name: string, flags: ReadonlyArray<string>): Row => ({
  name,
  says: `npm i ${flags.join(" ")} of the package's folder`.replaceAll("  ", " "),
  run: async (scene) => {
    const source = await unpacked(scene)
    const folder = scene.program(name, { "hello.mjs": plainProgram() })
    await scene.must(folder, "npm", ["install", "--no-audit", "--offline", ...flags, source])
    const findings: Array<Finding> = []
    for (const version of ["22", "24"]) {
      rmSync(join(folder, ".reverie"), { recursive: true, force: true })
      const said = await scene.run(folder, "node", ["hello.mjs"], { node: await scene.node(version) })
      findings.push(...answered(`Node ${version}`, said))
    }
    return findings
  }
})

const TYPES = [
  ["nodenext", "nodenext"],
  ["esnext", "bundler"]
] as const

const types: Row = {
  name: "types",
  says: "strict tsc 5.9 and 7, nodenext and bundler, libraries checked too: 0 errors, and mistakes are found",
  isShort: true,
  run: async (scene) => {
    const others = scene.isShort ? [] : ["@types/node@22", "five@npm:typescript@5.9.3", "seven@npm:typescript@7.0.2"]
    const programs = { "program.ts": typedProgram(), "tested.ts": testingProgram(), "route.ts": mountedProgram }
    const folder = await scene.installed("types", programs, others)
    const compilers = scene.isShort
      ? [["7", join(root, "node_modules/typescript/bin/tsc")]]
      : [
          ["5.9", "node_modules/five/bin/tsc"],
          ["7", "node_modules/seven/bin/tsc"]
        ]
    const findings: Array<Finding> = []
    for (const [version, tsc] of compilers) {
      for (const [module, moduleResolution] of TYPES) {
        for (const types of scene.isShort ? [[]] : [[], ["node"]]) {
          const compilerOptions = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false }
          const project = { ...compilerOptions, target: "es2022", module, moduleResolution, types }
          scene.program("types", {
            "package.json": readFileSync(join(folder, "package.json"), "utf8"),
            "tsconfig.json": JSON.stringify({ compilerOptions: project, files: Object.keys(programs) })
          })
          const said = await scene.run(folder, "node", [tsc ?? "", "--listFiles"])
          const where = `tsc ${version}, ${moduleResolution}, types of node ${types.length === 0 ? "absent" : "there"}`
          const isRead = ["index", "testing", "server"].every((entry) =>
            said.stdout.includes(`reverie/lib/${entry}.d.ts`)
          )
          findings.push([`${where}: no error`, said.code === 0 && isRead, said.stdout.slice(0, 1_500)])
        }
      }
    }
    return findings
  }
}

const judged: Row = {
  name: "publint",
  says: "publint, and in the full lane @arethetypeswrong/cli, find nothing wrong with the tarball",
  isShort: true,
  run: async (scene) => {
    const own = (...path: ReadonlyArray<string>) => join(root, "node_modules", ...path)
    const folder = scene.program("publint")
    const lint = await scene.run(folder, "node", [own("publint/src/cli.js"), "run", scene.tarball, "--strict"])
    const findings: Array<Finding> = [["publint is content", lint.code === 0 && /All good/.test(lint.text), lint.text]]
    if (scene.isShort) return findings
    const attw = own("@arethetypeswrong/cli/dist/index.js")
    const said = await scene.run(folder, "node", [attw, "--profile", "esm-only", "--format", "ascii", scene.tarball])
    return [...findings, ["the types are right", said.code === 0 && /from ESM\): 🟢/.test(said.text), said.text]]
  }
}

const version: Row = {
  name: "version",
  says: "the command: --version and --help, without a clone",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("version")
    const wanted = JSON.parse(readFileSync(join(packageOf(folder), "package.json"), "utf8")) as { version: string }
    const findings: Array<Finding> = []
    for (const each of nodesFor(scene)) {
      const node = await scene.node(each)
      const said = await scene.run(folder, "npx", ["--offline", "reverie", "--version"], { node })
      findings.push([`Node ${each}: its version`, said.stdout === `${wanted.version}\n` && said.code === 0, said.text])
      findings.push([`Node ${each}: nothing else is said`, !/warning/i.test(said.stderr.replaceAll(/^npm .*$/gm, ""))])
    }
    const help = await scene.run(folder, "npx", ["--offline", "reverie", "--help"])
    return [...findings, ["it says what it can do", /dev/.test(help.stdout) && help.code === 0, help.text]]
  }
}

const workers: Row = {
  name: "workers",
  says: "what runs beside the program: a tool in a process of its own, the WASM of blocks",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("workers", workersProgram)
    const findings: Array<Finding> = []
    for (const each of nodesFor(scene)) {
      rmSync(join(folder, "data"), { recursive: true, force: true })
      const said = await scene.run(folder, "node", ["desk.mjs"], { node: await scene.node(each) })
      findings.push([`Node ${each}: the isolated tool answers`, /^25 primes/m.test(said.stdout), said.text])
      findings.push([`Node ${each}: a block is edited`, /berth 7 is free until noon/.test(said.stdout), said.text])
    }
    return findings
  }
}

const peers: Row = {
  name: "peers",
  says: "an optional peer that is missing is named with the one command",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("peers", { "peers.mjs": peersProgram })
    const said = await scene.run(folder, "node", ["peers.mjs"])
    const wanted: ReadonlyArray<readonly [string, RegExp]> = [
      ["MCP", /McpUnavailable: .* npm i @modelcontextprotocol\/client\n/],
      ["a deployment", /PackageMissing: .* npm i bullmq pg\n[^]*PackageMissing: .* npm i bullmq ioredis pg\n/],
      ["Qdrant", /an index in Qdrant needs .* npm i @qdrant\/js-client-rest/]
    ]
    return wanted.map(([what, sentence]) => [`${what}: the command is named`, sentence.test(said.text), said.text])
  }
}

const second: Row = {
  name: "second-process",
  says: "a second process on the same directory is refused, with the first one's number",
  isShort: true,
  run: async (scene) => {
    const busy = `${plainProgram()}
import { spawnSync } from "node:child_process"
`
      .replace("await fleet.close()", "")
      .concat('const said = spawnSync(process.execPath, ["other.mjs"], { encoding: "utf8" })\n')
      .concat("console.log(`${process.pid} ${said.status} ${said.stderr}`)\nawait fleet.close()\n")
    const folder = await scene.installed("second", { "hello.mjs": busy, "other.mjs": plainProgram() })
    const said = await scene.run(folder, "node", ["hello.mjs"])
    const [, pid = "none", code = "0"] = /^(\d+) (\d+) /m.exec(said.stdout) ?? []
    return [
      ...answered("the first", said),
      ["the second is refused", code !== "0" && said.stdout.includes(`(pid ${pid})`), said.text]
    ]
  }
}

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/

const init: Row = {
  name: "init",
  says: "reverie init in an empty folder, npm i, npx reverie dev: the page is there, packed; the first question is answered",
  run: async (scene) => {
    const command = await scene.installed("command")
    const folder = scene.program("init")
    rmSync(join(folder, "package.json"))
    const made = await scene.must(folder, "node", [join(packageOf(command), "lib/cli.js"), "init"])
    // The version that it names is not published: the tarball stands for it.
    await scene.must(folder, "npm", ["install", "--no-audit", "--no-fund", "--offline", scene.tarball])
    const findings: Array<Finding> = [["init says what comes next", /npm i/.test(made.stdout), made.stdout]]
    writeFileSync(join(folder, "ask.mjs"), firstQuestion)
    const told = await scene.must(folder, "node", ["ask.mjs"])
    findings.push(["the desk says what time it is", /^\d{4}-\d\d-\d\dT/m.test(told.stdout), told.stdout])
    // As it stands where `npm i reverie` came before `reverie init`.
    const { type: _, ...untyped } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { type?: string }
    writeFileSync(join(folder, "package.json"), JSON.stringify(untyped))
    for (const each of ["22", "24"]) {
      const node = await scene.node(each)
      rmSync(join(folder, ".reverie"), { recursive: true, force: true })
      let served: readonly [string, string] = ["", ""]
      const meanwhile = async () => (served = await pageOf(folder))
      const said = await scene.run(folder, "npx", ["--offline", "reverie", "dev"], { node, seconds: 60, meanwhile })
      const isPacked = served[0] === "gzip" && served[1].includes("<html")
      findings.push([`Node ${each}: the address is printed`, ADDRESS.test(said.text), said.text])
      findings.push([`Node ${each}: the page is served packed`, isPacked, served.join(" ")])
      findings.push([`Node ${each}: Node warns of nothing`, !said.text.includes("Warning"), said.text])
    }
    return findings
  }
}

/** Waits for the address that a server writes into its data directory, and asks for its page. */
const pageOf = async (folder: string): Promise<readonly [string, string]> => {
  const { request } = await import("node:http")
  const file = join(folder, ".reverie/server.json")
  for (let tries = 0; tries < 300; tries++) {
    const url = existsSync(file) ? ADDRESS.exec(readFileSync(file, "utf8"))?.[0] : undefined
    if (url !== undefined) {
      return new Promise((resolve, reject) => {
        const asked = request(url, { headers: { "accept-encoding": "gzip", accept: "text/html" } }, (answer) => {
          const chunks: Array<Buffer> = []
          answer.on("data", (chunk: Buffer) => chunks.push(chunk))
          answer.on("end", () => {
            const body = Buffer.concat(chunks)
            const encoding = answer.headers["content-encoding"] ?? ""
            resolve([encoding, (encoding === "gzip" ? gunzipSync(body) : body).toString()])
          })
        })
        asked.on("error", reject)
        asked.end()
      })
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return ["", "no server said where it is"]
}

const start: Row = {
  name: "start",
  says: "npx reverie start in an empty folder plays the harbour's day, until the address is printed and to its end",
  run: async (scene, figure) => {
    const folder = await scene.installed("start")
    const begun = performance.now()
    const args = ["--offline", "reverie", "start"]
    const said = await scene.run(folder, "npx", args, { until: ADDRESS, seconds: 60 })
    figure("secondsToAddress", Math.round((performance.now() - begun) / 100) / 10)
    const played = await scene.run(folder, "npx", [...args, "--exit", "--data", "day"], { seconds: 120 })
    return [
      ["the address is printed", ADDRESS.test(said.text), said.text],
      ["the day is played", played.code === 0 && /59 accepted/.test(played.text), played.text.slice(-800)]
    ]
  }
}

export const rows: ReadonlyArray<Row> = [
  install,
  publish,
  hello,
  readme,
  firstSteps,
  tests,
  mounted,
  documents,
  tasks,
  oldNode,
  copied("link", []),
  copied("copy", ["--install-links"]),
  types,
  schemas,
  judged,
  version,
  workers,
  peers,
  aiSdk,
  second,
  init,
  start,
  clone,
  create,
  upgrade,
  ...features,
  ...bundled
]
