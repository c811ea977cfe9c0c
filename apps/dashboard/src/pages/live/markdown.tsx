// Markdown: the answer of a model, read as the Markdown that models write.
// Owns which elements come of it, and how they look. Leaves reading Markdown to its library, and plain text to text.tsx.
// K1  No part of it is HTML, whatever it says: tags are shown as they are written, and only known elements come out.
// K2  Nothing is fetched: an image is a link. A link opens a tab of its own, which learns nothing of this one.
// K3  What can not be seen is made visible as in every other text (V2 of text.tsx).

import ReactMarkdown, { type Components, type Options } from "react-markdown"
import rehypeSanitize from "rehype-sanitize"
import remarkGfm from "remark-gfm"
import { pieces } from "../../parts/text.tsx"

type Plugin = NonNullable<Options["rehypePlugins"]>[number]

interface HastNode {
  type: string
  readonly value?: string
  children?: ReadonlyArray<HastNode>
}

/** Tags are words of the answer: a sanitizer would take them away without a word. */
const tagsAsText = (node: HastNode): void => {
  if (node.type === "raw") node.type = "text"
  for (const child of node.children ?? []) tagsAsText(child)
}

const tagsShown = (() => tagsAsText) as unknown as Plugin

const shown = (node: HastNode): ReadonlyArray<HastNode> => {
  if (node.type !== "text") return [withUnseen(node)]
  return pieces(node.value ?? "").map(({ text, unseen }): HastNode => {
    if (unseen === undefined) return { type: "text", value: text }
    const name = { type: "text", value: `⟨${unseen}⟩` }
    return Object.assign(
      { type: "element", children: [name] },
      { tagName: "span", properties: { className: ["invisible-char"], dataUnseen: unseen } }
    )
  })
}

const withUnseen = (node: HastNode): HastNode => {
  if (node.children !== undefined) node.children = node.children.flatMap(shown)
  return node
}

const unseenShown = (() => (tree: HastNode) => void withUnseen(tree)) as unknown as Plugin

const Outside = ({ children, href }: { readonly href?: string | undefined; readonly children: React.ReactNode }) =>
  href === undefined || href === "" ? (
    <span>{children}</span>
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )

const components: Components = {
  a: ({ children, href }) => <Outside href={href}>{children}</Outside>,
  img: ({ alt = "", src }) => (
    <Outside href={typeof src === "string" ? src : undefined}>{alt === "" ? "an image" : alt}</Outside>
  ),
  table: ({ children }) => (
    <div className="markdown-wide" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => (
    <pre className="markdown-wide" role="region" aria-label="Code" tabIndex={0}>
      {children}
    </pre>
  )
}

const remark = [remarkGfm]
const rehype = [tagsShown, rehypeSanitize, unseenShown]

export const Markdown = ({ text }: { readonly text: string }) => (
  <div className="markdown" data-markdown>
    <ReactMarkdown remarkPlugins={remark} rehypePlugins={rehype} components={components}>
      {text}
    </ReactMarkdown>
  </div>
)
