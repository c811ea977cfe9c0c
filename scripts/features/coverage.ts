// Coverage: for each row the tests that prove it, and what is missing.
// Owns the judgement and how it is shown. Leaves the rows to rows.ts, the reading of titles to citations.ts.
// V1  Only a test that passed proves a row; one that failed is named.
// V2  It is not well when an enforced row is proved by no test of a running fleet, a title cites a row that there is not,
//     or no test was run at all.

import type { Citations } from "./citations.ts"
import { isFleetTest } from "./proving.ts"
import { enforcedIssues, enforcedRows, type Row } from "./rows.ts"

export interface CoveredRow extends Row {
  readonly enforced: boolean
  /** Ids of the passing tests that cite it. */
  readonly tests: ReadonlyArray<string>
  /** One of them drives a running fleet. */
  readonly fleet: boolean
  /** Those that do. */
  readonly fleetTests: ReadonlyArray<string>
}

export interface Coverage {
  readonly ok: boolean
  readonly rows: ReadonlyArray<CoveredRow>
  /** Enforced rows without a passing test. */
  readonly missing: ReadonlyArray<string>
  /** Enforced rows that no passing test of a running fleet proves, those in `missing` among them. */
  readonly withoutFleet: ReadonlyArray<string>
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
  const covered = rows.map((row): CoveredRow => {
    const passed = cited.filter((citation) => citation.row === row.id && citation.status === "passed")
    const tests = passed.map(({ test }) => test)
    const fleetTests = tests.filter(isFleetTest)
    const isEnforced = enforced.issues.includes(row.issue) || enforced.rows.includes(row.id)
    return { ...row, enforced: isEnforced, tests, fleet: fleetTests.length > 0, fleetTests }
  })
  const bare = covered.filter((row) => row.tests.length === 0)
  const missing = bare.filter((row) => row.enforced).map(({ id }) => id)
  const withoutFleet = covered.filter((row) => row.enforced && !row.fleet).map(({ id }) => id)
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
    ok: withoutFleet.length === 0 && faults.length === 0,
    rows: covered,
    missing,
    withoutFleet,
    open: Object.fromEntries(Object.entries(open).map(([issue, list = []]) => [issue, list.map(({ id }) => id)])),
    failed: [...new Set(cited.filter(({ status }) => status === "failed").map(({ test }) => test))],
    faults
  }
}

/** One line a row, then what is missing. */
export const tableOf = ({ failed, faults, missing, open, rows, withoutFleet }: Coverage): string => {
  const line = ({ enforced, fleetTests, id, issue, tests, title }: CoveredRow): string => {
    const counts = `${String(tests.length).padStart(4)} tests  ${String(fleetTests.length).padStart(3)} of a fleet`
    return `${id.padEnd(5)} issue ${issue}  ${counts}  ${enforced ? "*" : " "} ${title}`
  }
  return [
    ...rows.map(line),
    "",
    `* must have a test of a running fleet; ${rows.filter(({ fleet }) => fleet).length} of ${rows.length} rows have one`,
    ...(missing.length === 0 ? [] : [`without a test: ${missing.join(" ")}`]),
    ...(withoutFleet.length === 0 ? [] : [`without a test of a running fleet: ${withoutFleet.join(" ")}`]),
    ...Object.entries(open).map(([issue, ids]) => `open for issue ${issue}: ${ids.join(" ")}`),
    ...failed.map((test) => `failed: ${test}`),
    ...faults
  ].join("\n")
}
