// Step: one thing the check proves, and what came of it.
// Owns the verdict and its line. Leaves the proving to the step's own function.
// S1  A step that examined nothing has failed, whatever its program says.

export interface Outcome {
  readonly ok: boolean
  readonly count: number
  /** Printed when the step failed. */
  readonly output: string
  /** Printed with the count, whatever came of the step. */
  readonly remark?: string
}

export interface Step {
  readonly name: string
  /** What is counted: files, tests, kills. */
  readonly unit: string
  readonly prove: () => Promise<Outcome>
}

export interface Verdict {
  readonly step: Step
  readonly passed: boolean
  readonly count: number
  readonly millis: number
  readonly output: string
  readonly remark?: string
}

export const judge = async (step: Step): Promise<Verdict> => {
  const began = performance.now()
  const { count, ok, output, remark } = await step.prove()
  const empty = count === 0 ? `${step.name} examined no ${step.unit}, so it proves nothing\n` : ""
  const millis = performance.now() - began
  const said = remark === undefined ? {} : { remark }
  return { step, passed: ok && count > 0, count, millis, output: `${empty}${output}`, ...said }
}

export const lineOf = ({ count, millis, passed, remark, step }: Verdict): string => {
  const seconds = `${(millis / 1000).toFixed(1)} s`
  const counted = `${String(count).padStart(5)} ${step.unit}${remark === undefined ? "" : `: ${remark}`}`
  return `${step.name.padEnd(13)}${seconds.padStart(7)}  ${counted}${passed ? "" : "   FAILED"}`
}
