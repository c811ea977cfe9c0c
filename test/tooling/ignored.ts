// Ignored: which paths of a working copy the list .dockerignore keeps from the builder of an image.
// Owns the reading of the list, as Docker's builders read it. Leaves what has to be in an image to its tests.
// I1  A path is kept away when the last line that matches it, or a folder above it, has no `!` before it.
// I2  `*` and `?` stay within one name; `**` is any number of folders.

const escaped = (text: string): string => text.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)

const patternOf = (line: string): RegExp => {
  const source = line
    .replace(/^!/, "")
    .replaceAll(/^\/+|\/+$/g, "")
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part === "**/") return "(?:.*/)?"
      if (part === "**") return ".*"
      if (part === "*") return "[^/]*"
      return part === "?" ? "[^/]" : escaped(part)
    })
    .join("")
  return new RegExp(`^${source}$`)
}

/** A path and every folder above it. */
const chainOf = (path: string): ReadonlyArray<string> => {
  const names = path.split("/")
  return names.map((_, index) => names.slice(0, index + 1).join("/"))
}

export const linesOf = (list: string): ReadonlyArray<string> =>
  list
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))

/** Judges paths from the root of the working copy. */
export const isIgnoredBy = (list: string): ((path: string) => boolean) => {
  const rules = linesOf(list).map((line) => ({ pattern: patternOf(line), isIgnored: !line.startsWith("!") }))
  return (path) => {
    const chain = chainOf(path)
    return rules.findLast(({ pattern }) => chain.some((each) => pattern.test(each)))?.isIgnored ?? false
  }
}
