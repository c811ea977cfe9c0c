// Bundled: the ways in that go through a bundler, a runner or a framework, and what the import costs.
// Owns their configuration. Leaves what the plain ways are to rows.ts.
// U1  What is measured is measured in turns with its neighbours, and the best of the turns counts: load only adds.

import { rmSync } from "node:fs"
import { join } from "node:path"
import { bunProgram } from "./features.ts"
import { ANSWER, answered, readmeProgram } from "./programs.ts"
import type { Finding, Row, Scene } from "./scene.ts"

/** Runs a built file on the Nodes that matter, each in an empty directory. */
const onNodes = async (scene: Scene, folder: string, file: string): Promise<ReadonlyArray<Finding>> => {
  const findings: Array<Finding> = []
  for (const each of ["22", "24"]) {
    rmSync(join(folder, ".reverie"), { recursive: true, force: true })
    findings.push(
      ...answered(`Node ${each}`, await scene.run(folder, "node", [file], { node: await scene.node(each) }))
    )
  }
  return findings
}

const tsx: Row = {
  name: "tsx",
  says: "the README's program under tsx",
  run: async (scene) => {
    const folder = await scene.installed("tsx", { "hello.ts": readmeProgram() }, ["tsx@4.23.15"])
    const findings: Array<Finding> = []
    for (const each of ["22", "24"]) {
      rmSync(join(folder, ".reverie"), { recursive: true, force: true })
      const said = await scene.run(folder, "npx", ["tsx", "hello.ts"], { node: await scene.node(each) })
      findings.push(...answered(`Node ${each}`, said))
    }
    return findings
  }
}

const bun: Row = {
  name: "bun",
  says: "the README's program under Bun, and a fleet served by it as the guide says",
  run: async (scene) => {
    const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch.replace("arm64", "aarch64")}`
    const files = { "hello.ts": readmeProgram(), "serve.ts": bunProgram() }
    const folder = await scene.installed("bun", files, [`@oven/bun-${platform}@1.4.5`])
    const program = join(folder, `node_modules/@oven/bun-${platform}/bin/bun`)
    const served = await scene.run(folder, program, ["serve.ts"])
    return [
      ...answered("Bun", await scene.run(folder, program, ["hello.ts"])),
      [
        "it serves a fleet",
        served.code === 0 && /^bun 202 text\/event-stream true 404$/m.test(served.stdout),
        served.text
      ]
    ]
  }
}

const esbuild = (name: string, flags: ReadonlyArray<string>, file: string): Row => ({
  name,
  says: `esbuild ${flags.join(" ")}: a tool with a JSON Schema still works`,
  run: async (scene) => {
    const folder = await scene.installed(name, { "hello.ts": readmeProgram() }, ["esbuild@0.28.2"])
    const target = ["--platform=node", "--format=esm", "--target=node22", ...flags]
    const binary = `@esbuild/${process.platform}-${process.arch}/bin/esbuild`
    await scene.must(folder, join(folder, "node_modules", binary), ["hello.ts", "--bundle", ...target])
    return onNodes(scene, folder, file)
  }
})

const vite: Row = {
  name: "vite-ssr",
  says: "vite build --ssr with everything bundled in",
  run: async (scene) => {
    const config = `export default { ssr: { noExternal: true, target: "node" }, build: { target: "node22" } }\n`
    const files = { "hello.ts": readmeProgram(), "vite.config.mjs": config }
    const folder = await scene.installed("vite-ssr", files, ["vite@8.3.8"])
    await scene.must(folder, "npx", ["vite", "build", "--ssr", "hello.ts"], { seconds: 300 })
    return onNodes(scene, folder, "dist/hello.js")
  }
}

const route = `import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"
export const dynamic = "force-dynamic"
const berths = defineTool({
  name: "find_berth",
  description: "Finds a free berth for a ship of the given length in metres.",
  input: { type: "object", properties: { metres: { type: "number" } }, required: ["metres"] },
  run: () => "berth 7, from noon"
})
const opening = Fleet.open({
  data: ".reverie/next",
  model: "offline",
  fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "A harbour's desk.", tools: [berths] })] })
})
export const GET = async () => Response.json({ answer: await (await opening).answer("desk", "a ship of 95 metres") })
`
const nextFiles = {
  "app/layout.jsx": `export default ({ children }) => <html lang="en"><body>{children}</body></html>\n`,
  "app/page.jsx": `export default () => <p>harbour</p>\n`,
  "app/ask/route.js": route
    .replace("const opening =", "let opened\nconst open = () =>")
    .replace("await (await opening)", "await (await (opened ??= open()))")
}

const NEXT_PORT = "4873"

const next: Row = {
  name: "next",
  says: "Next 16 with Turbopack, the package outside the bundle: a route answers",
  run: async (scene) => {
    const config = `export default { serverExternalPackages: ["reverie"] }\n`
    const others = ["next@16.4.6", "react@19", "react-dom@19"]
    const folder = await scene.installed("next", { ...nextFiles, "next.config.mjs": config }, others)
    const env = { NEXT_TELEMETRY_DISABLED: "1" }
    await scene.must(folder, "npx", ["next", "build"], { seconds: 600, env })
    let answer = ""
    const meanwhile = async () => {
      for (let tries = 0; tries < 120 && answer === ""; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 500))
        answer = await fetch(`http://127.0.0.1:${NEXT_PORT}/ask`).then(
          (response) => response.text(),
          () => ""
        )
      }
    }
    const args = ["next", "start", "--port", NEXT_PORT, "--hostname", "127.0.0.1"]
    const said = await scene.run(folder, "npx", args, { seconds: 120, env, meanwhile })
    return [["the route answers with what the tool found", ANSWER.test(answer), answer + said.text.slice(-800)]]
  }
}

const MEASURE = `const before = process.cpuUsage()
await import(process.argv[2])
const { system, user } = process.cpuUsage(before)
console.log(JSON.stringify({ cpu: (system + user) / 1000, rss: process.memoryUsage.rss() / 1048576 }))
`
const TURNS = 7

const size: Row = {
  name: "size",
  says: "what the import costs: CPU at most 1.2 x ai and 0.35 x @mastra/core, at most 80 MB resident",
  run: async (scene, figure) => {
    const folders: Readonly<Record<string, string>> = {
      reverie: await scene.installed("size", { "measure.mjs": MEASURE }),
      ai: await scene.installed("size-ai", { "measure.mjs": MEASURE }, ["ai"]),
      "@mastra/core": await scene.installed("size-mastra", { "measure.mjs": MEASURE }, ["@mastra/core"])
    }
    const node = await scene.node("24")
    const least: Record<string, { cpu: number; rss: number }> = {}
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [name, folder] of Object.entries(folders)) {
        const { stdout } = await scene.must(folder, "node", ["measure.mjs", name], { node })
        const { cpu, rss } = JSON.parse(stdout) as { cpu: number; rss: number }
        const before = least[name] ?? { cpu, rss }
        least[name] = { cpu: Math.min(cpu, before.cpu), rss: Math.min(rss, before.rss) }
      }
    }
    for (const [name, { cpu, rss }] of Object.entries(least)) {
      figure(`${name} CPU ms`, Math.round(cpu))
      figure(`${name} RSS MB`, Math.round(rss))
    }
    const of = (name: string) => least[name] ?? { cpu: Number.NaN, rss: Number.NaN }
    const said = JSON.stringify(least)
    return [
      ["at most 1.2 x ai", of("reverie").cpu <= 1.2 * of("ai").cpu, said],
      ["at most 0.35 x @mastra/core", of("reverie").cpu <= 0.35 * of("@mastra/core").cpu, said],
      ["at most 80 MB", of("reverie").rss <= 80, said]
    ]
  }
}

export const bundled: ReadonlyArray<Row> = [
  tsx,
  bun,
  esbuild("esbuild", ["--outfile=out.mjs"], "out.mjs"),
  esbuild("esbuild-splitting", ["--splitting", "--outdir=out", "--out-extension:.js=.mjs"], "out/hello.mjs"),
  vite,
  next,
  size
]
