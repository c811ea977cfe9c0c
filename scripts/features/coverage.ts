// Coverage: for each row the tests that prove it, and what is missing.
// Owns the judgement and how it is shown. Leaves the rows to rows.ts, the reading of titles to citations.ts.
// V1  Only a test that passed proves a row; one that failed is named.
// V2  It is not well when an enforced row is proved by no test, a title cites a row that there is not, or no test was
//     run at all.

import type { Citations } from "./citations.ts"
import { enforcedIssues, enforcedRows, type Row } from "./rows.ts"

export interface CoveredRow extends Row {
  readonly enforced: boolean
  /** Ids of the passing tests that cite it. */
  readonly tests: ReadonlyArray<string>
}

export interface Coverage {
  readonly ok: boolean
  readonly rows: ReadonlyArray<CoveredRow>
  /** Enforced rows without a passing test. */
  readonly missing: ReadonlyArray<string>
  /** Other rows without a passing test, by the issue that is to deliver them. */
  readonly open: Readonly<Record<string, ReadonlyArray<string>>>
  /** Tests that cite a row and did not pass: no proof, and a matter of the tests themselves. */
  readonly failed: ReadonlyArray<string>
  readonly faults: ReadonlyArray<string>
}

export interface Enforced {
  readonly issues: ReadonlyArray<number>
  readonly rows: ReadonlyArray<string>
}

const enforcedNow: Enforced = { issues: enforcedIssues, rows: enforcedRows }

export const coverageOf = (
  rows: ReadonlyArray<Row>,
  { cited, tests }: Citations,
  enforced: Enforced = enforcedNow
): Coverage => {
  const covered = rows.map((row) => ({
    ...row,
    enforced: enforced.issues.includes(row.issue) || enforced.rows.includes(row.id),
    tests: cited.filter((citation) => citation.row === row.id && citation.status === "passed").map(({ test }) => test)
  }))
  const bare = covered.filter((row) => row.tests.length === 0)
  const missing = bare.filter((row) => row.enforced).map(({ id }) => id)
  const isRow = (id: string) => rows.some((row) => row.id === id)
  const faults = [
    ...(tests === 0 ? ["no test was run"] : []),
    ...cited.filter(({ row }) => !isRow(row)).map(({ row, test }) => `there is no row ${row}, cited by ${test}`)
  ]
  const open = Object.groupBy(
    bare.filter((row) => !row.enforced),
    ({ issue }) => String(issue)
  )
  return {
    ok: missing.length === 0 && faults.length === 0,
    rows: covered,
    missing,
    open: Object.fromEntries(Object.entries(open).map(([issue, list = []]) => [issue, list.map(({ id }) => id)])),
    failed: [...new Set(cited.filter(({ status }) => status === "failed").map(({ test }) => test))],
    faults
  }
}

/** One line a row, then what is missing. */
export const tableOf = ({ failed, faults, missing, open, rows }: Coverage): string => {
  const line = ({ enforced, id, issue, tests, title }: CoveredRow): string =>
    `${id.padEnd(5)} issue ${issue}  ${String(tests.length).padStart(4)} tests  ${enforced ? "*" : " "} ${title}`
  return [
    ...rows.map(line),
    "",
    `* must have a test; ${rows.filter(({ tests }) => tests.length > 0).length} of ${rows.length} rows have one`,
    ...(missing.length === 0 ? [] : [`without a test: ${missing.join(" ")}`]),
    ...Object.entries(open).map(([issue, ids]) => `open for issue ${issue}: ${ids.join(" ")}`),
    ...failed.map((test) => `failed: ${test}`),
    ...faults
  ].join("\n")
}
