// Killing: a process of its own that is killed on its way through one piece of work.
// The child prints `begins` before it and `done` after it. One that ends badly without being killed is a failure of the test.

import { spawn } from "node:child_process"

/** Runs a child, killed so long after it has begun, or to its end; answers how many milliseconds its work took. */
export const killedIn = (child: string, args: ReadonlyArray<string>, afterMillis?: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = ["--disable-warning=ExperimentalWarning", child, ...args]
    const running = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "pipe"] })
    let [said, wrong, begun, done] = ["", "", 0, 0]
    running.stderr.setEncoding("utf8").on("data", (text: string) => (wrong += text))
    running.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text
      if (begun === 0 && said.includes("begins")) {
        begun = performance.now()
        if (afterMillis !== undefined) setTimeout(() => running.kill("SIGKILL"), afterMillis)
      }
      if (done === 0 && said.includes("done")) done = performance.now()
    })
    running.on("close", (code, signal) => {
      if (begun === 0 || (signal === null && code !== 0)) reject(new Error(`it ended with ${code}: ${wrong}`))
      else resolve((done === 0 ? performance.now() : done) - begun)
    })
  })
