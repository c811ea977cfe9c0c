// Client: asks the API.
// Owns the request, the token, the key of a change, and what a failure is reported as. Leaves when to ask to questions.ts.
// C2  A change carries a key that is its own: sent twice, it happens once.
// C3  Every failure is a `Trouble` with one clear line, and a hint where the server or we have one.

import { defined } from "./defined.ts"
import type { Answer, Asked, Changing, Reading, Route } from "./contract.ts"
import { tokenNow, wantToken } from "./token.ts"

/** Why something was not answered. */
export class Trouble extends Error {
  readonly tag: string
  /** 0 when nothing came back at all. */
  readonly status: number
  readonly hint: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(said: {
    readonly tag: string
    readonly status: number
    readonly message: string
    readonly hint?: string | undefined
    readonly retryAfterSeconds?: number | undefined
  }) {
    super(said.message)
    this.tag = said.tag
    this.status = said.status
    this.hint = said.hint
    this.retryAfterSeconds = said.retryAfterSeconds
  }
}

/** Whatever was thrown, as something that can be shown. */
export const troubleOf = (error: unknown): Trouble =>
  error instanceof Trouble
    ? error
    : new Trouble({ tag: "Bug", status: 0, message: error instanceof Error ? error.message : String(error) })

interface AnyAsked {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly payload?: unknown
}

/** The address of a request, each value in its place and quoted. */
export const addressOf = (route: Route, asked: AnyAsked): string => {
  const path = route.slice(route.indexOf(" ") + 1)
  const filled = path.replace(/:([a-z]+)/gi, (_, name: string) =>
    encodeURIComponent(String(asked.params?.[name] ?? ""))
  )
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked.query ?? {})) {
    if (value !== undefined && value !== "") query.set(name, String(value))
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`
}

export const bearer = (): Record<string, string> => {
  const token = tokenNow()
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** A key for a change; also where the page is not served over TLS, so without `crypto.randomUUID`. */
export const freshKey = (): string =>
  `page-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`

const fallbacks: Readonly<Record<number, string>> = {
  401: "a token is needed",
  403: "this is not allowed with this token",
  404: "there is no such thing",
  413: "that is too much at once",
  429: "too many requests at once",
  503: "the server is not ready"
}

/** What the server said of a failure; a proxy between may answer in a form of its own. */
const refusalOf = async (response: Response): Promise<Trouble> => {
  const said = (await response.json().catch(() => ({}))) as {
    readonly _tag?: unknown
    readonly message?: unknown
    readonly hint?: unknown
    readonly retryAfterSeconds?: unknown
    readonly issues?: ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly message: string }>
  }
  const where = said.issues?.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")
  const line = typeof said.message === "string" ? said.message : fallbacks[response.status]
  return new Trouble({
    tag: typeof said._tag === "string" ? said._tag : "Unexpected",
    status: response.status,
    message: line ?? `the server answered ${response.status}`,
    hint: typeof said.hint === "string" ? said.hint : where,
    retryAfterSeconds: typeof said.retryAfterSeconds === "number" ? said.retryAfterSeconds : undefined
  })
}

const silent = (error: unknown): Trouble =>
  new Trouble({
    tag: "NoAnswer",
    status: 0,
    message: "The server does not answer.",
    hint: `Is it running, and reachable from here? The page asks again by itself. (${troubleOf(error).message})`
  })

const send = async (route: Route, asked: AnyAsked, more: RequestInit): Promise<unknown> => {
  const method = route.slice(0, route.indexOf(" "))
  const headers: Record<string, string> = { accept: "application/json", ...bearer() }
  if (asked.payload !== undefined) headers["content-type"] = "application/json"
  const response = await fetch(addressOf(route, asked), {
    method,
    headers: { ...headers, ...(more.headers as Record<string, string> | undefined) },
    ...defined({ body: asked.payload === undefined ? undefined : JSON.stringify(asked.payload), signal: more.signal })
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    throw silent(error)
  })
  if (response.status === 401) wantToken()
  if (!response.ok) throw await refusalOf(response)
  return response.status === 204 ? undefined : response.json()
}

export const ask = async <Of extends Reading>(route: Of, asked: Asked<Of>, signal?: AbortSignal): Promise<Answer<Of>> =>
  (await send(route, asked as AnyAsked, signal === undefined ? {} : { signal })) as Answer<Of>

export const change = async <Of extends Changing>(
  route: Of,
  asked: Asked<Of>,
  key: string = freshKey(),
  signal?: AbortSignal
): Promise<Answer<Of>> =>
  (await send(route, asked as AnyAsked, {
    headers: { "idempotency-key": key },
    ...defined({ signal })
  })) as Answer<Of>

/** The bytes of a part, as a browser holds them. They are asked for with the token, which no address carries. */
export const bytesAt = async (address: string, signal: AbortSignal): Promise<Blob> => {
  const response = await fetch(address, { headers: bearer(), signal })
  if (response.status === 401) wantToken()
  if (!response.ok) throw await refusalOf(response)
  return response.blob()
}
