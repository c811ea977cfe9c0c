// Redirect: where a server sends a request on to, and what may go along.
// Owns the next URL and the headers for it. Leaves judging the URL to egress.ts.
// R1  What was sent stays what it was: no other method, and never from https to http.
// R2  What was meant for one origin is not carried to the next.

import { EgressRefused } from "./errors.ts"

export const MAX_REDIRECTS = 5

const statuses = new Set([301, 302, 303, 307, 308])
/** What any server may see of a request. */
const harmless = new Set(["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"])

/** Where the response leads, if it is a redirect. */
export const redirectIn = (response: {
  readonly status: number
  readonly headers: { readonly get: (name: string) => string | null }
}): string | undefined => (statuses.has(response.status) ? (response.headers.get("location") ?? undefined) : undefined)

interface Asked {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
}

/** Throws EgressRefused when it may not be followed, wherever it leads. */
export const redirected = (
  { headers, method, url }: Asked,
  { location, status }: { readonly location: string; readonly status: number }
): { readonly url: URL; readonly headers: Headers } => {
  const refuse = (reason: EgressRefused["reason"], what: string) =>
    new EgressRefused({ reason, message: `${url.hostname} redirects ${what}` })
  if (!URL.canParse(location, url.href)) throw refuse("redirects", "to no URL")
  const next = new URL(location, url)
  if (url.protocol === "https:" && next.protocol === "http:") throw refuse("scheme", "from https to http")
  if (status < 307 && method !== "GET" && method !== "HEAD") {
    throw refuse("redirects", `a ${method} in a way that would change it to a GET`)
  }
  if (next.origin === url.origin) return { url: next, headers }
  return { url: next, headers: new Headers([...headers].filter(([name]) => harmless.has(name))) }
}
