// Citations: which tests name which rows in their titles.
// Owns reading row ids out of titles. Leaves judging whether that is enough to coverage.
// C1  A row is cited by its id as a whole word: F10 is not cited by F109. A range cites every row in it.
// C2  A test cites by its own title and by those of the groups around it, and is named `file > group > title`.

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
}

/** `root` is taken off the paths and ends with a slash. */
export const citationsIn = (results: Results, root: string): Citations => {
  const ran = results.testResults.flatMap(({ assertionResults, name }) =>
    assertionResults
      .filter(({ status }) => status === "passed" || status === "failed")
      .map((test) => ({ ...test, file: name.startsWith(root) ? name.slice(root.length) : name }))
  )
  const cited = ran.flatMap(({ ancestorTitles, file, status, title }) => {
    const titles = [...ancestorTitles, title]
    const test = [file, ...titles].join(" > ")
    return rowsIn(titles.join(" > ")).map((row) => ({ row, test, status }))
  })
  return { cited, tests: ran.length }
}
