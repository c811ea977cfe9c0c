// Lines: what this process and that of an isolated run say to each other, one JSON object a line.
// Owns the forms and taking lines out of a stream. Loads nothing heavy.
// L1  What the other side says is not believed: a line that is too long or of no known form ends the talk.

/** What the process of a run receives. */
export interface RunOrder {
  readonly type: "run"
  readonly module: string
  /** The arguments, as v8 writes them, in base64. */
  readonly args: string
  readonly about: {
    readonly assistant: string
    readonly tenant: string
    readonly call: string
    readonly key: string
    readonly now: number
  }
  readonly tool: string
  readonly memoryBytes: number
  readonly timeoutMs: number
}

export type Order = RunOrder | { readonly type: "abort" }

/** A part of a result, its bytes in base64. */
export interface SaidPart {
  readonly type: string
  readonly data: string
  readonly mediaType?: string
  readonly name?: string
}

/** What it says. */
export type Said =
  | { readonly type: "send"; readonly to: string; readonly text: string; readonly wantsAnswer: boolean }
  | { readonly type: "done"; readonly text: string; readonly parts?: ReadonlyArray<SaidPart> }
  | { readonly type: "failed"; readonly message: string }

/** A message may have a million characters, of several bytes each and escaped. */
export const MAX_LINE_BYTES = 8_000_000

export const lineOf = (said: Order | Said): string => `${JSON.stringify(said)}\n`

const isText = (value: unknown): value is string => typeof value === "string"

/** Undefined for what has no known form. */
export const saidIn = (line: string): Said | undefined => {
  try {
    const said = JSON.parse(line) as { readonly [key: string]: unknown } | null
    if (said === null) return undefined
    const { message, parts, text, to, type, wantsAnswer } = said
    if (type === "done" && isText(text)) {
      return parts === undefined ? { type, text } : Array.isArray(parts) ? { type, text, parts } : undefined
    }
    if (type === "failed" && isText(message)) return { type, message }
    return type === "send" && isText(to) && isText(text)
      ? { type, to, text, wantsAnswer: wantsAnswer === true }
      : undefined
  } catch {
    return undefined
  }
}

/** Calls back for each whole line; `onFlood` once, when one grows too long. */
export const readingLines = (onLine: (line: string) => void, onFlood: () => void) => {
  let rest: Array<Buffer> = []
  let bytes = 0
  return (chunk: Buffer): void => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]).toString("utf8")
      rest = []
      bytes = 0
      from = end + 1
      onLine(line)
    }
    if (from === chunk.length) return
    rest.push(chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > MAX_LINE_BYTES) {
      rest = []
      bytes = 0
      onFlood()
    }
  }
}
