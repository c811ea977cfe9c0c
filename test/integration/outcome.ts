// Outcome: what a run of the integration tests has proved.
// Owns the counting. Leaves running to vitest.
// O1  Only a test of a group that needs a server (`[redis]` at the end of its title) proves something here; a run
//     without one that ran has failed.
// O2  Each group that was skipped is named, with what it lacks.
// O3  A group that `-t` did not choose was not skipped for want of anything, and is not named.

interface Assertion {
  readonly title: string
  readonly status: string
  readonly ancestorTitles: ReadonlyArray<string>
}

export interface Report {
  readonly testResults: ReadonlyArray<{ readonly assertionResults: ReadonlyArray<Assertion> }>
}

export interface Asked {
  /** What `-t` says: a pattern that a test's titles, joined as vitest joins them, have to match. */
  readonly pattern?: string | undefined
  /** What was found of a server, or why there is none, by its name. */
  readonly grounds?: Readonly<Record<string, string>>
}

const groupOf = ({ ancestorTitles }: Assertion): string | undefined =>
  ancestorTitles.find((title) => /\[(own )?(redis|postgres|qdrant|fleet)\]$/.test(title))

const groupsOf = (tests: ReadonlyArray<Assertion>): ReadonlyArray<string> => [
  ...new Set(tests.flatMap((test) => groupOf(test) ?? []))
]

const serverIn = (group: string): string => /\[(?:own )?(\w+)\]$/.exec(group)?.[1] ?? ""

export const outcomeOf = (
  { testResults }: Report,
  { grounds = {}, pattern }: Asked = {}
): { readonly ok: boolean; readonly lines: ReadonlyArray<string> } => {
  const isChosen = ({ ancestorTitles, title }: Assertion): boolean =>
    pattern === undefined || new RegExp(pattern).test([...ancestorTitles, title].join(" > "))
  const all = testResults.flatMap(({ assertionResults }) => assertionResults).filter(isChosen)
  const ran = groupsOf(all.filter(({ status }) => status === "passed" || status === "failed"))
  const skipped = groupsOf(all).filter((group) => !ran.includes(group))
  const nothing =
    all.length === 0 && pattern !== undefined
      ? `no suite is called ${pattern}: nothing was proved`
      : "no suite found a server to run against: nothing was proved"
  return {
    ok: ran.length > 0,
    lines: [
      ...ran.map((group) => `ran: ${group}`),
      ...skipped.map((group) => {
        const ground = grounds[serverIn(group)]
        return `skipped: ${group}, for want of that server${ground === undefined ? "" : `: ${ground}`}`
      }),
      ...(ran.length > 0 ? [] : [nothing])
    ]
  }
}
