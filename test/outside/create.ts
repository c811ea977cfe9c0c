// Create: npm create reverie in an empty folder, for each template, until the first answer.
// Owns that one row. Leaves what a template promises to its own tests, which are run here.
// T1  What is created is the packed create-reverie, started by the npm client. The version of reverie that it asks for is not
//     published: the tarball stands for it, so `npm i` is a step of its own.
// T2  No key and no server of a model is named: the stand-in answers.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/check/program.ts"
import type { Finding, Row, Said, Scene } from "./scene.ts"

const MOST_SECONDS = 60
const CREATE = "packages/create-reverie"
const FIRST = "support"
const NEXT = "nextjs"
const NEXT_PORT = 4874
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/

interface Template {
  readonly tries: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
}

const templates = JSON.parse(readFileSync(join(root, CREATE, "templates/templates.json"), "utf8")) as Readonly<
  Record<string, Template>
>

/** Packs create-reverie as npm would publish it. */
const packed = async (scene: Scene): Promise<string> => {
  await scene.must(scene.folder, "npm", ["pack", join(root, CREATE), "--pack-destination", scene.folder])
  const file = readdirSync(scene.folder).find((name) => /^create-reverie-.*\.tgz$/.test(name))
  return join(scene.folder, file ?? "none")
}

/** Asks until the server answers at all, for it has only just begun. */
const once = async <Found>(ask: () => Promise<Found>, seconds: number): Promise<Found> => {
  const until = performance.now() + seconds * 1_000
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const posted = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

/** What `npm start` answers to a text, by its HTTP API. */
const answerOf = async (folder: string, text: string): Promise<string> => {
  const found = join(folder, ".reverie/server.json")
  const url = await once(async () => {
    const [address] = ADDRESS.exec(readFileSync(found, "utf8")) ?? []
    if (address === undefined) throw new Error("no address yet")
    return address
  }, 60)
  const { items } = (await (await fetch(`${url}/v1/assistants`)).json()) as {
    items: ReadonlyArray<{ id: string }>
  }
  const life = `${url}/v1/assistants/${items[0]?.id ?? "none"}`
  const { status } = await posted(`${life}/messages`, { text, id: "first" })
  if (status !== 202) throw new Error(`the message was answered with ${status}`)
  const stream = await (await fetch(`${life}/answers/first?format=parts`)).text()
  return /"type":"done".*?"reply":"((?:[^"\\]|\\.)+)"/.exec(stream)?.[1] ?? stream
}

/** What the chat route of Next.js answers. */
const routeAnswer = async (text: string): Promise<string> =>
  once(async () => (await posted(`http://127.0.0.1:${NEXT_PORT}/api/chat`, { text })).text(), 120)

/** Starts a created fleet, asks it what its README proposes, and ends it. */
const firstAnswer = async (scene: Scene, name: string, folder: string): Promise<readonly [string, Said]> => {
  const [text = "Hello"] = templates[name]?.tries ?? []
  let answer = ""
  const isNext = name === NEXT
  const meanwhile = async () => (answer = await (isNext ? routeAnswer(text) : answerOf(folder, text)))
  const args = isNext ? ["run", "dev", "--", "--port", `${NEXT_PORT}`] : ["start", "--", "--port", "0"]
  const env = { NEXT_TELEMETRY_DISABLED: "1" }
  const said = await scene.run(folder, "npm", args, {
    meanwhile,
    env,
    seconds: 180,
    node: await scene.node("24")
  })
  return [answer, said]
}

const isWhole = (name: string, answer: string): boolean =>
  name === FIRST ? answer.includes("delivered on Monday") : answer.trim().length > 0

const withoutDevelopment = (folder: string): void => {
  const file = join(folder, "package.json")
  const { devDependencies: _, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
  writeFileSync(file, JSON.stringify(rest, null, 2))
}

export const create: Row = {
  name: "create",
  says: `npm create reverie, npm i, npm start without a key: the first answer within ${MOST_SECONDS} s; each template's own tests pass`,
  isShort: true,
  run: async (scene, figure) => {
    const creator = await packed(scene)
    const node = await scene.node("24")
    // The short run has no network: it creates those that install nothing but the package.
    const names = Object.keys(templates).filter((name) => !scene.isShort || templates[name]?.dependencies === undefined)
    const findings: Array<Finding> = [["every template is there", Object.keys(templates).length === 5]]
    for (const name of names) {
      const folder = join(scene.folder, name)
      const begun = performance.now()
      const creating = ["exec", "--yes", "--offline", `--package=${creator}`, "--", "create-reverie", name]
      await scene.must(scene.folder, "npm", [...creating, "--template", name, "--no-install"], {
        node
      })
      // What a template is developed with is left out: to leave it uninstalled npm would still ask for its list of versions.
      if (scene.isShort) withoutDevelopment(folder)
      const offline = scene.isShort ? ["--offline"] : []
      await scene.must(folder, "npm", ["install", "--no-audit", "--no-fund", ...offline, scene.tarball], { node })
      if (!scene.isShort) {
        const [answer, said] = await firstAnswer(scene, name, folder)
        const seconds = Math.round((performance.now() - begun) / 100) / 10
        figure(`${name} seconds`, seconds)
        findings.push([`${name}: it answers without a key`, isWhole(name, answer), answer + said.text.slice(-800)])
        if (name === FIRST)
          findings.push([`within ${MOST_SECONDS} s of npm create`, seconds <= MOST_SECONDS, `${seconds} s`])
      }
      const tested = await scene.run(folder, "node", ["--test", "--test-reporter", "tap"], {
        node
      })
      const isGreen = tested.code === 0 && /^# tests [2-9]$/m.test(tested.stdout) && /^# fail 0$/m.test(tested.stdout)
      findings.push([`${name}: its own tests pass`, isGreen, tested.text.slice(-1_500)])
      findings.push([`${name}: it has what its README names`, existsSync(join(folder, "README.md"))])
    }
    return findings
  }
}
