// FirstSteps: the guide "Get started" word by word, in an empty folder and where `npm init` wrote CommonJS.
// Owns that one row. Leaves what the other guides run to entries.ts.
// F1  The lines are those of the guide. `npm i reverie` alone is done by the scene, for the tarball stands for what is published.

import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/check/program.ts"
import { type Block, blocksOf } from "../../scripts/docs/blocks.ts"
import type { Finding, Row, Said, Scene } from "./scene.ts"

const guide = "docs/guides/get-started.md"
const commonJs = `{ "name": "first", "private": true, "type": "commonjs" }\n`
const inEmptyFolder = "in an empty folder"

const stepsOf = (): ReadonlyArray<Block> => blocksOf({ path: guide, text: readFileSync(join(root, guide), "utf8") })

/** Carries the guide out until its program has run; what that program said. */
const followed = async (scene: Scene, folder: string): Promise<Said> => {
  for (const { code, language, title } of stepsOf()) {
    if (title !== undefined) writeFileSync(join(folder, title), code)
    if (language !== "sh") continue
    for (const line of code.trim().split("\n")) {
      const [program = "", ...args] = line.split(" ")
      if (program === "node") return scene.run(folder, "node", args, { node: await scene.node("24") })
      if (line !== "npm i reverie") await scene.must(folder, program, args)
    }
  }
  throw new Error(`${guide} runs nothing`)
}

const refused = async (scene: Scene, folder: string): Promise<Said> => {
  writeFileSync(join(folder, "package.json"), commonJs)
  return scene.run(folder, "npx", ["--offline", "reverie", "run", "--fleet", "hello.ts", "--exit"])
}

/** `reverie init` beside a package.json of CommonJS, and a first question to what it wrote. */
const begun = async (scene: Scene, folder: string): Promise<Said> => {
  await scene.must(folder, "npx", ["--offline", "reverie", "init"])
  const asked = ["--offline", "reverie", "run", "--model", "offline", "--agent", "desk", "-p", "What time is it?"]
  return scene.run(folder, "npx", asked, { node: await scene.node("24") })
}

export const firstSteps: Row = {
  name: "first-steps",
  says: "the guide's first steps word by word, in an empty folder and in a package of CommonJS; reverie init there; what is refused says what to do",
  isShort: true,
  run: async (scene) => {
    const findings: Array<Finding> = []
    for (const where of [inEmptyFolder, "in a package of CommonJS"]) {
      const folder = await scene.installed(where.replaceAll(" ", "-"), { "package.json": commonJs })
      if (where === inEmptyFolder) rmSync(join(folder, "package.json"))
      const said = await followed(scene, folder)
      findings.push([`${where}: the program answers`, said.code === 0 && /berth 7/.test(said.stdout), said.text])
      findings.push([`${where}: Node warns of nothing`, !said.text.includes("Warning"), said.text])
      if (where === inEmptyFolder) continue
      const sentence = await refused(scene, folder)
      const isSaid = sentence.code === 2 && /commonjs.*npm pkg set type=module.*hello\.mts/.test(sentence.text)
      findings.push(["a fleet file that is no module there says what to do", isSaid, sentence.text])
    }
    const folder = await scene.installed("init-in-commonjs", { "package.json": commonJs })
    const said = await begun(scene, folder)
    findings.push([
      "the fleet of reverie init answers there",
      said.code === 0 && /\d\d:\d\d/.test(said.text),
      said.text
    ])
    return findings
  }
}
