import { assert, describe, test } from "vitest"
import {
  commandClaims,
  documentsOf,
  fencesOf,
  formClaims,
  linkClaims,
  listClaims,
  pathClaims,
  readmeClaim,
  roomClaims,
  saidIn,
  termClaims,
  type Tree
} from "../../scripts/check/docs.ts"

const page = (...lines: ReadonlyArray<string>) => ({ path: "packages/tools/README.md", text: lines.join("\n") })
const guide = (...lines: ReadonlyArray<string>) => ({ path: "docs/add-a-tool.md", text: lines.join("\n") })
const tree: Tree = {
  isIn: (room, name) => room === "packages/tools" && ["tool.ts", "self/", "execute"].includes(name),
  exists: (path) => ["packages", "packages/tools/src"].includes(path),
  isNamed: (name) => name === "tool.ts",
  source: (path) => (path === "packages/tools/src" ? "const toolRun = callOf(limit) // Jobless outcomes" : "")
}
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

  test("D9 finds a file of a room's table that is not in the room, with and without its ending", () => {
    const table = page(
      "| file | owns |",
      "|---|---|",
      "| `tool.ts`, `gone.ts`; self/ | runs |",
      "| execute, shelf | calls |"
    )
    const claims = roomClaims(table, tree)
    assert.strictEqual(claims.length, 5)
    assert.deepStrictEqual(faults(claims), [
      "packages/tools/README.md:3 gone.ts is not there",
      "packages/tools/README.md:4 shelf is not there"
    ])
    assert.deepStrictEqual(roomClaims({ ...table, path: "README.md" }, tree), [])
  })

  test("D4 finds the 31st line of a room's README, and has no opinion about the one at the root", () => {
    const lines = Array.from({ length: 31 }, (_, index) => `${index}`)
    assert.deepStrictEqual(faults(readmeClaim(page(...lines))), ["packages/tools/README.md 31 lines, at most 30"])
    assert.deepStrictEqual(faults(readmeClaim(page(...lines.slice(1)))), [])
    assert.deepStrictEqual(readmeClaim({ path: "README.md", text: lines.join("\n") }), [])
  })

  test("D5 finds a path to nothing, in backticks and in a command, and leaves other code alone", () => {
    const text = guide(
      "`packages/tools/src` has `tool.ts`, not `tools.ts`; `packages/gone/` and `src/tool.ts` are nowhere.",
      "`packages/tools/src/<name>.ts`, `packages/<name>/src`, `gone/<name>/src`.",
      "`@reverie/tools`, `/v1/assistants`, `run(args)`, `--only A` and `a | b` are no paths.",
      "```sh",
      "npx vitest run packages/tools/test/gone.test.ts",
      "```",
      "```text",
      "gone/also.ts",
      "```"
    )
    const claims = pathClaims(text, tree)
    assert.strictEqual(claims.length, 9)
    assert.deepStrictEqual(faults(claims), [
      "docs/add-a-tool.md:1 tools.ts is not there",
      "docs/add-a-tool.md:1 packages/gone/ is not there",
      "docs/add-a-tool.md:1 src/tool.ts is not there",
      "docs/add-a-tool.md:2 gone/<name>/src is not there",
      "docs/add-a-tool.md:4 packages/tools/test/gone.test.ts is not there"
    ])
  })

  test("D6 finds a term that its place does not use, one with two rows, and one without one sentence", () => {
    const place = "`packages/tools/src`"
    const rows = [
      `| tool run | One call of it. | ${place} |`,
      `| job | Is not in that place. | ${place} |`,
      `| tool run | The same again. | ${place} |`,
      `| call | What it is. And more. | ${place} |`,
      `| limit | no sentence | ${place} |`,
      `| outcome | Used as a plural. | ${place} |`,
      "| key | Lies in no place. | `packages/gone` |"
    ]
    const claims = termClaims(
      { path: "docs/glossary.md", text: ["| term | meaning | place |", ...rows].join("\n") },
      tree
    )
    assert.strictEqual(claims.length, rows.length)
    assert.deepStrictEqual(faults(claims), [
      "docs/glossary.md:3 job is not used in packages/tools/src",
      "docs/glossary.md:4 tool run has two rows",
      "docs/glossary.md:5 call is not explained in one sentence",
      "docs/glossary.md:6 limit is not explained in one sentence",
      "docs/glossary.md:8 key is not used in packages/gone"
    ])
    assert.deepStrictEqual(faults(termClaims({ path: "docs/glossary.md", text: "# Glossary" }, tree)), [
      "docs/glossary.md it has no term"
    ])
  })

  test("D7 finds a page that is too long, and a fence of TypeScript that nothing runs", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `${index}`).join("\n")
    assert.deepStrictEqual(faults(formClaims({ path: "docs/decisions/0001-a.md", text: lines(26) })), [
      "docs/decisions/0001-a.md 26 lines, at most 25"
    ])
    assert.deepStrictEqual(faults(formClaims({ path: "docs/add-a-page.md", text: lines(81) })), [
      "docs/add-a-page.md 81 lines, at most 80"
    ])
    assert.deepStrictEqual(faults(formClaims({ path: "docs/architecture.md", text: lines(151) })), [
      "docs/architecture.md 151 lines, at most 150"
    ])
    assert.deepStrictEqual(faults(formClaims({ path: "docs/decisions/0001-a.md", text: lines(25) })), [])
    assert.deepStrictEqual(faults(formClaims({ path: "docs/glossary.md", text: lines(200) })), [])
    assert.deepStrictEqual(faults(formClaims(guide("```ts run", "1", "```", "```ts", "2", "```"))), [
      "docs/add-a-tool.md:4 a ts fence that is not run"
    ])
    assert.deepStrictEqual(formClaims({ path: "README.md", text: "```ts\n```" }), [])
  })

  test("D8 finds a page that the list leaves out", () => {
    const list = { path: "docs/README.md", text: "[terms](glossary.md) [steps](decisions/0001-a.md)" }
    const pages = ["docs/glossary.md", "docs/decisions/0001-a.md", "docs/decisions/0002-b.md"].map((path) => ({
      path,
      text: ""
    }))
    assert.deepStrictEqual(faults(listClaims([list, ...pages])), [
      "docs/decisions/0002-b.md docs/README.md does not link to it"
    ])
    assert.strictEqual(faults(listClaims(pages)).length, 3)
  })

  test("D1 D2 D5 D6 D7 D8 what docs/ says of this tree holds", () => {
    const documents = documentsOf("docs/*.md")
    assert.isAbove(documents.length, 15)
    const claims = saidIn(documents)
    assert.isAbove(claims.length, 200)
    assert.deepStrictEqual(faults(claims), [])
  })
})
