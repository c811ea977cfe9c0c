// Say: one line of the report of a run on stand-ins, with the seconds since it began.

const BEGUN = "REVERIE_STAND_INS_BEGUN"

const begun = Number(process.env[BEGUN] ?? Date.now())

/** When the run began, for the processes that it starts. */
export const beginning: Readonly<Record<string, string>> = { [BEGUN]: String(begun) }

export const say = (line: string): void => {
  const seconds = Math.round((Date.now() - begun) / 1_000)
  process.stdout.write(`stand-ins ${String(seconds).padStart(4)} s  ${line}\n`)
}
