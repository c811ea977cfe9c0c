// Leaks: what the builder of the image was given, by both builders that Docker has.
// Owns building the first stage of the Dockerfile and reading what is in it, and the verdict. Leaves the copy and what is
// planted in it to working-copy.ts.
// L1  Nothing that was planted is given to a builder, and no test is.
// L2  A listing in which the code is not found proves nothing, and is a failure.

import { attempt, must } from "./program.ts"
import { planted } from "./working-copy.ts"

const MUST_BE = ["apps/cli/src/main.ts", "packages/reverie/src/index.ts", "tsconfig.json", "test/package.json"]

const SHOWN = 8

/** Complaints about the paths that a builder was given, from the root of the copy. */
export const leaksIn = (builder: string, given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const there = new Set(given)
  const missing = MUST_BE.filter((path) => !there.has(path)).map((path) => `${builder} was not given ${path}`)
  const leaked = [
    ...given.filter((path) => path in planted),
    ...given.filter((path) => /(^|\/)test\//.test(path) && path !== "test/package.json")
  ]
  return [...missing, ...leaked.slice(0, SHOWN).map((path) => `${builder} was given ${path}`)]
}

const builders: ReadonlyArray<readonly [name: string, env: Readonly<Record<string, string>>]> = [
  ["the classic builder", { DOCKER_BUILDKIT: "0" }],
  ["BuildKit", { DOCKER_BUILDKIT: "1" }]
]

const STAGE = "local/given:1"
const MINUTES = 60_000

export interface Leaks {
  readonly ok: boolean
  readonly lines: ReadonlyArray<string>
}

export const findLeaks = async (copy: string): Promise<Leaks> => {
  const complaints: Array<string> = []
  const lines: Array<string> = []
  for (const [builder, variables] of builders) {
    const env = { ...process.env, ...variables }
    const args = ["build", "--target", "sources", "--tag", STAGE, "--file", `${copy}/apps/cli/Dockerfile`, copy]
    await must(`build the first stage with ${builder}`, "docker", args, { env, millis: 10 * MINUTES })
    const listing = await must("list what is in it", "docker", ["run", "--rm", STAGE, "find", "/sources", "-type", "f"])
    await attempt("docker", ["image", "rm", "--force", STAGE])
    const given = listing
      .split("\n")
      .filter((path) => path !== "")
      .map((path) => path.replace("/sources/", ""))
    const found = leaksIn(builder, given)
    complaints.push(...found)
    lines.push(`${builder} was given ${given.length} files${found.length === 0 ? ", nothing that was planted" : ""}`)
  }
  return { ok: complaints.length === 0, lines: [...lines, ...complaints] }
}
