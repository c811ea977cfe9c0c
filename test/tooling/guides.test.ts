import { assert, describe, test } from "vitest"
import { blockClaims, blocksOf, fileOf, filesOf, type Known, missingLine } from "../../scripts/docs/blocks.ts"

const known: Known = {
  commands: new Map([
    ["reverie", { options: new Map([["--version", false]]), leastArguments: 0, mostArguments: 0 }],
    [
      "reverie agents ls",
      {
        options: new Map([
          ["--json", false],
          ["--data", true]
        ]),
        leastArguments: 0,
        mostArguments: 0
      }
    ],
    ["reverie chat", { options: new Map(), leastArguments: 1, mostArguments: 2 }]
  ]),
  routes: ["GET /v1/assistants", "POST /v1/assistants/{id}/messages"]
}
const guide = (...lines: ReadonlyArray<string>) => ({ path: "docs/guides/tools.md", text: lines.join("\n") })
const faults = (...lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  blockClaims(guide(...lines), known).flatMap(({ fault, where }) => (fault === undefined ? [] : [`${where} ${fault}`]))

describe("what is claimed by the blocks of a guide", () => {
  test("B1 a block of TypeScript that is not marked is a fault, and a marked one is not", () => {
    assert.deepStrictEqual(faults("```ts", "const a = 1", "```"), [
      "docs/guides/tools.md:1 a ts block must be marked run, check or fragment"
    ])
    for (const use of ["run", "check", "fragment"]) assert.deepStrictEqual(faults(`\`\`\`ts ${use}`, "1", "```"), [])
  })

  test("B1 a word in a title is no mark", () => {
    assert.strictEqual(blocksOf(guide('```ts title="run it.ts"', "1", "```"))[0]?.use, undefined)
  })

  test("B2 titled blocks are files, a fragment is none, and no title comes twice", () => {
    const text = guide('```ts run title="a.ts"', "1", "```", "```ts fragment", "2", "```", "```ts run", "3", "```")
    const blocks = blocksOf(text)
    assert.deepStrictEqual(filesOf(blocks), { "a.ts": "1\n", "program-2.ts": "3\n" })
    assert.strictEqual(fileOf(blocks[1] ?? assert.fail(), 1), undefined)
    const twice = ['```ts run title="a.ts"', "1", "```"]
    assert.deepStrictEqual(faults(...twice, ...twice), [
      "docs/guides/tools.md:1 two blocks are called a.ts",
      "docs/guides/tools.md:4 two blocks are called a.ts"
    ])
  })

  test("B3 the text after a program is what it prints: in order, with gaps", () => {
    const [program] = blocksOf(guide("```ts run", "1", "```", "It prints:", "```text", "a …", "c", "```"))
    assert.deepStrictEqual(program?.prints, ["a …", "c"])
    assert.strictEqual(missingLine("a 1\nb\nc\n", ["a …", "c"]), undefined)
    assert.strictEqual(missingLine("c\na 1\n", ["a …", "c"]), "c")
    assert.strictEqual(missingLine("a+b", ["a.b"]), "a.b")
  })

  test("B4 a command that does not exist is found: of reverie, its options, a file, a route, a program", () => {
    const said = faults(
      "```sh",
      "npx reverie agents ls --data x",
      "npx reverie agents list",
      "npx reverie agents ls --colour",
      'npx reverie chat clerk "two words"',
      "npx reverie chat",
      "npx reverie chat clerk two words",
      "A=1 npx reverie --version # a note",
      "node gone.ts",
      "curl -s http://127.0.0.1:4000/v1/assistants/clerk/messages -d x",
      "curl http://127.0.0.1:4000/v1/gone",
      "npm run gone",
      "rm -rf /",
      "```"
    )
    assert.deepStrictEqual(
      said.map((line) => line.slice("docs/guides/tools.md:1 ".length)),
      [
        "there is no command reverie agents list",
        "reverie agents ls has no option --colour",
        "reverie chat takes other arguments than the 0 given",
        "reverie chat takes other arguments than the 3 given",
        "node gone.ts runs no file of this page",
        "no route answers /v1/gone",
        "npm run is not known",
        "rm is not known"
      ]
    )
  })

  test("B4 a command in a sentence is judged too", () => {
    const block = ["```text", "a", "```"]
    assert.deepStrictEqual(faults("Say `npx reverie agents ls` or `npx reverie gone`.", ...block), [
      "docs/guides/tools.md:1 there is no command reverie gone"
    ])
  })

  test("B5 a guide without a block, and a block that is not examined, are faults", () => {
    assert.deepStrictEqual(faults("# Tools"), ["docs/guides/tools.md a guide without a block of code"])
    assert.deepStrictEqual(faults("```yaml", "a: 1", "```"), ["docs/guides/tools.md:1 a block of yaml is not examined"])
    assert.deepStrictEqual(faults("```json", "{a}", "```"), ["docs/guides/tools.md:1 it is no JSON"])
  })
})
