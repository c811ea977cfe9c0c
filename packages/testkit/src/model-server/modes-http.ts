// Hostile modes of HTTP: status codes, headers, and bodies that are none.

import { answer, drip, drop, either, flood, type HostileMode, hang, JSON_TYPE } from "./hostile-mode.ts"

const problem = (message: string, code: string | null = null, type = "invalid_request_error"): string =>
  JSON.stringify({ error: { message, type, param: null, code } })

const limited = (headers: { readonly [name: string]: string }) =>
  either(answer(429, problem("Rate limit reached", "rate_limit_exceeded"), { ...JSON_TYPE, ...headers }))

/** Fixed, so that the verdict does not depend on a clock: an hour between the two. */
const DATE = "Sat, 21 Nov 2026 10:00:00 GMT"
const HOUR_LATER = "Sat, 21 Nov 2026 11:00:00 GMT"

const HTML = "<!doctype html><html><body><h1>It works!</h1></body></html>"

export const httpModes = {
  "status-500": {
    says: "every request ends in a 500",
    ...either(answer(500, problem("The server had an error", null, "server_error"))),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 500 }
  },
  "status-503-html": {
    says: "a proxy answers 503 with a page",
    ...either(answer(503, HTML, { "content-type": "text/html" })),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 503 }
  },
  "error-body-endless": {
    says: "a 500 whose body never ends",
    ...either((_request, response) => {
      response.writeHead(500, JSON_TYPE)
      flood(response, "x".repeat(16_384), 50 * 2 ** 20, "")
    }),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 500 }
  },
  "error-body-hangs": {
    says: "a 500 whose body stops in the middle",
    ...either((_request, response) => void response.writeHead(500, JSON_TYPE).write("{")),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 500 }
  },
  "connection-reset": {
    says: "the connection is dropped before any header",
    ...either((_request, response) => drop(response)),
    leadsTo: { error: "ModelUnavailable", kind: "network" }
  },
  "header-flood": {
    says: "headers larger than any parser takes",
    ...either((_request, response) => {
      response.writeHead(200, { ...JSON_TYPE, "x-flood": "x".repeat(100_000) }).end("{}")
    }),
    leadsTo: { error: "ModelUnavailable", kind: "network" }
  },
  "rate-limited-1s": {
    says: "429 with Retry-After: 1, for a client that does not wait so long in place",
    ...limited({ "retry-after": "1" }),
    leadsTo: { error: "ModelParked", retryAfterMs: 1_000 }
  },
  "rate-limited-1h": {
    says: "429 with Retry-After: 3600",
    ...limited({ "retry-after": "3600" }),
    leadsTo: { error: "ModelParked", retryAfterMs: 3_600_000 }
  },
  "rate-limited-date": {
    says: "429 with an HTTP date one hour after the date of the answer",
    ...limited({ date: DATE, "retry-after": HOUR_LATER }),
    leadsTo: { error: "ModelParked", retryAfterMs: 3_600_000 }
  },
  "rate-limited-for-ever": {
    says: "429 with a Retry-After of thirty thousand years",
    ...limited({ "retry-after": "999999999999" }),
    leadsTo: { error: "ModelParked", retryAfterMs: 86_400_000 }
  },
  "rate-limited-nonsense": {
    says: "429 with a Retry-After that is neither a number nor a date",
    ...limited({ "retry-after": "soon" }),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 429 }
  },
  "quota-spent": {
    says: "429 because the account has no credit, which no waiting cures",
    ...either(answer(429, problem("You exceeded your current quota", "insufficient_quota", "insufficient_quota"))),
    leadsTo: { error: "ModelDenied", status: 429 }
  },
  unauthorized: {
    says: "401, and the body repeats the key",
    ...either((request, response) => {
      const key = String(request.headers.authorization)
      response.writeHead(401, JSON_TYPE).end(problem(`Incorrect API key provided: ${key}`, "invalid_api_key"))
    }),
    leadsTo: { error: "ModelDenied", status: 401 }
  },
  forbidden: {
    says: "403 for a key that may not use the model",
    ...either(answer(403, problem("You are not allowed to sample from this model"))),
    leadsTo: { error: "ModelDenied", status: 403 }
  },
  "model-not-found": {
    says: "404 for a model name that the server does not have",
    ...either(answer(404, problem("The model does not exist", "model_not_found"))),
    leadsTo: { error: "ModelDenied", status: 404 }
  },
  redirect: {
    says: "307 to another host, which must not be given the key",
    ...either(answer(307, "", { location: "http://127.0.0.1:9/v1/chat/completions" })),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 307 }
  },
  "redirect-for-good": {
    says: "308 to another host: the address is wrong",
    ...either(answer(308, "", { location: "http://127.0.0.1:9/v1/chat/completions" })),
    leadsTo: { error: "ModelDenied", status: 308 }
  },
  "gateway-404": {
    says: "404 of a gateway that finds no server behind it",
    ...either(answer(404, "default backend - 404", { "content-type": "text/plain" })),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 404 }
  },
  "gateway-405": {
    says: "405 of the page that stands in for a server",
    ...either(answer(405, HTML, { "content-type": "text/html" })),
    leadsTo: { error: "ModelUnavailable", kind: "server-error", status: 405 }
  },
  "bad-request": {
    says: "400 for a request that is not understood",
    ...either(answer(400, problem("Invalid value: 'tool'"))),
    leadsTo: { error: "ModelRefused", kind: "bad-request" }
  },
  "context-too-long": {
    says: "400 because the prompt does not fit",
    ...either(answer(400, problem("This model's maximum context length is 8192 tokens", "context_length_exceeded"))),
    leadsTo: { error: "ModelRefused", kind: "too-long" }
  },
  "prompt-filtered": {
    says: "400 because a filter objects to the prompt",
    ...either(answer(400, problem("The response was filtered", "content_filter"))),
    leadsTo: { error: "ModelRefused", kind: "filtered" }
  },
  "headers-hang": {
    says: "the request is read and never answered",
    ...either(hang),
    leadsTo: { error: "ModelUnavailable", kind: "timeout" }
  },
  "body-hangs": {
    says: "headers, half a body, then nothing",
    plain: (_request, response) => void response.writeHead(200, JSON_TYPE).write('{"id":"chatcmpl-1","choices":['),
    leadsTo: { error: "ModelUnavailable", kind: "idle" }
  },
  "body-drips": {
    says: "a body of one space at a time, never idle and never done",
    ...either((_request, response) => {
      response.writeHead(200, JSON_TYPE)
      drip(response, " ", 20)
    }),
    leadsTo: { error: "ModelUnavailable", kind: "timeout" }
  },
  "body-cut": {
    says: "a body that ends in the middle of its JSON as if it were whole",
    plain: answer(200, '{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"The ber'),
    leadsTo: { error: "ModelUnavailable", kind: "cut" }
  },
  "body-reset": {
    says: "a body shorter than its content-length, and the connection dropped",
    plain: (_request, response) => {
      response.writeHead(200, { ...JSON_TYPE, "content-length": "5000" })
      response.write('{"id":"chatcmpl-1"', () => drop(response))
    },
    leadsTo: { error: "ModelUnavailable", kind: "cut" }
  },
  "body-empty": {
    says: "200 and not one byte",
    ...either(answer(200, "")),
    leadsTo: { error: "ModelUnavailable", kind: "not-json" }
  },
  "body-oversize": {
    says: "50 MB in one JSON text",
    plain: (_request, response) => {
      response.writeHead(200, JSON_TYPE).write('{"choices":[{"message":{"content":"')
      flood(response, "a".repeat(65_536), 50 * 2 ** 20, '"}}]}')
    },
    leadsTo: { error: "ModelUnavailable", kind: "too-large" }
  },
  "html-with-200": {
    says: "a web page instead of an API",
    ...either(answer(200, HTML, { "content-type": "text/html" })),
    leadsTo: { error: "ModelUnavailable", kind: "not-json" }
  },
  "error-with-200": {
    says: "an error object with status 200",
    ...either(answer(200, problem("Upstream overloaded", "overloaded"))),
    leadsTo: { error: "ModelUnavailable", kind: "server-error" }
  }
} as const satisfies Record<string, HostileMode>
