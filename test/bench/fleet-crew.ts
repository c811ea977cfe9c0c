// FleetCrew: the processes of the fleet benchmark, asked and answering.
// Owns starting and ending them. Leaves what they do to fleet-child.ts.

import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"

export interface Contestant {
  readonly what: "api" | "worker" | "embedded" | "raw-adder" | "raw-worker"
  readonly assistants: number
  readonly database: string
  readonly redis: string
  /** Of the embedded one. */
  readonly data: string
}

export type Question = { readonly n: number } & Asked
export type Asked =
  | { readonly ask: "run"; readonly count: number; readonly kind: "noop" | "tick" }
  | { readonly ask: "trickle"; readonly count: number; readonly everyMillis: number }
  | { readonly ask: "moments" }
  | { readonly ask: "cpu" }
  | { readonly ask: "end" }

export type Moments = Readonly<Record<"accepted" | "claimed", ReadonlyArray<readonly [string, number]>>>

interface Answer {
  readonly n: number
  readonly failed?: string
  readonly millis?: number
}

export interface Member {
  readonly ask: (asked: Asked) => Promise<Answer & Partial<Moments>>
  readonly end: () => Promise<void>
}

/** Resolves when it is open. `profiles`: a directory for the CPU profile that it writes at its end. */
export const startMember = async (contestant: Contestant, profiles?: string): Promise<Member> => {
  const profiling =
    profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${nameOf(contestant)}`]
  const child: ChildProcess = fork(join(import.meta.dirname, "fleet-child.ts"), [JSON.stringify(contestant)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: ["--disable-warning=ExperimentalWarning", ...profiling]
  })
  const waiting = new Map<number, (answer: Answer & Partial<Moments>) => void>()
  let n = 0
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  child.on("message", (answer: Answer) => {
    waiting.get(answer.n)?.(answer)
    waiting.delete(answer.n)
  })
  const answerTo = async (number: number): Promise<Answer & Partial<Moments>> => {
    const died = gone.then((): Answer => ({ n: number, failed: `the ${contestant.what} ended by itself` }))
    const answer = await Promise.race([new Promise<Answer>((resolve) => waiting.set(number, resolve)), died])
    if (answer.failed !== undefined) throw new Error(answer.failed)
    return answer
  }
  const ask = (asked: Asked): Promise<Answer & Partial<Moments>> => {
    const question: Question = { n: ++n, ...asked }
    const answer = answerTo(question.n)
    child.send(question, () => undefined)
    return answer
  }
  await answerTo(0)
  return {
    ask,
    end: async () => {
      await ask({ ask: "end" }).catch(() => child.kill("SIGKILL"))
      await gone
    }
  }
}

let members = 0
const nameOf = ({ what }: Contestant): string => `${what}-${++members}.cpuprofile`
