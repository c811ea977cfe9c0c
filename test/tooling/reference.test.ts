// The generated reference has an entry for everything there is. What there is is found another way than the generator finds it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, beforeAll, describe, test } from "vitest"
import { defineAssistant } from "../../packages/reverie/src/index.ts"
import { entries } from "../../scripts/pack/parts.ts"
import { llmsText, markdownFile, type Page } from "../../scripts/docs/pages.ts"
import { currentPages, flawsOf } from "../../scripts/docs.ts"
import { run } from "../../scripts/check/program.ts"
import { filesOfRepository, readText } from "../architecture/repository.ts"

let pages: ReadonlyArray<Page> = []

beforeAll(async () => {
  pages = await currentPages()
}, 300_000)

const bodyOf = (slug: string): string =>
  pages.find((page) => page.slug === slug)?.body ?? assert.fail(`no page ${slug}`)
const entryOf = (slug: string, name: string): string => bodyOf(slug).split(`### ${name}\n`)[1]?.split("\n### ")[0] ?? ""
const without = (body: string, wanted: ReadonlyArray<string>): ReadonlyArray<string> =>
  wanted.filter((line) => !body.split("\n").includes(line))

/** The names in the export lists of a module, types among them, through `export *` of its own files. */
const namesIn = (path: string): ReadonlyArray<string> => {
  const text = readText(path)
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").flatMap((each) => /(\w+)\s*$/.exec(each)?.[1] ?? [])
  )
  const own = [...text.matchAll(/^export (?:abstract )?(?:const|class|function|interface|type) (\w+)/gm)]
  const through = [...text.matchAll(/^export \* from "(\.[^"]+)"/gm)].flatMap(([, to = ""]) =>
    namesIn(join(path, "..", to))
  )
  return [...new Set([...listed, ...own.map(([, name = ""]) => name), ...through])]
}

describe("the generated reference", () => {
  test.each(Object.entries(entries).filter(([, { subpath }]) => subpath !== undefined))(
    "K1 has an entry for every name that the entry point %s exports",
    (_, { source, subpath }) => {
      const names = namesIn(source)
      assert.isAbove(names.length, 3)
      const body = bodyOf(`reference/${subpath === "." ? "sdk" : subpath?.slice(2)}`)
      assert.deepStrictEqual(
        without(
          body,
          names.map((name) => `### ${name}`)
        ),
        []
      )
    }
  )

  test.each([
    ["Fleet", "packages/reverie/src/fleet.ts", ["ask", "answer", "send", "approve", "forget", "close"]],
    ["FleetReader", "packages/reverie/src/views/peek.ts", ["views", "list", "inspect"]]
  ])("K2 shows the members of %s, each with its comment", (name, source, known) => {
    const entry = entryOf("reference/sdk", name)
    const [, body = ""] = readText(source).split(`export class ${name} `)
    const members = [...body.matchAll(/^ {2}(?:readonly |static |async |get )*([a-z]\w*)[<(:?!]/gm)].map(
      ([, each = ""]) => each
    )
    const wanted = [...new Set(members)].filter((each) => each !== "constructor" && each !== "private")
    assert.includeMembers(wanted, known)
    const said = new Set(
      [...entry.matchAll(/\*\/\n {2}(?:readonly |static |get )*([a-z]\w*)[<(:?]/g)].map(([, each = ""]) => each)
    )
    assert.deepStrictEqual(
      wanted.filter((each) => !said.has(each)),
      []
    )
  })

  test("K2 no entry says of a name only that it is itself", () => {
    const empty = ["sdk", "testing", "server"].flatMap((page) => [
      ...bodyOf(`reference/${page}`).matchAll(/^(?:declare )?(?:type (\w+) =|const (\w+): typeof) (?:\1|\2);$/gm)
    ])
    assert.deepStrictEqual(
      empty.map(([line]) => line),
      []
    )
  })

  test("N1 every setting of an assistant is one that defineAssistant takes, with its default, in its range and not outside", () => {
    const rows = [
      ...bodyOf("reference/settings").matchAll(/^\| `(\w+)` \| `(number|boolean)` \|.*\| ([^|`]*) \| `([^`|]+)` \|$/gm)
    ]
    const make = (settings: Readonly<Record<string, unknown>>) =>
      defineAssistant({ id: "desk", instructions: "You keep the desk.", settings })
    assert.isAbove(rows.length, 10)
    for (const [, name = "", type, range = "", byDefault = ""] of rows) {
      make({ [name]: JSON.parse(byDefault) })
      if (type === "boolean") continue
      const [, least = "", most] = /^(\d+) (?:to (\d+)|and more)$/.exec(range) ?? []
      make({ [name]: Number(least) })
      assert.throws(() => make({ [name]: Number(least) - 1 }), new RegExp(`settings\\.${name} must be`))
      if (most === undefined) continue
      make({ [name]: Number(most) })
      assert.throws(() => make({ [name]: Number(most) + 1 }), new RegExp(`settings\\.${name} must be`))
    }
  })

  test("N1 has an entry for every command that the command line completes", async () => {
    const said = await run("node", [
      "--disable-warning=ExperimentalWarning",
      "apps/cli/src/main.ts",
      "completion",
      "bash"
    ])
    const names = [...said.stdout.matchAll(/^ {4}'([a-z -]+)'\) path=/gm)].map(([, name = ""]) => name)
    assert.isAbove(names.length, 50)
    const titles = names.map((name) => `## reverie ${name}`)
    assert.deepStrictEqual(without(bodyOf("reference/command-line"), titles), [])
  })

  test("N1 has an entry for every class of errors in the sources", () => {
    const tags = filesOfRepository("packages/*.ts", "apps/*.ts")
      .filter((path) => path.includes("/src/") && !path.startsWith("packages/testkit/"))
      .flatMap((path) => [...readText(path).matchAll(/TaggedError<(\w+)>\(\)/g)].map(([, tag = ""]) => tag))
    assert.isAbove(tags.length, 50)
    assert.deepStrictEqual(
      without(
        bodyOf("reference/errors"),
        [...new Set(tags)].map((tag) => `### ${tag}`)
      ),
      []
    )
  })

  test("N1 every error of a program says who acts next", () => {
    const [programs = ""] = bodyOf("reference/errors").split("## Errors of the HTTP API")
    const silent = programs
      .split(/^### /m)
      .slice(1)
      .filter((entry) => !entry.includes("Recovery: `"))
    assert.deepStrictEqual(
      silent.map((entry) => entry.split("\n")[0]),
      []
    )
  })

  test("N1 has every variable of the environment that the sources read", () => {
    const read = filesOfRepository("packages/*.ts", "apps/*.ts")
      .filter(
        (path) => path.includes("/src/") && !/^packages\/(testkit|create-reverie)\/|^apps\/dashboard\//.test(path)
      )
      .flatMap((path) => [...readText(path).matchAll(/"((?:REVERIE|OPENAI|DATABASE|REDIS|QDRANT|OTEL)_[A-Z_]+)"/g)])
      .map(([, name = ""]) => name)
    assert.isAbove(read.length, 20)
    const body = bodyOf("reference/settings")
    assert.deepStrictEqual(
      [...new Set(read)].filter((name) => !body.includes(`\`${name}\``)),
      []
    )
  })

  test("N1 has every route of the contract in the server's own words", () => {
    const routes = [
      ...readText("apps/server/src/api/assistants.ts").matchAll(/HttpApiEndpoint\.(\w+)\("\w+", "([^"]+)"/g)
    ]
    assert.isAbove(routes.length, 3)
    const titles = routes.map(
      ([, method = "", path = ""]) => `## ${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`
    )
    assert.deepStrictEqual(without(bodyOf("reference/http"), titles), [])
  })

  test("P2 every link of a page and of llms.txt leads to a page", () => {
    const files = new Set(pages.map(({ slug }) => `${slug}.md`))
    const links = pages.flatMap((page) =>
      [...markdownFile(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)].map(([, to = ""]) =>
        join(page.slug, "..", to)
      )
    )
    const listed = [...llmsText(pages).matchAll(/\]\(([^)]+\.md)\)/g)].map(([, to = ""]) => to)
    assert.isAbove(links.length, 10)
    assert.strictEqual(listed.length, pages.length)
    assert.deepStrictEqual(
      [...links, ...listed].filter((link) => !files.has(link)),
      []
    )
  })
})

describe("a built site", () => {
  test("D1 D2 is no site where a page, its Markdown or the search is missing, or where it asks for something from elsewhere", () => {
    const folder = mkdtempSync(join(tmpdir(), "reverie-site-"))
    try {
      const page: Page = { slug: "tools", section: "Guides", title: "Tools", description: "d", body: "b" }
      assert.deepStrictEqual(flawsOf(folder, []), ["there is no page", "there is no search"])
      for (const path of ["tools", "pagefind"]) mkdirSync(join(folder, path))
      writeFileSync(join(folder, "pagefind/index.js"), "")
      assert.deepStrictEqual(flawsOf(folder, [page]), ["tools/index.html was not made", "tools.md was not made"])
      writeFileSync(join(folder, "tools.md"), "# Tools")
      writeFileSync(
        join(folder, "tools/index.html"),
        '<a href="https://a.example">a link</a><script src="/x.js"></script>'
      )
      assert.deepStrictEqual(flawsOf(folder, [page]), [])
      writeFileSync(join(folder, "tools/index.html"), '<link rel="stylesheet" href="https://fonts.example/a.css">')
      assert.include(flawsOf(folder, [page])[0], "fonts.example")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
