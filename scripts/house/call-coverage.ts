// CallCoverage: the files of the tree that a piece of work enters, as V8 counts calls.
// Owns the profiler and what counts as entered. Leaves the work to works.ts.
// P1  A file is entered when one of its functions was called. That it was loaded is no call: what stands in it outside of
//     functions runs once a process, whatever is done.
// P2  What was called before the beginning does not count. Watching begins before the files are loaded, so that V8 counts
//     every call of each; a file that is entered only while the fleet opens is not of the work.

import { Session } from "node:inspector/promises"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { isSource } from "./tree.ts"

/** What V8 says of a script, as far as it is read. */
export interface Coverage {
  readonly url: string
  readonly functions: ReadonlyArray<{
    readonly functionName: string
    readonly ranges: ReadonlyArray<{ readonly startOffset: number; readonly endOffset: number; readonly count: number }>
  }>
}

/** The script itself is listed as a function without a name, from its first character on. */
const isCalled = ({ functionName, ranges: [range] }: Coverage["functions"][number]): boolean =>
  range !== undefined && range.count > 0 && !(functionName === "" && range.startOffset === 0)

export const enteredIn = (scripts: ReadonlyArray<Coverage>, root: string): ReadonlyArray<string> => {
  const base = pathToFileURL(join(root, "/")).href
  const entered = scripts.filter(({ functions, url }) => url.startsWith(base) && functions.some(isCalled))
  const paths = entered.map(({ url }) => fileURLToPath(url).slice(fileURLToPath(base).length).replaceAll("\\", "/"))
  return [...new Set(paths)].filter(isSource).toSorted()
}

export interface Watching {
  /** Forgets every call so far. */
  readonly begin: () => Promise<void>
  /** The files of a tree that were entered since then. */
  readonly entered: (root: string) => Promise<ReadonlyArray<string>>
}

export const watchCalls = async (): Promise<Watching> => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  return {
    begin: async () => {
      await session.post("Profiler.takePreciseCoverage")
    },
    entered: async (root) => {
      const { result } = await session.post("Profiler.takePreciseCoverage")
      session.disconnect()
      return enteredIn(result, root)
    }
  }
}
