// Outcome: what a run of the integration tests has proved.
// Owns the counting. Leaves running to vitest.
// O1  Only a test of a group that needs a server (`[redis]` at the end of its title) proves something here; a run
//     without one that ran has failed.
// O2  Each group that was skipped is named.

interface Assertion {
  readonly title: string
  readonly status: string
  readonly ancestorTitles: ReadonlyArray<string>
}

export interface Report {
  readonly testResults: ReadonlyArray<{ readonly assertionResults: ReadonlyArray<Assertion> }>
}

const groupOf = ({ ancestorTitles }: Assertion): string | undefined =>
  ancestorTitles.find((title) => /\[(own )?(redis|postgres|qdrant|fleet)\]$/.test(title))

const groupsOf = (tests: ReadonlyArray<Assertion>): ReadonlyArray<string> => [
  ...new Set(tests.flatMap((test) => groupOf(test) ?? []))
]

export const outcomeOf = ({ testResults }: Report): { readonly ok: boolean; readonly lines: ReadonlyArray<string> } => {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  const ran = groupsOf(all.filter(({ status }) => status === "passed" || status === "failed"))
  const skipped = groupsOf(all).filter((group) => !ran.includes(group))
  return {
    ok: ran.length > 0,
    lines: [
      ...ran.map((group) => `ran: ${group}`),
      ...skipped.map((group) => `skipped: ${group}, for want of that server`),
      ...(ran.length > 0 ? [] : ["no suite found a server to run against: nothing was proved"])
    ]
  }
}
