// Traffic: how much a server may say.
// Owns the limits of one message and of messages nobody asked for. Leaves ending the connection to its wire.
// V1  A message of over MAX_MESSAGE_BYTES is never held whole.
// V2  A server that says over MAX_UNASKED things in WINDOW_MILLIS which answer nothing is cut off.

/** Longest message, in bytes. Pictures travel inside messages, so it is well above any text. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const MAX_UNASKED = 2_000
const WINDOW_MILLIS = 10_000

export const TOO_LONG = `it sent a message of over ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`
const FLOODED = `it sent over ${MAX_UNASKED} messages in ${WINDOW_MILLIS / 1_000} s that answer nothing`

/** Counts what answers nothing; gives the reason to end when it is too much. */
export const floodWatch = (now: () => number) => {
  let began = now()
  let count = 0
  return (): string | undefined => {
    if (now() - began > WINDOW_MILLIS) {
      began = now()
      count = 0
    }
    return ++count > MAX_UNASKED ? FLOODED : undefined
  }
}

/** Splits bytes into lines. Gives undefined for a line that is too long; nothing may be fed to it after that. */
export const lineSplitter = (maxBytes: number) => {
  let parts: Array<Buffer> = []
  let held = 0
  return function* (chunk: Buffer): Generator<string | undefined> {
    let rest = chunk
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      if (held + end > maxBytes) return yield undefined
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8")
      parts = []
      held = 0
      rest = rest.subarray(end + 1)
      yield line
    }
    held += rest.length
    if (held > maxBytes) return yield undefined
    if (rest.length > 0) parts.push(rest)
  }
}
