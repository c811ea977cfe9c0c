import { assert, describe, test } from "vitest"
import { commandClaims, fencesOf, linkClaims, readmeClaim } from "../../scripts/check/docs.ts"

const page = (...lines: ReadonlyArray<string>) => ({ path: "packages/tools/README.md", text: lines.join("\n") })
const faults = (claims: ReturnType<typeof commandClaims>) =>
  claims.flatMap(({ fault, where }) => (fault === undefined ? [] : [`${where} ${fault}`]))

describe("what a document says holds", () => {
  test("D1 finds a command that is no script, on its line, in prose and in a fence", () => {
    const text = page(
      "Run `npm run check`, then",
      "`npm run -s polish -- --all`.",
      "```sh",
      "npm start -- --exit",
      "```"
    )
    const claims = commandClaims(text, ["check"])
    assert.strictEqual(claims.length, 3)
    assert.deepStrictEqual(faults(claims), [
      "packages/tools/README.md:2 npm run polish is no script of package.json",
      "packages/tools/README.md:4 npm run start is no script of package.json"
    ])
  })

  test("D1 npm's own commands are no claim", () => {
    assert.deepStrictEqual(commandClaims(page("npm ci, npm install and npm run"), []), [])
  })

  test("D2 finds a link to nothing, from where the document stands", () => {
    const text = page(
      "[a](src/tool.ts#L3) [b](../../LICENSE) [c](/AGENTS.md)",
      "[d](src/gone.ts) [e](https://a.example) [f](#top)"
    )
    const there = new Set(["packages/tools/src/tool.ts", "LICENSE", "AGENTS.md"])
    const claims = linkClaims(text, (path) => there.has(path))
    assert.strictEqual(claims.length, 4)
    assert.deepStrictEqual(faults(claims), ["packages/tools/README.md:2 src/gone.ts is not there"])
  })

  test("D2 an index into an array of calls in a fence is no link", () => {
    assert.deepStrictEqual(
      linkClaims(page("```ts", "handlers[0](event)", "```"), () => false),
      []
    )
  })

  test("D3 takes the fences that are marked, and no other", () => {
    const fences = fencesOf(page("```ts run", "const a = 1", "```", "```ts", "b", "```", "```sh run", "true", "```"))
    assert.deepStrictEqual(
      fences.map(({ code, language }) => `${language}: ${code}`),
      ["ts: const a = 1\n", "sh: true\n"]
    )
  })

  test("D4 finds the 31st line of a room's README, and has no opinion about the one at the root", () => {
    const lines = Array.from({ length: 31 }, (_, index) => `${index}`)
    assert.deepStrictEqual(faults(readmeClaim(page(...lines))), ["packages/tools/README.md 31 lines, at most 30"])
    assert.deepStrictEqual(faults(readmeClaim(page(...lines.slice(1)))), [])
    assert.deepStrictEqual(readmeClaim({ path: "README.md", text: lines.join("\n") }), [])
  })
})
