// Tests: the steps that vitest proves, one a project of vitest.config.ts.
// Owns the counting of tests. Leaves which file belongs to which project to the configuration.
// T1  A skipped test counts as no proof, and is a failure unless a waiver says which machine can not run it.
//     A group of tests that needs a server (`[redis]` at the end of its title) is excused where there is none.
// T2  A waiver is a failure itself as soon as no test has its name.
// T3  Each project runs once in a check, whichever step asks for it first.

import { mkdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { hasPgvector, placeOf, serverNames } from "../../packages/testkit/src/servers/index.ts"
import type { Results } from "../features/citations.ts"
import { allOf, root, run, type Said } from "./program.ts"
import type { Outcome, Step } from "./step.ts"

interface Assertion {
  readonly title: string
  /** Of the groups around it, the outermost first. */
  readonly ancestorTitles?: ReadonlyArray<string>
  readonly status: string
}

export interface Report {
  readonly testResults: ReadonlyArray<{ readonly assertionResults: ReadonlyArray<Assertion> }>
}

export interface Waiver {
  readonly project: string
  /** Of one test, or with a sign `*` at its end the beginning of the titles of several. */
  readonly title: string
  readonly why: string
}

const waivers: ReadonlyArray<Waiver> = [
  {
    project: "whole",
    title: "every line is accepted once, and a killed run ends where an unhurt one does",
    why: "the conversations stand beside the checkout and may be absent"
  },
  {
    project: "unit",
    title: "S1 a directory that may not be written is refused",
    why: "root may write anywhere"
  },
  {
    project: "unit",
    title: "S1 a disk that is full or read-only at the opening is refused in a sentence",
    why: "a small disk has to be mounted, which takes root"
  },
  {
    project: "unit",
    title: "W2 on a full disk writes fail and reads work; with space again both do",
    why: "a small disk has to be mounted, which takes root"
  },
  ...[
    "I3 lexical recall@5, @10 and @25 of evidence is at least 0.70, 0.79 and 0.87",
    "at most 0.5 % of messages are flagged"
  ].map((title) => ({ project: "unit", title, why: "the conversations stand beside the checkout and may be absent" })),
  ...[
    "a conversation told again gives the same snapshots, with no model call, no tool call and nothing written",
    "its prompts come again, byte for byte, where every part is exact, and unchanged forks are equal",
    "F51 F113 F114 S5 keeps its newest messages, gets under its threshold, and becomes prose of who said what"
  ].map((title) => ({ project: "whole", title, why: "the conversations stand beside the checkout and may be absent" })),
  ...[
    "the document has 69 routes",
    "K1 K3 K5 no fault is found in *",
    "K2 K3 a fault is found: *",
    "S2 a server with the contract refuses what breaks it, and tells"
  ].map((title) => ({
    project: "unit",
    title,
    why: "Qdrant's own document stands beside the checkout and may be absent"
  }))
]

const isOf = ({ title }: Waiver, test: Assertion): boolean =>
  title.endsWith("*") ? test.title.startsWith(title.slice(0, -1)) : test.title === title

/**
 * What a group of tests can need, as its title says at the end, and what of that this machine does not have. That it is
 * missing is said, and judged, by the step `servers`.
 */
const missingServers = async (): Promise<ReadonlyArray<string>> => [
  ...serverNames.flatMap((server) => [
    ...(placeOf(server).origin === undefined ? [server] : []),
    ...(placeOf(server, { own: true }).origin === undefined ? [`own ${server}`] : [])
  ]),
  ...((await hasPgvector()) ? [] : ["pgvector"])
]

/** How many tests ran, and what is wrong with those that did not. */
export const totals = (report: Report, waived: ReadonlyArray<Waiver>, missing: ReadonlyArray<string> = []) => {
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const ran = all.filter(({ status }) => status === "passed" || status === "failed")
  const needsMissing = ({ ancestorTitles = [] }: Assertion) =>
    ancestorTitles.some((group) => missing.some((server) => group.endsWith(`[${server}]`)))
  const excused = (test: Assertion) => needsMissing(test) || waived.some((waiver) => isOf(waiver, test))
  const complaints = [
    ...all
      .filter((each) => !ran.includes(each) && !excused(each))
      .map(({ title }) => `skipped without a waiver: ${title}`),
    ...waived
      .filter((waiver) => !all.some((test) => isOf(waiver, test)))
      .map(({ title }) => `no test has the name of this waiver: ${title}`)
  ]
  return { ran: ran.length, complaints }
}

const folder = join(root, ".reverie/check")

const readReport = async (file: string): Promise<Results> => {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Results
  } catch {
    // Without a report nothing was tested, and a count of none fails the step with vitest's own words.
    return { testResults: [] }
  }
}

interface Run {
  readonly said: Said
  readonly report: Results
}

const runProject = async (project: string): Promise<Run> => {
  const file = join(folder, `${project}.json`)
  await mkdir(folder, { recursive: true })
  await rm(file, { force: true })
  const reporters = ["--silent", "passed-only", "--reporter", "dot", "--reporter", "json", "--outputFile.json", file]
  const said = await run("vitest", ["run", "--project", project, ...reporters])
  return { said, report: await readReport(file) }
}

const begun = new Map<string, Promise<Run>>()

export const ranProject = (project: string): Promise<Run> => {
  const running = begun.get(project) ?? runProject(project)
  begun.set(project, running)
  return running
}

const prove = async (project: string): Promise<Outcome> => {
  const { report, said } = await ranProject(project)
  const waived = waivers.filter((waiver) => waiver.project === project)
  const { complaints, ran } = totals(report, waived, await missingServers())
  const output = [allOf(said), ...complaints].join("\n")
  return { ok: said.code === 0 && complaints.length === 0, count: ran, output }
}

/** Those in which rows of the inventory are proved. */
export const testProjects = ["architecture", "whole", "unit", "fleet", "alone", "property", "laws", "journey"] as const

export const testStep = (project: (typeof testProjects)[number] | "page"): Step => ({
  name: project,
  unit: "tests",
  prove: () => prove(project)
})
