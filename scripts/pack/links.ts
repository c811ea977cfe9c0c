// Links: what the Markdown of the package refers to.
// Owns the links of its README, and finding those that lead nowhere. Leaves the links of pages to docs/pages.ts.
// R1  A relative link of the README leads to a page, or to a file that is copied. What only the repository has becomes its words.
// R2  A relative link of any Markdown in the package that leads to no file of it is found. What stands in code is no link.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { slugOf } from "../docs/pages.ts"
import { copies } from "./parts.ts"

const FENCED_OR_LINK = /^```[\s\S]*?^```|`[^`\n]*`|!?\[([^\]]*)\]\(([^)\s]+)\)/gm

const isElsewhere = (target: string): boolean => /^(?:[a-z][a-z+.-]*:|#)/i.test(target)

/** The README of the repository as it lies in the package, among such pages. */
export const packedReadme = (text: string, slugs: ReadonlySet<string>): string =>
  text.replaceAll(FENCED_OR_LINK, (whole, words: string | undefined, target: string | undefined) => {
    if (words === undefined || target === undefined || isElsewhere(target)) return whole
    const [path = "", anchor] = target.split("#")
    const slug = path.startsWith("docs/") ? slugOf(path) : ""
    const to = slugs.has(slug) ? `docs/${slug}.md` : copies[path]
    if (to === undefined) return words
    return whole.replace(`](${target})`, `](${to}${anchor === undefined ? "" : `#${anchor}`})`)
  })

const markdownIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (entry.name.endsWith(".md") || entry.name === "llms.txt"))
    .map((entry) => join(entry.parentPath, entry.name))

/** The relative links of a packed folder that lead to no file of it, each with the file that it stands in. */
export const deadLinks = (folder: string): ReadonlyArray<string> =>
  markdownIn(folder).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(FENCED_OR_LINK)].flatMap(([, , target]) => {
      if (target === undefined || isElsewhere(target)) return []
      const [path = ""] = target.split("#")
      const to = join(dirname(file), decodeURI(path))
      const isInside = !relative(folder, to).startsWith("..")
      return isInside && existsSync(to) ? [] : [`${relative(folder, file)}: ${target}`]
    })
  )
