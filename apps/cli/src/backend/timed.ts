// Timed: a wait that ends with its time.

import { CommandFailed } from "../failure.ts"

/** The value; fails with `timeout` when it takes longer. */
export const timed = async <A>(work: Promise<A>, timeoutMillis: number | undefined): Promise<A> => {
  if (timeoutMillis === undefined) return work
  work.catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const seconds = timeoutMillis / 1_000
    timer = setTimeout(() => reject(new CommandFailed("timeout", `not finished within ${seconds} s`)), timeoutMillis)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
