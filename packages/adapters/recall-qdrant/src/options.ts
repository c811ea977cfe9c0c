// Options: where the Qdrant server is and what recall is called there.
// Owns the defaults and the parts of the address as the client wants them. Leaves connecting to `client.ts`.
// O1  The client is told the port whenever the address says one: by itself it takes 6333 for the default of the scheme.
// O2  A path in the address is kept: by itself the client loses it.

export interface QdrantOptions {
  /** Such as `http://127.0.0.1:6333`. */
  readonly url: string
  readonly apiKey?: string
  /** The alias under which the fleet's collection is found; "reverie" when not said. */
  readonly collection?: string
  /** How long a request may take; 10 seconds when not said. */
  readonly timeoutMillis?: number
}

export const DEFAULT_COLLECTION = "reverie"
export const DEFAULT_TIMEOUT_MILLIS = 10_000

export interface ServerParts {
  readonly url: string
  readonly port?: number
  readonly prefix?: string
}

/** Throws when the text is no URL. */
export const serverParts = (text: string): ServerParts => {
  const { origin, pathname } = new URL(text)
  const port = /^[a-z]+:\/\/[^/?#]*:(\d+)(?=[/?#]|$)/i.exec(text)?.[1]
  const prefix = pathname.replace(/\/+$/, "")
  return { url: origin, ...(port !== undefined && { port: Number(port) }), ...(prefix !== "" && { prefix }) }
}
