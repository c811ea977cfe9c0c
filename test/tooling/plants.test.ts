// The faults that the attack lane plants: each line that one of them changes is there, so that the lane can find it.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const plants = join(root, "test/attack/plants")

/** The module and the line of each `rewrite(module, line, planted)`. */
const rewritten = /\brewrite\(\s*("[^"\n]+"),\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/g

const textOf = (literal: string): string =>
  literal.startsWith('"') ? (JSON.parse(literal) as string) : literal.slice(1, -1).replaceAll(/\\(['`\\])/g, "$1")

test("each line that is changed by a planted fault is there", () => {
  const missing: Array<string> = []
  let seen = 0
  for (const file of readdirSync(plants)) {
    const source = readFileSync(join(plants, file), "utf8")
    const calls = Array.from(source.matchAll(rewritten), ([, module = '""', line = '""']) => [
      textOf(module),
      textOf(line)
    ])
    assert.strictEqual(
      calls.length,
      source.split(/\brewrite\(/).length - 1,
      `${file}: a line that can not be read here`
    )
    for (const [module = "", line = ""] of calls) {
      seen++
      if (!readFileSync(join(root, module), "utf8").includes(line)) missing.push(`${file}: ${module} has no ${line}`)
    }
  }
  assert.deepStrictEqual(missing, [])
  assert.isAbove(seen, 10)
})
