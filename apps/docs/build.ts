// Build: makes the site of the documents out of Markdown files.
// Owns how Starlight is set up. Leaves what the pages say, and their list, to scripts/docs.
// B1  Nothing is fetched and nothing is sent: no fonts, no telemetry, no optional part of the network; the search is local.
// B2  What is made lies in `dist/`, outside of what git keeps.

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface SitePage {
  readonly slug: string
  readonly section: string
  readonly title: string
  readonly description: string
  /** Markdown without the title; links to pages are absolute and end with `.md`. */
  readonly body: string
}

const project = join(import.meta.dirname, "dist/project")

const config = `import { defineCollection } from "astro:content"
import { docsLoader } from "@astrojs/starlight/loaders"
import { docsSchema } from "@astrojs/starlight/schema"
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) }
`

const style = `:root { --sl-content-width: 52rem; }
.sl-markdown-content table { font-size: var(--sl-text-sm); }
`

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#4f46e5"/></svg>
`

/** In the site a link leads to the page made for people; the Markdown file is beside it. */
const forPeople = (body: string): string =>
  body.replaceAll(/\]\(\/([^)#]+)\.md(#[^)]*)?\)/g, (_, path: string, anchor = "") => `](/${path}/${anchor})`)

const write = ({ body, description, slug, title }: SitePage): void => {
  const head = `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\n---\n\n`
  const file = join(project, "src/content/docs", `${slug}.md`)
  mkdirSync(join(file, ".."), { recursive: true })
  writeFileSync(file, head + forPeople(body))
}

const sidebarOf = (pages: ReadonlyArray<SitePage>) =>
  [...new Set(pages.map(({ section }) => section))].map((label) => ({
    label,
    items: pages.filter(({ section }) => section === label).map(({ slug, title }) => ({ label: title, slug }))
  }))

const frontOf = (pages: ReadonlyArray<SitePage>): SitePage => {
  const sections = sidebarOf(pages).map(({ items, label }) => {
    const lines = items.map(({ label: title, slug }) => {
      const says = pages.find((page) => page.slug === slug)?.description ?? ""
      return `- [${title}](/${slug}/): ${says}`
    })
    return `## ${label}\n\n${lines.join("\n")}`
  })
  const description = "A TypeScript runtime for fleets of long-lived assistants."
  const machines =
    "For coding agents: [llms.txt](/llms.txt), [llms-full.txt](/llms-full.txt), and each page as Markdown beside its HTML."
  return {
    slug: "index",
    section: "",
    title: "Reverie",
    description,
    body: `${description}\n\n${sections.join("\n\n")}\n\n${machines}\n`
  }
}

/** Builds the site into a folder; `addTo` adds what lies beside the HTML. */
export const buildSite = async (
  outDir: string,
  pages: ReadonlyArray<SitePage>,
  addTo: (folder: string) => void
): Promise<void> => {
  process.env["ASTRO_TELEMETRY_DISABLED"] = "1"
  rmSync(project, { recursive: true, force: true })
  mkdirSync(join(project, "src/styles"), { recursive: true })
  mkdirSync(join(project, "public"))
  writeFileSync(join(project, "public/favicon.svg"), icon)
  writeFileSync(join(project, "src/content.config.mjs"), config)
  writeFileSync(join(project, "src/styles/site.css"), style)
  for (const page of [frontOf(pages), ...pages]) write(page)
  const { build } = await import("astro")
  const { default: starlight } = await import("@astrojs/starlight")
  const made = join(project, "out")
  await build({
    root: project,
    outDir: made,
    configFile: false,
    logLevel: "warn",
    // The pages are made by a program that stands here, and would find the older one of the repository's own root.
    vite: { environments: { prerender: { resolve: { noExternal: ["cookie"] } } } },
    integrations: [
      starlight({
        title: "Reverie",
        description: "A TypeScript runtime for fleets of long-lived assistants.",
        sidebar: sidebarOf(pages),
        customCss: ["./src/styles/site.css"],
        lastUpdated: false,
        pagination: true,
        credits: false
      })
    ]
  })
  addTo(made)
  rmSync(outDir, { recursive: true, force: true })
  cpSync(made, outDir, { recursive: true })
  rmSync(project, { recursive: true, force: true })
}

/** The HTML file of each page of a built site that has none. */
export const missingIn = (folder: string, pages: ReadonlyArray<SitePage>): ReadonlyArray<string> =>
  pages.map(({ slug }) => `${slug}/index.html`).filter((file) => !existsSync(join(folder, file)))

/** Files of the local search. */
export const searchFilesIn = (folder: string): number =>
  existsSync(join(folder, "pagefind")) ? readdirSync(join(folder, "pagefind"), { recursive: true }).length : 0
