// Entries: the ways in beside the SDK itself: tests of one's own, a fleet mounted in a web framework, the documents.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { blocksOf, fileOf, filesOf, missingLine } from "../../scripts/docs/blocks.ts"
import { aiSdkProgram, aiSdks, formsProgram, mountedProgram, schemasProgram, testingProgram } from "./programs.ts"
import type { Finding, Row, Scene } from "./scene.ts"

export const tests: Row = {
  name: "testing",
  says: "the README's program of reverie/testing: an approval expires and a night passes, by a clock that the test moves",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("testing", { "desk.ts": testingProgram() })
    const findings: Array<Finding> = []
    for (const version of scene.isShort ? ["this"] : ["24", "26"]) {
      const said = await scene.run(folder, "node", ["desk.ts"], { node: await scene.node(version) })
      findings.push([
        `Node ${version}: it comes to its end`,
        said.code === 0 && /^tested$/m.test(said.stdout),
        said.text
      ])
    }
    return findings
  }
}

export const mounted: Row = {
  name: "mounted",
  says: "a fleet behind a fetch handler: closed until it is said who may ask, then a message is taken and the fleet listed",
  isShort: true,
  run: async (scene) => {
    const folder = await scene.installed("mounted", { "route.mjs": mountedProgram })
    const findings: Array<Finding> = []
    // The oldest one lacks what others have, in short runs too.
    for (const [version, node] of [
      ["this", await scene.node("24")],
      ["22.13.0", await scene.installedNode("22.13.0")]
    ] as const) {
      const said = await scene.run(folder, "node", ["route.mjs"], { node })
      const isRight = said.code === 0 && /^closed 401\nsent 20\d\nlisted 200 true$/m.test(said.stdout)
      findings.push([`Node ${version}: it refuses, takes and lists`, isRight, said.text])
    }
    return findings
  }
}

const LIBRARIES = [
  "zod@4.6.7",
  "zod3@npm:zod@3.25.76",
  "valibot@1.5.0",
  "@valibot/to-json-schema@1.8.0",
  "arktype@2.2.9"
]

export const schemas: Row = {
  name: "schemas",
  says: "tools and answers by zod 3 and 4, valibot, arktype, Effect and JSON Schema: inferred under a strict tsc, offered, checked; what has no form in JSON is refused",
  run: async (scene) => {
    const others = [...LIBRARIES, "effect@4.1.0", "@types/node@22", "typescript@5.9.3"]
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "es2022",
      lib: ["es2022", "esnext.disposable"],
      module: "nodenext",
      types: ["node"]
    }
    const files = {
      "moor.ts": schemasProgram,
      "forms.ts": formsProgram,
      "tsconfig.json": JSON.stringify({ compilerOptions, files: ["moor.ts"] }),
      // The types of effect need those of a browser.
      "forms.json": JSON.stringify({
        compilerOptions: { ...compilerOptions, lib: ["dom", ...compilerOptions.lib] },
        files: ["forms.ts"]
      })
    }
    const folder = await scene.installed("schemas", files, others)
    const checked = await scene.run(folder, "node", ["node_modules/typescript/bin/tsc"])
    const typed = await scene.run(folder, "node", ["node_modules/typescript/bin/tsc", "-p", "forms.json"])
    const said = await scene.run(folder, "node", ["moor.ts"], { node: await scene.node("24") })
    const answers = await scene.run(folder, "node", ["forms.ts"], { node: await scene.node("24") })
    const forms = [
      "zod 7.0 4.0",
      "zod3 7.0 4.0",
      ...["valibot", "bare", "arktype", "effect", "json", "parts"].map((name) => `${name} 7.0 NOON`),
      'words {"BERTH":7,"FROM":"NOON"}',
      'definition {"berth":7,"from":"noon"}'
    ]
    const each = ["by_zod", "by_zod_3", "by_valibot", "by_bare_valibot", "by_arktype"].flatMap(
      (name): ReadonlyArray<Finding> => [
        [`${name}: what fits is run`, said.stdout.includes(`${name} AURORA34`), said.text],
        [`${name}: what does not fit is refused`, said.stdout.includes(`${name} - ship: `), said.text]
      ]
    )
    return [
      ["tsc 5.9, strict: no error and no cast", checked.code === 0, checked.stdout.slice(0, 1_500)],
      ["it comes to its end", said.code === 0 && /^Moored\.$/m.test(said.stdout), said.text],
      ...each,
      ["answers too", typed.code === 0, typed.stdout.slice(0, 1_500)],
      ["answers come to their end", answers.code === 0, answers.text],
      ...forms.map((line): Finding => [`an answer: ${line}`, answers.stdout.split("\n").includes(line), answers.text]),
      [
        "what fails in the caller's own schema is a typed error",
        /^AnswerMisshapen .*must be even$/m.test(answers.stdout),
        answers.text
      ],
      [
        "a form that JSON does not have is refused by its name",
        /its output \(zod\) can not be shown as JSON Schema: z\.date\(\) at when/.test(answers.stdout),
        answers.text
      ],
      ["an input too", /z\.date\(\) at when/.test(said.stdout) && /v\.date\(\) at when/.test(said.stdout), said.text]
    ]
  }
}

interface DocumentPage {
  readonly path: string
  readonly text: string
}

const docsOf = (folder: string): string => join(folder, "node_modules/reverie/docs")

/** The guides as they lie in the installed package. */
const guidesIn = (folder: string): ReadonlyArray<DocumentPage> =>
  readdirSync(join(docsOf(folder), "guides")).map((name) => ({
    path: name,
    text: readFileSync(join(docsOf(folder), "guides", name), "utf8")
  }))

/** Runs what a guide of the installed package says is run, and looks for what it says is printed. */
const guideRun = async (scene: Scene, folder: string, page: DocumentPage): Promise<ReadonlyArray<Finding>> => {
  const place = join(folder, basename(page.path, ".md"))
  const blocks = blocksOf(page)
  for (const [file, code] of Object.entries(filesOf(blocks))) {
    mkdirSync(dirname(join(place, file)), { recursive: true })
    writeFileSync(join(place, file), code)
  }
  const node = await scene.node("24")
  const findings: Array<Finding> = []
  for (const [index, block] of blocks.entries()) {
    if (block.use !== "run") continue
    const isShell = block.language === "sh"
    const args = isShell ? ["-euc", block.code] : [fileOf(block, index) ?? ""]
    const said = await scene.run(place, isShell ? "sh" : "node", args, { node })
    const missing = block.prints === undefined ? undefined : missingLine(said.stdout, block.prints)
    findings.push([`${block.where} ends with 0`, said.code === 0, said.text])
    findings.push([`${block.where} prints what it says`, missing === undefined, `${missing}\n${said.text}`])
  }
  return findings
}

const MAX_DOCS_KB = 1_024
const FIRST_TASKS = ["get-started.md", "approvals.md"]

export const documents: Row = {
  name: "docs",
  says: "the package has its documents and a skill that leads to them; two of their programs run as they are written",
  isShort: true,
  run: async (scene, figure) => {
    const folder = await scene.installed("docs")
    const docs = docsOf(folder)
    const list = readFileSync(join(docs, "llms.txt"), "utf8")
    const linked = [...list.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path = ""]) => path)
    const files = readdirSync(docs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const bytes = files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)
    figure("pages", linked.length)
    figure("kilobytes", Math.round(bytes / 1_024))
    const skill = readFileSync(join(folder, "node_modules/reverie/skills/reverie/SKILL.md"), "utf8")
    const named = [...skill.matchAll(/node_modules\/reverie\/docs\/[\w/.-]*\w/g)].map(([path]) => path)
    const ran = await Promise.all(
      guidesIn(folder)
        .filter(({ path }) => FIRST_TASKS.includes(path))
        .map((page) => guideRun(scene, folder, page))
    )
    return [
      ["the list names at least 20 pages", linked.length >= 20, list],
      ...linked.map((path): Finding => [`${path} is there`, existsSync(join(docs, path))]),
      [`at most ${MAX_DOCS_KB} KB`, bytes <= MAX_DOCS_KB * 1_024, String(bytes)],
      [
        "the skill has a name and a description",
        /^---\nname: reverie\ndescription: .{40,1024}\n---\n/.test(skill),
        skill
      ],
      ["the skill leads to the documents", named.length > 0, skill],
      ...named.map((path): Finding => [`the skill names ${path}, which is there`, existsSync(join(folder, path))]),
      ["two guides were run", ran.length === FIRST_TASKS.length],
      ...ran.flat()
    ]
  }
}

export const tasks: Row = {
  name: "tasks",
  says: "every program of the installed documents runs as it is written, ten tasks of a user at least",
  run: async (scene, figure) => {
    const folder = await scene.installed("tasks")
    const findings: Array<Finding> = []
    let guides = 0
    for (const page of guidesIn(folder)) {
      const ran = await guideRun(scene, folder, page)
      if (ran.length > 0) guides += 1
      findings.push(...ran)
    }
    figure("guides", guides)
    figure("programs", findings.length / 2)
    return [["at least ten guides were run", guides >= 10, String(guides)], ...findings]
  }
}

export const aiSdk: Row = {
  name: "ai-sdk",
  says: "a model object of each version of the AI SDK's interface answers, with a tool between",
  run: async (scene) => {
    const folder = await scene.installed("ai-sdk", { "ai-sdk.mjs": aiSdkProgram }, aiSdks)
    const names = aiSdks.map((each) => each.slice(0, each.indexOf("@")))
    const said = await scene.run(folder, "node", ["ai-sdk.mjs", ...names])
    return names.map((name, index): Finding => {
      const line = `${name} | v${index + 2} | Berth 7 it is. | berth 7 takes 95 | 2`
      return [`v${index + 2} answers`, said.stdout.includes(line), said.text]
    })
  }
}
