#!/usr/bin/env node
// CreateReverie: a new fleet in an empty folder, from one of five templates.
// Owns the questions, the files that every template shares, and the refusals. Leaves what a fleet is to the templates.
// N1  A file that exists is never overwritten: a folder that is not empty is refused before anything is written.
// N2  It runs on Node 20 without any package; a Node that Reverie does not run on is refused in one sentence.
// N3  Each refusal is one sentence, with the nearest name where one was meant. 2: usage, 5: the folder is taken.

import { spawnSync } from "node:child_process"
import { constants, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const here = dirname(fileURLToPath(import.meta.url))

/** The exits of the command `reverie`. */
const [FAILED, USAGE, TAKEN, INTERRUPTED] = [1, 2, 5, 130]

const refusal = (message, exit = USAGE) => Object.assign(new Error(message), { exit })

const readJson = (path) => JSON.parse(readFileSync(join(here, path), "utf8"))

/** What tells the templates apart, beside their files. */
const templates = readJson("templates/templates.json")
const FIRST = "support"

const options = {
  template: { type: "string" },
  "no-install": { type: "boolean" },
  yes: { type: "boolean", short: "y" },
  help: { type: "boolean", short: "h" }
}

/** How many letters two words differ by. */
const distance = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, replaced))
    }
    row = next
  }
  return row[other.length]
}

const nearest = (word, names) => {
  const far = (name) => (name.startsWith(word) ? 0 : distance(word.toLowerCase(), name))
  return names.reduce((best, name) => (far(name) < far(best) ? name : best))
}

const assertTemplate = (name) => {
  if (Object.hasOwn(templates, name)) return name
  const names = Object.keys(templates)
  throw refusal(
    `there is no template ${JSON.stringify(name)}; did you mean ${nearest(name, names)}? There are ${names.join(", ")}`
  )
}

/** Whether this is Node 22 with at least this minor number, or a later Node. */
const isFrom = (wanted) => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  return major > 22 || (major === 22 && minor >= wanted)
}

const assertNode = () => {
  if (isFrom(13)) return
  const own = process.versions.node
  throw refusal(`Reverie needs Node 22.13 or newer, and this is Node ${own}: see https://nodejs.org`, FAILED)
}

const readCommand = (args) => {
  const { positionals, tokens, values } = parseArgs({ args, options, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== "option") continue
    if (!Object.hasOwn(options, token.name)) {
      const flags = Object.keys(options).map((name) => `--${name}`)
      throw refusal(`there is no option ${token.rawName}; did you mean ${nearest(`--${token.name}`, flags)}?`)
    }
    const takesValue = options[token.name].type === "string"
    if (takesValue && /^(-|$)/.test(token.value ?? "")) {
      throw refusal(`--${token.name} needs a name: ${Object.keys(templates).join(", ")}`)
    }
    if (!takesValue && token.value !== undefined) throw refusal(`--${token.name} takes no value`)
  }
  if (positionals.length > 1) throw refusal(`one folder at a time: ${positionals.join(", ")} are ${positionals.length}`)
  return { folder: positionals[0], ...values }
}

const help = () =>
  [
    "npm create reverie@latest [folder] -- [--template NAME] [--no-install] [--yes]",
    "",
    ...Object.entries(templates).map(([name, { says }]) => `  ${name.padEnd(10)} ${says}`),
    "",
    "--no-install  write the files only",
    "--yes         ask nothing: the folder my-fleet and the template support unless said otherwise"
  ].join("\n")

/** What was not said is asked for in a terminal, and has a default elsewhere. */
const complete = async ({ folder, template, yes = false }) => {
  if (template !== undefined) assertTemplate(template)
  const isAsking = !yes && process.stdin.isTTY === true && process.stdout.isTTY === true
  if (!isAsking || (folder !== undefined && template !== undefined)) {
    return { folder: folder ?? "my-fleet", template: template ?? FIRST }
  }
  const screen = createInterface({ input: process.stdin, output: process.stdout })
  // Read as lines, for what is typed ahead belongs to the next question. They end with an interruption.
  const lines = screen[Symbol.asyncIterator]()
  const ask = async (question, fallback) => {
    process.stdout.write(`${question} (${fallback}) `)
    const { done, value = "" } = await lines.next()
    return done === true ? process.exit(INTERRUPTED) : value.trim() || fallback
  }
  const asked = { folder: folder ?? (await ask("Folder?", "my-fleet")), template }
  if (template === undefined) {
    process.stdout.write(`${help().split("\n").slice(2, -3).join("\n")}\n`)
    asked.template = assertTemplate(await ask("Template?", FIRST))
  }
  screen.close()
  return asked
}

const assertFree = (folder) => {
  let entries
  try {
    entries = readdirSync(folder)
  } catch (error) {
    if (error.code === "ENOENT") return
    throw refusal(`${folder} can not be used: ${error.code === "ENOTDIR" ? "it is a file" : error.message}`, TAKEN)
  }
  // A fresh clone of an empty repository is empty enough.
  const first = entries.find((name) => name !== ".git")
  if (first !== undefined) {
    throw refusal(`the folder ${folder} is not empty (${first}); name a new one, for nothing is overwritten`, TAKEN)
  }
}

const packageName = (folder) => {
  const words = basename(resolve(folder)).toLowerCase()
  return (words.match(/[a-z0-9]+/g) ?? []).join("-").slice(0, 200) || "fleet"
}

const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`

const sharedFiles = (name, template) => {
  const own = templates[template]
  const { version } = readJson("package.json")
  return {
    "package.json": json({
      name,
      private: true,
      type: "module",
      engines: { node: ">=22.18" },
      scripts: { start: "reverie serve --fleet fleet.ts", dev: "reverie dev", test: "node --test", ...own.scripts },
      dependencies: { reverie: version, ...own.dependencies },
      devDependencies: { "@types/node": "^24.0.0", ...own.devDependencies }
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "es2024",
        lib: ["es2024", "esnext.disposable"],
        types: ["node"],
        module: "nodenext",
        moduleResolution: "nodenext",
        strict: true,
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        noEmit: true,
        skipLibCheck: true,
        ...own.compilerOptions
      },
      exclude: ["node_modules"]
    }),
    // Without `data`, which would count for more than DATABASE_URL; embedded it is .reverie all the same.
    "reverie.config.json": json({ fleet: "fleet.ts" }),
    ".gitignore": `${["node_modules", ".reverie", ".env", ...(own.ignores ?? [])].join("\n")}\n`,
    "README.md": `${[
      `# ${name}`,
      "",
      `A fleet of Reverie: ${own.says}.`,
      "",
      "    npm run dev              keeps it up, with its page",
      "    npm test                 proves what `fleet.ts` promises, without a key",
      ...(own.notes ?? []),
      "",
      `Say to it: \`${own.tries.join("`, or as the stand-in model reads it: `")}\`.`,
      "Without `OPENAI_API_KEY` or `OPENAI_BASE_URL` in `.env` a small rule-based stand-in answers."
    ].join("\n")}\n`
  }
}

/** Every file of a folder, by its path in it. */
const filesIn = (folder, under = "") =>
  readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = join(under, entry.name)
    return entry.isDirectory() ? filesIn(folder, path) : [path]
  })

const write = (folder, template) => {
  const from = join(here, "templates", template)
  try {
    mkdirSync(folder, { recursive: true })
    for (const path of filesIn(from)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      copyFileSync(join(from, path), join(folder, path), constants.COPYFILE_EXCL)
    }
    for (const [path, text] of Object.entries(sharedFiles(packageName(folder), template))) {
      writeFileSync(join(folder, path), text, { flag: "wx" })
    }
  } catch (error) {
    throw refusal(`${folder} can not be written: ${error.message}`, FAILED)
  }
}

const install = (folder) => {
  // On Windows npm is a script, which only a shell starts; no word of this command comes from outside.
  const { status } = spawnSync("npm i", { cwd: folder, stdio: "inherit", shell: true })
  if (status !== 0) throw refusal(`the files are written, and npm i failed in ${folder}; run it there again`, FAILED)
}

const main = async () => {
  assertNode()
  const command = readCommand(process.argv.slice(2))
  if (command.help === true) return void process.stdout.write(`${help()}\n`)
  if (command.folder !== undefined) assertFree(command.folder)
  const { folder, template } = await complete(command)
  assertFree(folder)
  write(folder, template)
  const isInstalled = command["no-install"] !== true
  if (isInstalled) install(folder)
  const enter = resolve(folder) === process.cwd() ? [] : [`cd ${/\s/.test(folder) ? JSON.stringify(folder) : folder}`]
  const first = [...enter, ...(isInstalled ? [] : ["npm i"])].join(" && ") || "npm test"
  const note = isFrom(18)
    ? ""
    : "Node runs TypeScript files by itself from 22.18 on: a newer Node is needed for fleet.ts.\n"
  process.stdout.write(`${note}${template}: ${templates[template].says}. Next:\n\n    ${first}\n    npm run dev\n`)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`create-reverie: ${error.message}\n`)
  process.exitCode = error.exit ?? FAILED
}
