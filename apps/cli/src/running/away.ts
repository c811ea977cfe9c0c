// Away: how long a command waits for a model whose server does not answer.
// Owns the watch. Leaves the words to waits.ts, and waiting for anything else to the command.
// A1  The wait is told when it begins. It ends with an answer of the model, or with its time: then the command fails, and what
//     was accepted is kept.

import { CommandFailed } from "../failure.ts"
import { note, painted } from "../output.ts"
import type { ListedView } from "../backend/backend.ts"
import { outageLines } from "./waits.ts"

/** Without another request. */
export const AWAY_SECONDS = 30

const LOOK_MILLIS = 500

export interface AwayRequest {
  /** Those whose model matters. */
  readonly look: () => Promise<ReadonlyArray<Pick<ListedView, "outage">>>
  readonly waitMillis: number
  readonly isQuiet: boolean
}

export interface AwayWatch {
  /** Resolves with the failure when the model was away for so long; else never. */
  readonly passed: Promise<CommandFailed>
  readonly release: () => void
}

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

/** Fails a command that something waits for a model in; undefined when nothing does. */
export const modelAway = (views: ReadonlyArray<Pick<ListedView, "outage">>): CommandFailed | undefined => {
  const [line] = outageLines(views)
  return line === undefined ? undefined : new CommandFailed("model-unavailable", line)
}

export const watchAway = ({ isQuiet, look, waitMillis }: AwayRequest): AwayWatch => {
  const passed = Promise.withResolvers<CommandFailed>()
  let timer: NodeJS.Timeout | undefined
  let since: number | undefined
  let isOver = false
  const again = (): void => {
    // A look that failed says nothing: what is wrong is told by whatever else the command waits for.
    if (!isOver) timer = setTimeout(() => void see().catch(again), LOOK_MILLIS)
  }
  const see = async (): Promise<void> => {
    const failure = modelAway(await look())
    const now = performance.now()
    if (failure === undefined) since = undefined
    else if (since === undefined) {
      since = now
      if (!isQuiet) note(painted("yellow", `${failure.message}; waits for ${seconds(waitMillis)} at most`))
    }
    if (failure !== undefined && now - (since ?? now) >= waitMillis) passed.resolve(failure)
    else again()
  }
  again()
  return {
    passed: passed.promise,
    release: () => {
      isOver = true
      clearTimeout(timer)
    }
  }
}
