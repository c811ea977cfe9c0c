// npm run docs -- [--out FOLDER] [--markdown] [--json]
// Docs: the site of the documents for users: guides, reference, local search, and the Markdown of each page beside it.
// Owns the command and what must be true of what it made. Leaves pages to docs/pages.ts and HTML to apps/docs.
// D1  It fetches nothing, and a page that asks for something from elsewhere breaks the build.
// D2  A site without a page, without its search, or without the Markdown of a page is no site.

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { buildSite, missingIn, searchFilesIn } from "../apps/docs/build.ts"
import { root } from "./check/program.ts"
import { type Page, pagesOf, writeForSite, writeMarkdown } from "./docs/pages.ts"
import { bundleTypes } from "./pack/bundle.ts"

/** The pages, from declarations made for them. */
export const currentPages = async (): Promise<ReadonlyArray<Page>> => {
  const lib = join(root, ".reverie", `types-${process.pid}`)
  try {
    await bundleTypes(lib)
    return pagesOf(lib)
  } finally {
    rmSync(lib, { recursive: true, force: true })
  }
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const FOREIGN = /<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/

/** What is wrong with a built site. D1, D2. */
export const flawsOf = (folder: string, pages: ReadonlyArray<Page>): ReadonlyArray<string> => {
  const foreign = filesIn(folder)
    .filter((file) => /\.(?:html|css)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(file, "utf8")
      const found = FOREIGN.exec(text)?.[0] ?? /@import\s+(?:url\()?["']?https?:|url\(["']?https?:/.exec(text)?.[0]
      return found === undefined ? [] : [`${file} asks for ${found}`]
    })
  return [
    ...(pages.length === 0 ? ["there is no page"] : []),
    ...missingIn(folder, pages).map((file) => `${file} was not made`),
    ...pages.filter(({ slug }) => !existsSync(join(folder, `${slug}.md`))).map(({ slug }) => `${slug}.md was not made`),
    ...(searchFilesIn(folder) === 0 ? ["there is no search"] : []),
    ...foreign
  ]
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: "apps/docs/dist/site" },
      markdown: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  })
  const begun = performance.now()
  const out = resolve(root, values.out)
  const pages = await currentPages()
  if (values.markdown) writeMarkdown(out, pages)
  else await buildSite(out, pages, (folder) => writeForSite(folder, pages))
  const flaws = values.markdown ? [] : flawsOf(out, pages)
  const files = filesIn(out)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  const ok = flaws.length === 0
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ ok, folder: out, pages: pages.length, files: files.length, bytes, seconds, flaws })}\n`
      : `${[...flaws, `${out}: ${pages.length} pages, ${files.length} files, ${(bytes / 1_048_576).toFixed(1)} MB, in ${seconds} s`].join("\n")}\n`
  )
  process.exit(ok ? 0 : 1)
}
