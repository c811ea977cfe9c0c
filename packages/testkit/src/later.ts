// Later: what is to be done when a test file has ended. Imported as `@reverie/testkit/later`.
// Owns the list. Leaves running it to `test/tidy.ts`, which the runner loads before each file.
// T1  It lives as long as the worker: files that share a worker share modules, so a rig that asked the runner itself
//     would be heard for the first of them only.
// T2  The last is done first; one that fails does not keep the others from being done, and is reported.

type Ending = () => unknown

const endings: Array<Ending> = []

/** Done when the tests of the file that runs now have ended, also when they failed. */
export const later = (ending: Ending): void => void endings.push(ending)

export const tidy = async (): Promise<void> => {
  const failures: Array<unknown> = []
  for (const ending of endings.splice(0).toReversed()) {
    try {
      await ending()
    } catch (failure) {
      failures.push(failure)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "not everything was tidied up after the tests")
}
