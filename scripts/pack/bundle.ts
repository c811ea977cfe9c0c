// Bundle: the sources as few files of JavaScript, and their types as one file for each entry point.
// Owns what is bundled in, and the places where the sources name a file by its URL. Leaves the lists to parts.ts.
// B1  Everything is bundled in but the optional peers: anyone who installs the package installs one package.
// B2  What is named by `new URL(..., import.meta.url)` is found in the package too, or the build fails.
// B3  The types name nothing that is not installed.
// B5  What an import of the package loads lies in three files: a file costs more than what is in it. What the command, a child
//     process or a thread shares with it stays apart, so that none of them loads the rest; what a command needs that asks a running
//     server is a file of its own.
// B4  Anyone who bundles it again needs no optional peer: they are asked for by names that bundlers do not follow.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { build, type Rolldown } from "tsdown"
import { root } from "../check/program.ts"
import { seeThrough } from "./barrels.ts"
import { entries, optionalPeers, places } from "./parts.ts"

const oneOf = (names: ReadonlyArray<string>): RegExp => new RegExp(`^(${names.join("|")})(/|$)`)
const peers = oneOf(Object.keys(optionalPeers))

/** Entries that are started often, and load little. */
const alone = ["cli", "isolated-run", "watchdog"]

/** What the command loads to ask a running server. */
const asking = ["apps/cli/src/program.ts", "apps/cli/src/backend/server.ts", "apps/cli/src/commands/agents/agents.ts"]

const fromRoot = (path: string): string => relative(root, path).split(sep).join("/")

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

const isNode = (value: unknown): value is Node & Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && "type" in value

const nodesIn = function* (value: unknown): Generator<Node & Readonly<Record<string, unknown>>> {
  if (isNode(value)) yield value
  if (typeof value !== "object" || value === null) return
  for (const each of Object.values(value)) yield* nodesIn(each)
}

/** The new text of the literal that begins with `text` in the given module; undefined where it names nothing here. */
const placedFrom = (module: string, text: string): string => {
  const path = fromRoot(resolve(dirname(module), text)) + (text.endsWith("/") ? "/" : "")
  const entry = Object.entries(entries).find(([, { source }]) => source === path)
  if (entry !== undefined) return `./${entry[0]}.js`
  const place = Object.entries(places).find(([from]) => path === from || (from.endsWith("/") && path.startsWith(from)))
  if (place !== undefined) return place[1] + path.slice(place[0].length)
  throw new Error(
    `${fromRoot(module)} names ${path} by its URL, and parts.ts does not say where that is in the package`
  )
}

/** What a literal says, a template up to its first gap. */
const textOf = (literal: Node): string => {
  const first = [...nodesIn(literal)].find(({ type }) => type === "TemplateElement")
  const value = first === undefined ? Reflect.get(literal, "value") : Reflect.get(first["value"] as object, "raw")
  return String(value)
}

/** B2. */
const ownUrls: Rolldown.Plugin = {
  name: "own-urls",
  transform(code, id) {
    if (id.includes("node_modules") || !code.includes("import.meta.url") || !existsSync(id)) return undefined
    let changed = code
    const found = [...nodesIn(this.parse(code, { lang: id.endsWith(".ts") ? "ts" : "js" }))]
      .filter(({ type }) => type === "NewExpression")
      .toReversed()
    for (const { arguments: given, callee } of found) {
      const [path, base] = given as ReadonlyArray<Node>
      if (path === undefined || base === undefined || Reflect.get(callee as object, "name") !== "URL") continue
      if (code.slice(base.start, base.end) !== "import.meta.url") continue
      const text = textOf(path)
      const start = code.indexOf(text, path.start)
      changed = changed.slice(0, start) + placedFrom(id, text) + changed.slice(start + text.length)
    }
    return changed === code ? undefined : { code: changed }
  }
}

const sqlite: Rolldown.Plugin = {
  name: "own-sqlite",
  resolveId: (id) => (id === "node:sqlite" ? join(root, "scripts/pack/sqlite.mjs") : undefined)
}

/** ELK runs on a thread of ours, and asks for a package that makes others. */
const noWebWorker: Rolldown.Plugin = {
  name: "no-web-worker",
  resolveId: (id) => (id === "web-worker" ? "\0no-web-worker" : undefined),
  load: (id) => (id === "\0no-web-worker" ? "export default undefined" : undefined)
}

/** loro-crdt asks for a file of its own in a spelling that is not seen through. */
const plainRequires: Rolldown.Plugin = {
  name: "plain-requires",
  transform: (code, id) =>
    id.endsWith("loro_wasm.js")
      ? { code: code.replaceAll(/require\(String\.raw`([^`]+)`\)/g, 'require("$1")') }
      : undefined
}

const LOAD = "loadPeer"
const IGNORED = "/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */"

/** B4. */
const hiddenPeers: Rolldown.Plugin = {
  name: "hidden-peers",
  renderChunk(code) {
    const isPeer = (name: string | undefined): boolean => name !== undefined && peers.test(name)
    const hidden = code
      .replaceAll(
        /^import (?:\{([^}]*)\} from )?["']([^"']+)["'];?$/gm,
        (whole, names: string | undefined, name: string) => {
          if (!isPeer(name)) return whole
          return names === undefined ? "" : `const {${names.replaceAll(/ as /g, ": ")}} = await ${LOAD}("${name}");`
        }
      )
      .replaceAll(/\bimport\(["']([^"']+)["']\)/g, (whole, name: string) =>
        isPeer(name) ? `${LOAD}("${name}")` : whole
      )
    return hidden === code ? null : { code: `${hidden}\nfunction ${LOAD}(name) { return import(${IGNORED} name) }\n` }
  }
}

/** Notes of which packages anything was taken. */
const noting = (taken: Set<string>): Rolldown.Plugin => ({
  name: "noting",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue
      for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
        const [, within, name] = /^(?:\0[\w-]+:)?(.*node_modules[\\/])((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id) ?? []
        if (renderedLength > 0 && within !== undefined && name !== undefined) taken.add(join(within, name))
      }
    }
  }
})

type Groups = ReadonlyMap<string, string>

/** Files, and all that they import before they run. */
const filesWith = (bundle: Rolldown.OutputBundle, ...begun: ReadonlyArray<string>): ReadonlySet<string> => {
  const files = new Set(begun)
  for (const file of files) {
    const chunk = bundle[file]
    if (chunk?.type === "chunk") for (const other of chunk.imports) files.add(other)
  }
  return files
}

const askingFiles = (bundle: Rolldown.OutputBundle): ReadonlyArray<string> =>
  asking.map((source) => {
    const found = Object.values(bundle).find(
      (each) => each.type === "chunk" && each.facadeModuleId !== null && fromRoot(each.facadeModuleId) === source
    )
    if (found === undefined) throw new Error(`no file of the package begins with ${source}, which bundle.ts names`)
    return found.fileName
  })

/** B5: the file of each module that an import of the package loads, as a first bundling with no wish in it finds them. */
const groupsIn = (bundle: Rolldown.OutputBundle): Groups => {
  const modulesOf = (...begun: ReadonlyArray<string>): ReadonlySet<string> =>
    new Set(
      [...filesWith(bundle, ...begun)].flatMap((file) => Object.keys(Reflect.get(bundle[file] ?? {}, "modules") ?? {}))
    )
  const small = modulesOf(...alone.map((entry) => `${entry}.js`))
  const threads = modulesOf("search-thread.js")
  const client = modulesOf(...askingFiles(bundle))
  const groupOf = (id: string): string => (threads.has(id) ? "base" : client.has(id) ? "client" : "main")
  const loaded = [...modulesOf("index.js")].filter((id) => !small.has(id) && !id.startsWith("\0"))
  return new Map(loaded.map((id) => [id, groupOf(id)]))
}

/** B5: the build fails where a command that asks a running server would load the runtime. */
const apart: Rolldown.Plugin = {
  name: "apart",
  generateBundle(_, bundle) {
    const loaded = [...filesWith(bundle, ...askingFiles(bundle))].filter((file) => file.startsWith("main-"))
    if (loaded.length > 0) throw new Error(`a command that asks a running server would load ${loaded.join()}`)
    if (!Object.keys(bundle).some((file) => file.startsWith("main-")))
      throw new Error("no file of the package is the runtime")
  }
}

const settings = {
  cwd: root,
  config: false,
  format: "esm",
  platform: "node",
  target: "node22",
  fixedExtension: false,
  logLevel: "error",
  report: false
} as const

const bundled = (outDir: string, groups: Groups, plugins: ReadonlyArray<Rolldown.Plugin>, write: boolean) =>
  build({
    ...settings,
    outDir,
    write,
    entry: Object.fromEntries(Object.entries(entries).map(([name, { source }]) => [name, source])),
    tsconfig: false,
    dts: false,
    clean: write,
    shims: true,
    // Less to read at each start. Lines and the names of functions stay, for stack traces.
    minify: write && { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: false } },
    outputOptions: {
      comments: { legal: true, annotation: true, jsdoc: false },
      // A group is whole with all that it imports: nothing has to be drawn into it.
      codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: (id) => groups.get(id) ?? null }] }
    },
    deps: { alwaysBundle: (id) => !peers.test(id), neverBundle: [peers], onlyBundle: false },
    plugins: [seeThrough(), ownUrls, sqlite, noWebWorker, plainRequires, hiddenPeers, ...plugins]
  })

/** Writes the JavaScript; answers the folders of the packages that are in it. */
export const bundleCode = async (outDir: string): Promise<ReadonlySet<string>> => {
  const taken = new Set<string>()
  let groups: Groups = new Map()
  const looking: Rolldown.Plugin = {
    name: "looking",
    generateBundle(_, bundle) {
      groups = groupsIn(bundle)
    }
  }
  await bundled(outDir, groups, [looking], false)
  await bundled(outDir, groups, [noting(taken), apart], true)
  return taken
}

/** Names of types that every program has. In the types of effect, modules of the same names hide them. */
const hidden: ReadonlyArray<readonly [string, string, string]> = [
  ["Array", "<T>", "<T>"],
  ["PropertyKey", "", ""],
  ["Record", "<K extends keyof any, T>", "<K, T>"]
]

const aliases = (code: string): string =>
  hidden
    .filter(([name]) => code.includes(`${name}$1`))
    .map(([name, parameters, given]) => `type ${name}$1${parameters} = ${name}${given};\n`)
    .join("")

/** B3: what has types of its own stays out of the bundle, and must not be named in what is left of it. */
const foreign = [
  ...Object.keys(optionalPeers),
  "ajv",
  "gpt-tokenizer",
  "ipaddr.js",
  "js-tiktoken",
  "loro-crdt",
  "openai",
  "undici",
  "zod"
]

const tidied = (code: string, file: string): string => {
  const kept = code
    .replaceAll(/^import ["'][^"']+["'];?\n/gm, "")
    // Of loro-crdt one name is seen in the types: a place in the history of a document.
    .replace(
      /^import \{ Frontiers \} from "loro-crdt";?\n/m,
      "type Frontiers = Array<{ peer: `${number}`; counter: number }>;\n"
    )
  const named = /^(?:import|export) .* from ["']([^."'][^"']*)["']/m.exec(kept)?.[1]
  if (named !== undefined && !named.startsWith("node:"))
    throw new Error(`the types of ${file} name the package ${named}`)
  return `/// <reference lib="esnext.disposable" />\n${kept}${aliases(kept)}`
}

/** Where the names of our own packages lead: to their sources, so that the types of one may name any file of another. */
const ownPaths = (): Readonly<Record<string, ReadonlyArray<string>>> => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly link?: boolean }>>
  }
  return Object.fromEntries(
    Object.entries(lock.packages)
      .filter(([path, { link, resolved }]) => link === true && resolved !== undefined && path.includes("@reverie/"))
      .flatMap(([path, { resolved }]) => {
        const name = path.slice("node_modules/".length)
        const { exports = {} } = JSON.parse(readFileSync(join(root, `${resolved}/package.json`), "utf8")) as {
          readonly exports?: Readonly<Record<string, unknown>>
        }
        const doors = Object.entries(exports).flatMap(([door, file]): ReadonlyArray<[string, ReadonlyArray<string>]> =>
          door !== "." && typeof file === "string" && file.endsWith(".ts")
            ? [[`${name}${door.slice(1)}`, [`./${resolved}/${file.slice(2)}`]]]
            : []
        )
        return [[name, [`./${resolved}/src/index.ts`]], ...doors, [`${name}/*`, [`./${resolved}/*`]]]
      })
  )
}

const TRIES = 3

/**
 * The bundler of declarations sometimes finds files missing that its compiler has just written, on a busy machine. It never
 * goes on with less than all of them, so the same is tried again; any other failure counts at once.
 */
const tried = async (work: () => Promise<unknown>, tries = TRIES): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (tries <= 1 || !String(error).includes("did not generate dts file")) throw error
    await tried(work, tries - 1)
  }
}

/** Writes the types of the entry points, which are types of ours and of effect. */
export const bundleTypes = async (outDir: string): Promise<void> => {
  mkdirSync(outDir, { recursive: true })
  const shown = Object.entries(entries).filter(([, { subpath }]) => subpath !== undefined)
  // The compiler takes the folder of its project for the root of the sources.
  const project = join(root, `tsconfig.pack-${process.pid}.json`)
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    plugins: [],
    paths: ownPaths()
  }
  const files = shown.map(([, { source }]) => source)
  writeFileSync(
    project,
    JSON.stringify({ extends: "./tsconfig.json", compilerOptions, include: [], exclude: [], files })
  )
  try {
    await tried(() =>
      build({
        ...settings,
        outDir,
        entry: Object.fromEntries(shown.map(([name, { source }]) => [name, source])),
        tsconfig: project,
        dts: { emitDtsOnly: true },
        // A file that several entries share is not named like one of them.
        outputOptions: { chunkFileNames: "shared-[name].ts" },
        hash: false,
        clean: false,
        deps: {
          alwaysBundle: (id) => !oneOf(foreign).test(id),
          neverBundle: [oneOf(foreign)],
          onlyBundle: false
        }
      })
    )
  } finally {
    rmSync(project, { force: true })
  }
  // What several entries share lies in files of its own.
  for (const name of readdirSync(outDir).filter((each) => each.endsWith(".d.ts"))) {
    const file = join(outDir, name)
    writeFileSync(file, tidied(readFileSync(file, "utf8"), name))
  }
}
