// Pages: what the documents for users consist of: guides that are written, and a reference that is generated.
// Owns their list, their order, their links, and their forms: Markdown files and llms.txt. Leaves HTML to apps/docs.
// P1  Every guide in docs/guides is a page, and every page of the list is there.
// P2  A link between pages leads to the page in each form; a link to a file that is no page becomes its words.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { readText } from "../../test/architecture/repository.ts"
import { root } from "../check/program.ts"
import { commandLineText, contract, errorsText, httpText, settingsText } from "./reference.ts"
import { sdkNames, sdkText } from "./sdk.ts"

export interface Page {
  /** Its address without an ending, e.g. `guides/tools`. */
  readonly slug: string
  readonly section: string
  readonly title: string
  /** One sentence. */
  readonly description: string
  /** Markdown without the title. */
  readonly body: string
}

const GUIDES = "docs/guides"

/** In the order in which they are read. */
const guides: ReadonlyArray<readonly [section: string, names: ReadonlyArray<string>]> = [
  ["Start here", ["get-started", "concepts"]],
  [
    "Guides",
    [
      "tools",
      "answers-in-a-form",
      "parts",
      "approvals",
      "hooks",
      "memory",
      "sleep-and-dreams",
      "reminders",
      "sub-agents",
      "models",
      "testing",
      "the-page",
      "playground",
      "web-frameworks"
    ]
  ],
  ["Run it", ["deploying", "operating", "memory-index"]],
  ["Come from", ["from-langgraph", "from-mastra", "from-openai-agents", "from-letta"]]
]

/** Files of docs/ that are pages for users too. */
const others: Readonly<Record<string, readonly [section: string, description: string]>> = {
  "docs/SECURITY.md": ["Run it", "What Reverie guards against, and what you have to do."],
  "docs/glossary.md": ["Reference", "The terms of Reverie, one sentence each."]
}

const sectionsInOrder = ["Start here", "Guides", "Run it", "Come from", "Reference"]

/** The address of the page that a file of docs/ is. */
export const slugOf = (path: string): string =>
  path.startsWith(GUIDES) ? `guides/${posix.basename(path, ".md")}` : posix.basename(path, ".md").toLowerCase()

/** P2. `here` is where the text stands in the repository. */
const linked = (text: string, here: string, known: ReadonlySet<string>): string =>
  text.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, words: string, target: string) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return whole
    const [path = "", anchor] = target.split("#")
    const to = posix.join(posix.dirname(here), path)
    const slug = to.startsWith("docs/reference/") ? to.slice("docs/".length).replace(/\.md$/, "") : slugOf(to)
    if (!known.has(slug)) return words
    return `[${words}](/${slug}.md${anchor === undefined ? "" : `#${anchor}`})`
  })

const written = (path: string, section: string, described: string | undefined, known: ReadonlySet<string>): Page => {
  const text = readText(path)
  const [whole, title] = /^# (.+)\n+/.exec(text) ?? []
  if (whole === undefined || title === undefined) throw new Error(`${path} does not begin with its title`)
  const body = text.slice(whole.length)
  const [first = ""] = body.split("\n\n")
  const description = described ?? first.replaceAll("\n", " ").replaceAll("`", "")
  return { slug: slugOf(path), section, title, description, body: linked(body, path, known) }
}

const generated = (slug: string, title: string, description: string, body: string): Page => ({
  slug: `reference/${slug}`,
  section: "Reference",
  title,
  description,
  body: `${description}\n\n${body}\n`
})

export const references = ["sdk", "testing", "server", "command-line", "settings", "http", "errors"]

/** The names of the guides that are there. */
const guideFiles = (): ReadonlyArray<string> =>
  readdirSync(join(root, GUIDES))
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.slice(0, -".md".length))

/** P1. */
const assertWhole = (): void => {
  const listed = new Set(guides.flatMap(([, names]) => names))
  const there = new Set(guideFiles())
  const wrong = [...listed.symmetricDifference(there)]
  if (wrong.length > 0) throw new Error(`scripts/docs/pages.ts and docs/guides do not agree on: ${wrong.join(", ")}`)
}

/** All pages; `lib` is the folder with the declarations of the package. */
export const pagesOf = (lib: string): ReadonlyArray<Page> => {
  assertWhole()
  const slugs = [
    ...guides.flatMap(([, names]) => names.map((name) => `guides/${name}`)),
    ...Object.keys(others).map(slugOf),
    ...references.map((name) => `reference/${name}`)
  ]
  const known = new Set(slugs)
  const sdk = (entry: string): string => sdkText(sdkNames(lib, entry))
  const pages = [
    ...guides.flatMap(([section, names]) =>
      names.map((name) => written(`${GUIDES}/${name}.md`, section, undefined, known))
    ),
    ...Object.entries(others).map(([path, [section, says]]) => written(path, section, says, known)),
    generated("sdk", "SDK", "Everything that `reverie` exports.", sdk("index")),
    generated("testing", "Testing", "Everything that `reverie/testing` exports.", sdk("testing")),
    generated("server", "Server", "Everything that `reverie/server` exports.", sdk("server")),
    generated("command-line", "Command line", "Every command of `reverie` with its options.", commandLineText()),
    generated("settings", "Settings and environment", "Every setting and every environment variable.", settingsText()),
    generated("http", "HTTP API", "Every route of the HTTP API.", httpText()),
    generated("errors", "Errors", "Every error, what it means, and who acts next.", errorsText())
  ]
  return sectionsInOrder.flatMap((section) => pages.filter((page) => page.section === section))
}

/** A page as one Markdown file, its links relative to where it stands. */
export const markdownFile = ({ body, slug, title }: Page): string =>
  `# ${title}\n\n${body.trim()}\n`.replaceAll(/\]\(\/([^)]+)\)/g, (_, target: string) => {
    const [path = "", anchor] = target.split("#")
    const to = posix.relative(posix.dirname(slug), path)
    return `](${to}${anchor === undefined ? "" : `#${anchor}`})`
  })

const INTRODUCTION =
  "Reverie is a TypeScript runtime for fleets of long-lived assistants: each has a durable mailbox, one writer at a time, " +
  "memory, and a statechart. Nothing accepted is lost, and every step is on record."

/** The list of all pages, in the form of llmstxt.org. */
export const llmsText = (pages: ReadonlyArray<Page>): string => {
  const sections = sectionsInOrder.map((section) => {
    const lines = pages
      .filter((page) => page.section === section)
      .map(({ description, slug, title }) => `- [${title}](${slug}.md): ${description}`)
    return `## ${section}\n\n${lines.join("\n")}`
  })
  return `# Reverie\n\n> ${INTRODUCTION}\n\n${sections.join("\n\n")}\n`
}

const llmsFullText = (pages: ReadonlyArray<Page>): string =>
  `# Reverie\n\n> ${INTRODUCTION}\n\n${pages.map((page) => markdownFile(page).replace(/^# /, "# Page: ")).join("\n---\n\n")}`

const write = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Each page as a Markdown file, and their list. */
export const writeMarkdown = (folder: string, pages: ReadonlyArray<Page>): void => {
  for (const page of pages) write(join(folder, `${page.slug}.md`), markdownFile(page))
  write(join(folder, "llms.txt"), llmsText(pages))
}

/** The same with what only a site has: all pages in one file, and the contract. */
export const writeForSite = (folder: string, pages: ReadonlyArray<Page>): void => {
  writeMarkdown(folder, pages)
  write(join(folder, "llms-full.txt"), llmsFullText(pages))
  write(join(folder, "openapi.json"), `${JSON.stringify(contract())}\n`)
}
