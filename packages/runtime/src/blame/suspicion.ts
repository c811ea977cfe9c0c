// Suspicion: what may have ended the process, and when that is enough to end it in turn.
// Owns the rule, as pure functions of what a claim hands over. Leaves trying and ending to trial.ts and host.ts.
// B1  What only waited is never convicted: a message in the mailbox, an assistant at rest, a suspect whose turn has not come.
// B2  A tool is suspect after two lost holders. It is then tried alone among tools, and the loss of that trial convicts it:
//     that call fails, with the reason, and its message goes on. One that can not be tried alone, because others run on and
//     on, is convicted by the eighth trial beside them.
// B3  A model call is never convicted: it ends no process but by its memory. It is only begun after growing pauses.
// B4  A step of a dream, of a compaction or of an assessment, and the creation of a sub-agent, are tried beside others first
//     and then alone. The fourth loss under trial convicts it, and that step fails.
// B5  An event is suspect when two holders were lost and nothing was committed since. The third loss while it was being
//     handled convicts it: a message is dead-lettered, a timer or a result halts the assistant.
// B6  The pause before a claim that follows lost ones doubles each time a holder is lost after its pause. So of a burst of
//     kills, however long, only the first few find an event or a step in hand. Where a tool is open there is no pause: it is
//     the likelier suspect, and the sooner it is tried, the sooner everything else goes on.

import { type Hold, type OpenJob, defined } from "@reverie/protocol"

/** Lost holders after which what they had in hand is suspect. */
export const SUSPECT_AFTER = 2

/** Losses after which a lease session is suspect although a tool is open. */
export const MAX_LOST = 10

export const TOOL_TRIES_BESIDE = 8
const STEP_TRIES = 4
const STEP_TRIES_BESIDE = 3
const EVENT_TRIES = 3

const FIRST_PAUSE_MILLIS = 1_000
const MAX_PAUSE_MILLIS = 5 * 60_000

/** What a job may do to its process. `safe`: it runs nothing that could end it. */
export type JobKind = "tool" | "step" | "model" | "safe"

/** go: as ever. note: after a durable note. alone: the same, and no tool beside it. convict: not at all. */
export type Verdict = "go" | "note" | "alone" | "convict"

/** How often each thing was begun under suspicion, since the last commit, by holders that were lost. */
export type Tries = ReadonlyMap<string, number>

export interface Suspicion {
  /** Holders in a row that were lost since the last commit. */
  readonly lost: number
  readonly tries: Tries
}

export const NO_SUSPICION: Suspicion = { lost: 0, tries: new Map() }

/** The lease session as a whole: what happens before any event is in hand. */
export const LEASE_SESSION = "lease-session"

const isTries = (value: unknown): value is Readonly<Record<string, number>> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((count) => Number.isSafeInteger(count) && count >= 0)

/** What a note says; nothing when something else wrote it. */
export const triesIn = (note: string | undefined): Tries => {
  if (note === undefined) return NO_SUSPICION.tries
  try {
    const value: unknown = JSON.parse(note)
    return isTries(value) ? new Map(Object.entries(value)) : NO_SUSPICION.tries
  } catch {
    return NO_SUSPICION.tries
  }
}

/** What a run is called in a note that did not have the process to itself. */
export const beside = (job: string): string => `beside ${job}`

export const noteOf = (tries: Tries): string => JSON.stringify(Object.fromEntries(tries))

export const tried = (tries: Tries, subject: string): Tries =>
  new Map([...tries, [subject, timesOf(tries, subject) + 1]])

export const timesOf = (tries: Tries, subject: string): number => tries.get(subject) ?? 0

export const suspicionOf = ({ attempts, note }: Pick<Hold, "attempts" | "note">): Suspicion =>
  attempts <= 1 && note === undefined ? NO_SUSPICION : { lost: attempts - 1, tries: triesIn(note) }

/** What is left of suspicion after a commit: what runs under it goes on doing so. */
export const stillTrying = (subjects: Iterable<string>): Suspicion => ({
  lost: 0,
  tries: new Map([...subjects].map((subject) => [subject, 1]))
})

/** Whether the lease session as a whole is suspect: what it finds, before and besides tools. */
export const isLeaseSessionSuspect = ({ lost }: Suspicion, jobs: ReadonlyArray<OpenJob>): boolean =>
  lost >= (jobs.some(({ src }) => src === "tool") ? MAX_LOST : SUSPECT_AFTER)

/** How long a claim waits before anything of its assistant is touched. */
export const pauseMillis = (suspicion: Suspicion, jobs: ReadonlyArray<OpenJob>): number => {
  const times = timesOf(suspicion.tries, LEASE_SESSION)
  if (times === 0 || !isLeaseSessionSuspect(suspicion, jobs)) return 0
  return Math.min(FIRST_PAUSE_MILLIS * 2 ** (times - 1), MAX_PAUSE_MILLIS)
}

/** Jobs with the holders that were lost with them: a commit that leaves them open keeps that. */
export const withLost = (jobs: ReadonlyArray<OpenJob>, { lost, tries }: Suspicion): ReadonlyArray<OpenJob> =>
  lost === 0
    ? jobs
    : jobs.map((job) => {
        const alone = (job.tried ?? 0) + timesOf(tries, job.id)
        const inCompany = (job.triedBeside ?? 0) + timesOf(tries, beside(job.id))
        return {
          ...job,
          lost: (job.lost ?? 0) + lost,
          ...defined({ tried: alone === 0 ? undefined : alone, triedBeside: inCompany === 0 ? undefined : inCompany })
        }
      })

/** How often the process ended while it ran, as far as is known: before it was suspect, and in its trials. */
export const endsWith = ({ lost = 0, tried: alone = 0, triedBeside = 0 }: OpenJob): number =>
  Math.min(lost, SUSPECT_AFTER + alone + triedBeside)

export const verdictOnJob = ({ lost = 0, tried: times = 0, triedBeside = 0 }: OpenJob, kind: JobKind): Verdict => {
  if (kind === "tool") {
    if (times > 0 || triedBeside >= TOOL_TRIES_BESIDE) return "convict"
    return lost >= SUSPECT_AFTER ? "alone" : "go"
  }
  if (kind !== "step") return "go"
  if (times >= STEP_TRIES) return "convict"
  if (times >= STEP_TRIES_BESIDE) return "alone"
  return lost >= SUSPECT_AFTER ? "note" : "go"
}

export const verdictOnEvent = (subject: string, { lost, tries }: Suspicion): Verdict => {
  if (timesOf(tries, subject) >= EVENT_TRIES) return "convict"
  return lost >= SUSPECT_AFTER ? "note" : "go"
}

export const reasonOf = (lost: number, what: string): string =>
  `the process ended ${lost} times while ${what}; it is not tried again`
