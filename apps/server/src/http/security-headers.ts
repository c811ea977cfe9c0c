// SecurityHeaders: what stands on every answer, so that a browser can be made to do nothing with it but show our own page.
// Owns the headers and the policies of content. Leaves who may ask to guard.ts.
// B1  Every answer has them, a failure too.
// B2  The page runs only scripts that this server serves as files; nothing may frame it or send a form from it.

import type { ServerResponse } from "node:http"

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** An answer of the API is no page: whatever is in it, nothing of it is run or loaded. */
const API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Of an answer of the API. */
export const securing: ReadonlyArray<readonly [name: string, value: string]> = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["x-frame-options", "DENY"],
  ["content-security-policy", API_POLICY],
  ["cache-control", "no-store"]
]

/** As an answer of the API; `asPage` and `asDocs` change what a page needs otherwise. */
export const secure = (response: ServerResponse): void => {
  for (const [name, value] of securing) response.setHeader(name, value)
}

export const asPage = (response: ServerResponse): void => {
  response.setHeader("content-security-policy", PAGE_POLICY)
}

/** `scripts` are the hashes of the scripts that stand in the page itself. */
export const asDocs = (response: ServerResponse, scripts: ReadonlyArray<string>): void => {
  const allowed = scripts.map((hash) => `'sha256-${hash}'`).join(" ")
  response.setHeader("content-security-policy", PAGE_POLICY.replace("script-src 'self'", `script-src ${allowed}`))
}
