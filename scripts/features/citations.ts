// Citations: which tests name which rows in their titles.
// Owns reading row ids out of titles. Leaves judging whether that is enough to coverage.
// C1  A row is cited by its id as a whole word: F10 is not cited by F109. A range cites every row in it.
// C2  A test cites by its own title and by those of the groups around it, and is named `file > group > title`.
// C3  Where F1 and its like are laws of a file itself, they cite nothing; a file listed as such without one is a fault.

export interface TestOutcome {
  readonly title: string
  readonly ancestorTitles: ReadonlyArray<string>
  readonly status: string
}

/** What vitest's JSON reporter writes, as far as it is read here. */
export interface Results {
  readonly testResults: ReadonlyArray<{
    /** The path of the file. */
    readonly name: string
    readonly assertionResults: ReadonlyArray<TestOutcome>
  }>
}

/** Row ids in a title, ranges spelt out, in numeric order. */
export const rowsIn = (title: string): ReadonlyArray<string> => {
  const numbers = [...title.matchAll(/(?<!\w)F(\d{1,3})(?:\s?[-–]\s?F(\d{1,3}))?(?!\w)/g)].flatMap((match) => {
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])]
    return first <= last ? Array.from({ length: last - first + 1 }, (_, index) => first + index) : [first, last]
  })
  return [...new Set(numbers)].toSorted((a, b) => a - b).map((number) => `F${number}`)
}

/** Files whose own laws are called F1, F2. */
const namesakes: ReadonlyArray<string> = [
  "apps/cli/test/failure.test.ts",
  "apps/cli/test/failures.test.ts",
  "packages/adapters/store-sqlite/test/format.test.ts",
  "packages/adapters/store-sqlite/test/opening.test.ts"
]

export interface Citation {
  readonly row: string
  /** `file > group > title`. */
  readonly test: string
  readonly status: string
}

export interface Citations {
  readonly cited: ReadonlyArray<Citation>
  /** Tests that were run, those without a citation among them. */
  readonly tests: number
  /** Namesakes that no longer need to be one. */
  readonly idle: ReadonlyArray<string>
}

/** `root` is taken off the paths and ends with a slash. */
export const citationsIn = (results: Results, root: string, except: ReadonlyArray<string> = namesakes): Citations => {
  const ran = results.testResults.flatMap(({ assertionResults, name }) =>
    assertionResults
      .filter(({ status }) => status === "passed" || status === "failed")
      .map((test) => ({ ...test, file: name.startsWith(root) ? name.slice(root.length) : name }))
  )
  const all = ran.flatMap(({ ancestorTitles, file, status, title }) => {
    const titles = [...ancestorTitles, title]
    const test = [file, ...titles].join(" > ")
    return rowsIn(titles.join(" > ")).map((row) => ({ row, file, test, status }))
  })
  return {
    cited: all.filter(({ file }) => !except.includes(file)).map(({ row, status, test }) => ({ row, status, test })),
    tests: ran.length,
    idle: except.filter((file) => !all.some((citation) => citation.file === file))
  }
}
