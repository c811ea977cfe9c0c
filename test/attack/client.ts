// Client: what someone outside asks a server, by HTTP alone.
// Owns sending, and reading what became of it. The verdict is in judge.ts.

export interface Posted {
  readonly assistant: string
  readonly id: string
}

const REQUEST_MILLIS = 30_000
/** Of connections that are kept each may have been closed meanwhile; a busy client learns of it when it asks. */
const MOST_KEPT = 8

/** Whether a connection was closed before anything was answered on it. */
const isClosed = (error: unknown): boolean =>
  error instanceof Error &&
  ["ECONNRESET", "UND_ERR_SOCKET"].includes((error.cause as { readonly code?: string } | undefined)?.code ?? "")

interface Entry {
  readonly entry?: { readonly cause?: { readonly kind?: string; readonly id?: string } }
  readonly cause?: { readonly kind?: string; readonly id?: string }
}

export class Client {
  readonly url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url
    this.#headers = headers
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...this.#headers, ...(init.headers as Record<string, string> | undefined) }
    return fetch(`${this.url}${path}`, { signal: AbortSignal.timeout(REQUEST_MILLIS), ...init, headers })
  }

  /** The status of an answer; 0 when there was none. */
  async status(path: string, init: RequestInit = {}): Promise<number> {
    try {
      return await this.#statusOf(path, init)
    } catch {
      return 0
    }
  }

  async json(path: string): Promise<unknown> {
    // What only reads may be asked once more.
    const response = await this.#again(() => this.fetch(path))
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  /** The status of an attempt to say something; 202 when the server has said that the message is durable. */
  async say({ assistant, id }: Posted, text: string): Promise<number> {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify({ text })
    }
    const path = `/v1/assistants/${assistant}/messages`
    // Under its key it counts once: it is sent again where a kept connection, perhaps to an earlier server of this port, was closed.
    return this.#again(() => this.#statusOf(path, init)).catch(() => 0)
  }

  /** True when the server has said that the message is durable. */
  async post(posted: Posted, text: string): Promise<boolean> {
    return (await this.say(posted, text)) === 202
  }

  /** Ids of the envelopes that commits of an assistant have taken up, once for each commit that did. */
  async taken(assistant: string): Promise<ReadonlyArray<string>> {
    const ids: Array<string> = []
    for (let from: number | null = 1; from !== null;) {
      const page = (await this.json(`/v1/assistants/${assistant}/entries?from=${from}&limit=200`)) as {
        readonly items: ReadonlyArray<Entry>
        readonly next: number | null
      }
      for (const item of page.items) {
        const cause = item.cause ?? item.entry?.cause
        if (cause?.kind === "envelope" && cause.id !== undefined) ids.push(cause.id)
      }
      from = page.next
    }
    return ids
  }

  async deadLetters(): Promise<
    ReadonlyArray<{ readonly assistant: string; readonly envelope: string; readonly reason: string }>
  > {
    const { items } = (await this.json("/v1/dead-letters?limit=200")) as {
      readonly items: ReadonlyArray<{ readonly assistant: string; readonly envelope: string; readonly reason: string }>
    }
    return items
  }

  async #statusOf(path: string, init: RequestInit): Promise<number> {
    const response = await this.fetch(path, init)
    await response.arrayBuffer()
    return response.status
  }

  async #again<A>(ask: () => Promise<A>, left = MOST_KEPT): Promise<A> {
    try {
      return await ask()
    } catch (error) {
      if (left === 0 || !isClosed(error)) throw error
      return this.#again(ask, left - 1)
    }
  }
}
