// Page: the folder of the built dashboard.
// Owns finding it, and having it built where it is missing or old. Leaves how it is built to the dashboard's own program.
// G1  No one waits for a build: what is there is served, and what is built meanwhile from then on.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"

const dashboard = fileURLToPath(new URL("../../../dashboard/", import.meta.url))

export const pageFolder = `${dashboard}dist`

export const isPageBuilt = (): boolean => existsSync(`${pageFolder}/index.html`)

/** Brings the page up to its sources, in a process of its own. Resolves with what went wrong, if anything. */
export const refreshPage = (): { readonly done: Promise<string | undefined>; readonly end: () => void } => {
  const program = `${dashboard}build.ts`
  // In the package `reverie` it comes built.
  const missing = isPageBuilt() ? undefined : "its sources are not here"
  if (!existsSync(program)) return { done: Promise.resolve(missing), end: () => {} }
  const asked = `import(${JSON.stringify(pathToFileURL(program).href)}).then(({ ensurePage }) => ensurePage())`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", asked], {
    stdio: ["ignore", "ignore", "pipe"]
  })
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(0, 10_000)
  })
  const done = new Promise<string | undefined>((resolve) => {
    child.on("error", (error) => resolve(error.message))
    child.on("close", (code) => {
      const line = said.split("\n").find((each) => /error/i.test(each)) ?? `it ended with ${code}`
      resolve(code === 0 ? undefined : line.trim())
    })
  })
  return { done, end: () => child.kill() }
}
