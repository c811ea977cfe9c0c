// Sentences: what a model learns about arguments that do not fit.
// Owns their wording and their length. Leaves finding the issues to the schema.
// I1  Each sentence names the place and what to correct there, and is bounded whatever the arguments hold.

/** Most issues named at once; a hostile list of a million wrong items must not become a million sentences. */
const MAX_ISSUES = 20
const MAX_SENTENCE_CHARS = 300

export const WHOLE = "the arguments"

/** `items[2].name`; the whole when the path is empty. */
const placeOf = (path: ReadonlyArray<PropertyKey>): string => {
  if (path.length === 0) return WHOLE
  return path
    .map((key, index) => {
      const name = String(key)
      if (/^\d+$/.test(name)) return `[${name}]`
      if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `[${JSON.stringify(name)}]`
      return index === 0 ? name : `.${name}`
    })
    .join("")
}

export const issueSentence = (path: ReadonlyArray<PropertyKey>, message: string): string =>
  clipped(`${placeOf(path)}: ${message}`, MAX_SENTENCE_CHARS)

/** At most MAX_ISSUES of them, and how many were left out. */
export const boundedIssues = <A>(issues: ReadonlyArray<A>, say: (issue: A) => string): ReadonlyArray<string> => {
  const said = issues.slice(0, MAX_ISSUES).map(say)
  return issues.length > MAX_ISSUES ? [...said, `and ${issues.length - MAX_ISSUES} more issues`] : said
}

/** The text within the limit, with an ellipsis where it was cut, never inside a surrogate pair. */
export const clipped = (text: string, limit: number): string =>
  text.length <= limit
    ? text
    : `${text
        .slice(0, limit - 3)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}...`

// Thrown: what may be told of something that user code threw.
// I1  Reading never throws, whatever was thrown.

const MAX_MESSAGE_CHARS = 2_000

/** The message alone, or the name of an error that has none. */
export const messageOf = (thrown: unknown): string => {
  try {
    if (typeof thrown === "string") return clipped(thrown, MAX_MESSAGE_CHARS)
    if (typeof thrown !== "object" || thrown === null) return `it threw ${String(thrown)}`
    const message = "message" in thrown ? thrown.message : undefined
    if (typeof message === "string" && message !== "") return clipped(message, MAX_MESSAGE_CHARS)
    const name = "_tag" in thrown ? thrown._tag : "name" in thrown ? thrown.name : undefined
    if (typeof name === "string" && name !== "") return clipped(name, MAX_MESSAGE_CHARS)
    return "it threw something without a message"
  } catch {
    return "it threw something that can not be read"
  }
}
