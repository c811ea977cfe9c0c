// Stream: the connection to the event stream.
// Owns connecting, reading, and coming back with the last position. Leaves what the events mean to live.ts.
// T1  Anyone who comes back asks from the last position it has seen: nothing is lost in between.
// T2  A connection that says nothing for 45 seconds, when comments come every 15, is dead, and made anew.
// T3  It waits longer after each failure, up to 15 seconds, and says "lost" after the sixth; it goes on trying.

// Sse: the event stream format, read piece by piece.
// E1  However the bytes are cut into pieces, the same events come out.

export interface SseEvent {
  readonly event: string
  readonly data: string
}

interface SseReader {
  /** Takes the next piece of text; gives the events that it completes. */
  readonly read: (piece: string) => ReadonlyArray<SseEvent>
  /** Of the last whole event that had one, also of one without data: it says where we stand. */
  readonly lastId: () => string | undefined
}

export const sseReader = (): SseReader => {
  let rest = ""
  let event = ""
  let id: string | undefined
  let last: string | undefined
  let data: Array<string> = []

  const field = (line: string): void => {
    const colon = line.indexOf(":")
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (name === "event") event = value
    else if (name === "data") data.push(value)
    else if (name === "id" && !value.includes("\0")) id = value
  }

  const ended = (): SseEvent | undefined => {
    const whole = data.length === 0 ? undefined : { event: event === "" ? "message" : event, data: data.join("\n") }
    last = id ?? last
    event = ""
    data = []
    id = undefined
    return whole
  }

  const read = (piece: string): ReadonlyArray<SseEvent> => {
    rest += piece
    const found: Array<SseEvent> = []
    // A carriage return at the very end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (line !== "") {
        if (!line.startsWith(":")) field(line)
        continue
      }
      const whole = ended()
      if (whole !== undefined) found.push(whole)
    }
    return found
  }
  return { read, lastId: () => last }
}

export type Connection =
  | { readonly state: "off" | "connecting" | "live" }
  | { readonly state: "reconnecting" | "lost"; readonly attempt: number; readonly nextAt: number; readonly why: string }

export interface StreamOptions {
  readonly address: () => string
  readonly headers: () => Record<string, string>
  readonly onEvents: (events: ReadonlyArray<SseEvent>) => void
  readonly onConnection: (connection: Connection) => void
  /** 401 or 403: another try with the same token is of no use. */
  readonly onRefused: (status: number) => void
  readonly silenceMillis?: number
}

export interface Stream {
  /** Drops the connection, if any, and makes a new one now. */
  readonly connect: () => void
  readonly close: () => void
  readonly lastId: () => string | undefined
}

const MAX_WAIT_MILLIS = 15_000
const LOST_AFTER = 6

/** 0.5 s, 1 s, 2 s ... with a third of chance, so that a hundred pages do not come back at once. */
export const waitMs = (attempt: number, chance: number): number =>
  Math.round(Math.min(MAX_WAIT_MILLIS, 500 * 2 ** (attempt - 1)) * (0.83 + chance / 3))

class Refused extends Error {
  readonly status: number
  constructor(status: number) {
    super(`the event stream was refused (${status})`)
    this.status = status
  }
}

interface Heard {
  readonly events: ReadonlyArray<SseEvent>
  readonly last: string | undefined
}

/** What each piece of the answer completes; aborts when none comes for too long. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  mine: AbortController,
  silenceMillis: number
): AsyncGenerator<Heard> {
  const reader = sseReader()
  const decoder = new TextDecoder()
  let silence: ReturnType<typeof setTimeout> | undefined
  const heard = () => {
    clearTimeout(silence)
    silence = setTimeout(() => mine.abort(new Error("it fell silent")), silenceMillis)
  }
  heard()
  try {
    for await (const bytes of body) {
      heard()
      const events = reader.read(decoder.decode(bytes, { stream: true }))
      yield { events, last: reader.lastId() }
    }
  } finally {
    clearTimeout(silence)
  }
}

export const openStream = (options: StreamOptions): Stream => {
  const { silenceMillis = 45_000 } = options
  let last: string | undefined
  let attempt = 0
  let current: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const request = async (mine: AbortController): Promise<void> => {
    const headers: Record<string, string> = { accept: "text/event-stream", ...options.headers() }
    if (last !== undefined) headers["last-event-id"] = last
    const response = await fetch(options.address(), { headers, signal: mine.signal, cache: "no-store" })
    if (!response.ok || response.body === null) throw new Refused(response.status)
    options.onConnection({ state: "live" })
    for await (const { events, last: at } of eventsOf(response.body, mine, silenceMillis)) {
      // It has spoken: the next failure is a first one again.
      attempt = 0
      if (current !== mine) return
      last = at ?? last
      if (events.length > 0) options.onEvents(events)
    }
    throw new Error("the server ended it")
  }

  const retry = (error: unknown): void => {
    attempt += 1
    const delay = waitMs(attempt, Math.random())
    const why = error instanceof Error ? error.message : String(error)
    const state = attempt >= LOST_AFTER ? "lost" : "reconnecting"
    options.onConnection({ state, attempt, nextAt: Date.now() + delay, why })
    timer = setTimeout(connect, delay)
  }

  const connect = (): void => {
    close()
    const mine = new AbortController()
    current = mine
    if (attempt === 0) options.onConnection({ state: "connecting" })
    request(mine).catch((error: unknown) => {
      if (current !== mine) return
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) options.onRefused(error.status)
      retry(mine.signal.aborted ? mine.signal.reason : error)
    })
  }

  const close = (): void => {
    clearTimeout(timer)
    const old = current
    current = undefined
    old?.abort(new Error("closed"))
  }

  return { connect, close, lastId: () => last }
}
