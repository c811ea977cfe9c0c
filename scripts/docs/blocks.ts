// Blocks: the code blocks of the guides, and what each of them claims.
// Owns their marks and what can be judged without a run. Leaves running and type-checking them to programs.ts.
// B1  A block of TypeScript says what happens to it: `run` is executed, `check` and `fragment` are type-checked.
// B2  A block with a title is a file beside the others of its page. Two blocks of a page never have the same title.
// B3  A `text` block after one that runs is what it prints: its lines come in this order, `…` stands for anything.
// B4  A line of a `sh` block is a command that exists: of npm, of `reverie`, or of a file of the page; `curl` asks a route.
//     So is what a sentence quotes of `npx reverie`. Options and the number of arguments are judged too.
// B5  A guide has at least one block, and every block is of a language that is examined.

export interface Block {
  /** The page and the line, as an editor finds them. */
  readonly where: string
  readonly language: string
  readonly use: "run" | "check" | "fragment" | undefined
  readonly title: string | undefined
  readonly code: string
  /** What it prints, when it says so. */
  readonly prints: ReadonlyArray<string> | undefined
}

export interface Text {
  readonly path: string
  readonly text: string
}

export interface BlockClaim {
  readonly where: string
  readonly fault: string | undefined
}

const FENCE = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm

const lineAt = ({ path, text }: Text, index: number): string => `${path}:${text.slice(0, index).split("\n").length}`

export const blocksOf = (page: Text): ReadonlyArray<Block> => {
  const found = [...page.text.matchAll(FENCE)].map((match): Block => {
    const [, language = "", meta = "", code = ""] = match
    const [, use] = /\s(run|check|fragment)\b/.exec(meta.replace(/title="[^"]*"/, "")) ?? []
    const title = /title="([^"]*)"/.exec(meta)?.[1]
    return { where: lineAt(page, match.index), language, use: use as Block["use"], title, code, prints: undefined }
  })
  return found.map((block, index) => {
    const next = found[index + 1]
    const isPrinted = block.use === "run" && next?.language === "text"
    return isPrinted ? { ...block, prints: next.code.trimEnd().split("\n") } : block
  })
}

/** The files of a page, by name; a block that runs and has no title has one of its own. */
export const filesOf = (blocks: ReadonlyArray<Block>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    blocks.flatMap((block, index) =>
      block.use === "fragment" || fileOf(block, index) === undefined ? [] : [[fileOf(block, index), block.code]]
    )
  )

/** The name of the file that a block is; undefined of one that is none. */
export const fileOf = ({ language, title, use }: Block, index: number): string | undefined =>
  title ?? (language === "ts" && use === "run" ? `program-${index}.ts` : undefined)

/** The first line that a program was to print and did not. */
export const missingLine = (printed: string, wanted: ReadonlyArray<string>): string | undefined => {
  const lines = printed.split("\n")
  let at = 0
  for (const line of wanted) {
    const pattern = new RegExp(
      `^${line
        .split("…")
        .map((part) => RegExp.escape(part))
        .join(".*")}\\s*$`
    )
    const found = lines.findIndex((each, index) => index >= at && pattern.test(each))
    if (found === -1) return line
    at = found + 1
  }
  return undefined
}

export interface KnownCommand {
  /** Whether each option takes a value. */
  readonly options: ReadonlyMap<string, boolean>
  readonly leastArguments: number
  readonly mostArguments: number
}

/** What commands a guide may name. */
export interface Known {
  /** Every command of `reverie`, by its whole name, e.g. "reverie agents ls". */
  readonly commands: ReadonlyMap<string, KnownCommand>
  /** "POST /v1/assistants/:id/messages". */
  readonly routes: ReadonlyArray<string>
}

/** The words of a line: what stands in quotes is one. */
const wordsOf = (line: string): ReadonlyArray<string> => line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []

const reverieFault = (words: ReadonlyArray<string>, { commands }: Known): string | undefined => {
  const plain = words.filter((word) => !word.startsWith("-"))
  const sizes = [3, 2, 1].filter((size) => size <= plain.length + 1)
  const name = sizes.map((size) => ["reverie", ...plain].slice(0, size).join(" ")).find((each) => commands.has(each))
  const found = name === undefined ? undefined : commands.get(name)
  const isBranch = [...commands.keys()].some((each) => each.startsWith(`${name} `))
  if (found === undefined || (isBranch && name !== ["reverie", ...plain].join(" "))) {
    return `there is no command reverie ${plain.slice(0, 2).join(" ")}`
  }
  let given = 1 - (name ?? "").split(" ").length
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ""
    if (!word.startsWith("-")) given += 1
    else {
      const takesValue = found.options.get(word.replace(/=.*/, ""))
      if (takesValue === undefined) return `${name} has no option ${word}`
      if (takesValue && !word.includes("=")) index += 1
    }
  }
  const isRight = given >= found.leastArguments && given <= found.mostArguments
  return isRight ? undefined : `${name} takes other arguments than the ${given} given`
}

const curlFault = (line: string, { routes }: Known): string | undefined => {
  const path = /https?:\/\/[^/\s]+(\/[^\s?'"]*)/.exec(line)?.[1]
  if (path === undefined) return "curl asks for no path"
  const isKnown = routes.some((route) => {
    const [, template = ""] = route.split(" ")
    const pattern = template
      .split(/:\w+|\{\w+\}/)
      .map((part) => RegExp.escape(part))
      .join("[^/]+")
    return new RegExp(`^${pattern}$`).test(path)
  })
  return isKnown ? undefined : `no route answers ${path}`
}

const commandFault = (line: string, files: ReadonlyArray<string>, known: Known): string | undefined => {
  const command = line.replace(/\s+#.*$/, "").replace(/^(?:[A-Z_]+=\S*\s+)+/, "")
  const [program = "", ...rest] = wordsOf(command)
  if (program === "npx" && rest[0] === "reverie") return reverieFault(rest.slice(1), known)
  if (program === "npx" && rest[0] === "skills") return undefined
  if (program === "curl") return curlFault(command, known)
  if (program === "npm")
    return ["i", "init", "install", "create", "pkg", "test"].includes(rest[0] ?? "")
      ? undefined
      : `npm ${rest[0]} is not known`
  if (program === "node")
    return rest.some((word) => files.includes(word)) ? undefined : `${line} runs no file of this page`
  return ["cd", "export", "docker", "cp", "mkdir"].includes(program) ? undefined : `${program} is not known`
}

const shellClaims = (block: Block, files: ReadonlyArray<string>, known: Known): ReadonlyArray<BlockClaim> =>
  block.code
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => ({ where: block.where, fault: commandFault(line.trim(), files, known) }))

const blockFault = (block: Block): string | undefined => {
  const { code, language, use } = block
  if (language === "ts") return use === undefined ? "a ts block must be marked run, check or fragment" : undefined
  if (language === "json") {
    try {
      JSON.parse(code)
    } catch {
      return "it is no JSON"
    }
    return undefined
  }
  return ["sh", "text"].includes(language) ? undefined : `a block of ${language} is not examined`
}

/** B4: commands that sentences and tables quote. */
const quotedClaims = ({ path, text }: Text, known: Known): ReadonlyArray<BlockClaim> => {
  const prose = text.replaceAll(FENCE, (fence) => fence.replaceAll(/[^\n]/g, " "))
  return [...prose.matchAll(/`npx reverie ([^`\n]+)`/g)].map((match) => ({
    where: lineAt({ path, text }, match.index),
    fault: reverieFault(wordsOf(match[1] ?? ""), known)
  }))
}

/** Everything that can be said of the blocks of a guide without running them. */
export const blockClaims = (page: Text, known: Known): ReadonlyArray<BlockClaim> => {
  const blocks = blocksOf(page)
  if (blocks.length === 0) return [{ where: page.path, fault: "a guide without a block of code" }]
  const titles = blocks.flatMap(({ title }) => title ?? [])
  const ofBlocks = blocks.flatMap((block, index) => {
    const isTwice = block.title !== undefined && titles.indexOf(block.title) !== titles.lastIndexOf(block.title)
    const fault = isTwice ? `two blocks are called ${block.title}` : blockFault(block)
    const files = Object.keys(filesOf(blocks.slice(0, index)))
    return [{ where: block.where, fault }, ...(block.language === "sh" ? shellClaims(block, files, known) : [])]
  })
  return [...ofBlocks, ...quotedClaims(page, known)]
}
