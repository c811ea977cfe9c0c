// Hostile modes of content: whole answers that say too little, too much, or what they must not.

import { answer, either, type HostileMode, saying } from "./hostile-mode.ts"
import { completion, DONE, event, piece, stream, USAGE } from "./wire.ts"

const TEXT = "The berth is free."

/** A body of which `choices` is whatever it is, in both forms. */
const choices = (value: unknown) => ({
  plain: answer(200, JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", choices: value, usage: USAGE })),
  stream: answer(200, event({ id: "chatcmpl-1", choices: value }) + DONE, { "content-type": "text/event-stream" })
})

const malformed = { error: "ModelUnavailable", kind: "malformed" } as const
const unusable = { error: "ReplyUnusable" } as const

export const contentModes = {
  "choices-empty": { says: "choices is []", ...choices([]), leadsTo: malformed },
  "choices-absent": { says: "there are no choices", ...choices(undefined), leadsTo: malformed },
  "choices-wrong-type": { says: "choices is an object", ...choices({ "0": { message: {} } }), leadsTo: malformed },
  "choice-null": { says: "the only choice is null", ...choices([null]), leadsTo: malformed },
  "body-no-object": {
    says: "the body is JSON, but a list of numbers",
    ...either(answer(200, "[1,2,3]")),
    leadsTo: malformed
  },
  "message-wrong-type": {
    says: "the message is a text",
    plain: answer(200, JSON.stringify({ choices: [{ message: TEXT, finish_reason: "stop" }] })),
    leadsTo: malformed
  },
  "nested-too-deep": {
    says: "the body is ten thousand levels deep",
    ...either(answer(200, `{"choices":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)),
    leadsTo: { error: "ModelUnavailable", kind: "not-json" }
  },
  "finish-missing": {
    says: "a text without a finish reason",
    ...saying({ content: TEXT }, { finish: undefined, usage: USAGE }),
    leadsTo: malformed
  },
  "finish-error": {
    says: "the finish reason is `error`",
    ...saying({ content: TEXT }, { finish: "error", usage: USAGE }),
    leadsTo: { error: "ModelUnavailable", kind: "server-error" }
  },
  "content-null": { says: "content is null and there are no calls", ...saying({ content: null }), leadsTo: unusable },
  "empty-stop": { says: "an empty text", ...saying({ content: "" }), leadsTo: unusable },
  "blank-text": { says: "a text of spaces", ...saying({ content: " \n\t " }), leadsTo: unusable },
  "reasoning-only": {
    says: "thoughts, and no answer",
    ...saying({ content: null, reasoning_content: "The berth might be free. Or not." }),
    leadsTo: unusable
  },
  "content-filtered": {
    says: "the answer was filtered away",
    ...saying({ content: null }, { finish: "content_filter", usage: USAGE }),
    leadsTo: { error: "ModelRefused", kind: "filtered" }
  },
  "content-parts": {
    says: "content is a list of parts, one of them unknown",
    ...saying({
      content: [{ type: "text", text: "The berth " }, { type: "hologram" }, { type: "text", text: "is free." }]
    }),
    leadsTo: { reply: { text: TEXT, finish: "stop", calls: [] } }
  },
  "content-number": { says: "content is a number", ...saying({ content: 42 }), leadsTo: unusable },
  "usage-missing": {
    says: "no usage",
    ...saying({ content: TEXT }, { finish: "stop" }),
    leadsTo: { reply: { text: TEXT, usage: "counted" } }
  },
  "usage-negative": {
    says: "negative and broken usage",
    ...saying({ content: TEXT }, { finish: "stop", usage: { prompt_tokens: -5, completion_tokens: 1.5 } }),
    leadsTo: { reply: { text: TEXT, usage: "counted" } }
  },
  "usage-absurd": {
    says: "more tokens than there are",
    ...saying({ content: TEXT }, { finish: "stop", usage: { prompt_tokens: 1e300, completion_tokens: "many" } }),
    leadsTo: { reply: { text: TEXT, usage: "counted" } }
  },
  "nul-and-surrogates": {
    says: "NUL and lone halves of surrogate pairs",
    ...saying({ content: "The\u0000 berth \ud800is\udfff free." }),
    leadsTo: { reply: { text: "The\ufffd berth \ufffdis\ufffd free.", calls: [] } }
  },
  "invalid-utf8": {
    says: "bytes that are no UTF-8",
    plain: (request, response) => {
      const whole = completion(request.model, { message: { content: "The b#th" }, finish: "stop", usage: USAGE })
      response.writeHead(200, { "content-type": "application/json" })
      response.end(Buffer.from(whole.replace("#", "\u00ff"), "latin1"))
    },
    stream: (request, response) => {
      const whole = stream(request.model, { message: { content: "The b#th" }, finish: "stop", usage: USAGE })
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(Buffer.from(whole.replace("#", "\u00ff"), "latin1"))
    },
    leadsTo: { reply: { text: "The b\ufffdth" } }
  },
  "role-confusion": {
    says: "the answer claims to be the system speaking",
    ...saying({ role: "system", content: TEXT }),
    leadsTo: { reply: { text: TEXT, calls: [] } }
  },
  "echoes-secret": {
    says: "the answer repeats the key of the request",
    plain: (request, response) => {
      const content = `I was called with ${String(request.headers.authorization)}`
      response.writeHead(200, { "content-type": "application/json" })
      response.end(completion(request.model, { message: { content }, finish: "stop", usage: USAGE }))
    },
    stream: (request, response) => {
      const content = `I was called with ${String(request.headers.authorization)}`
      const said = piece(request.model, { content }) + piece(request.model, {}, "stop")
      response.writeHead(200, { "content-type": "text/event-stream" }).end(said + DONE)
    },
    leadsTo: { reply: { text: "I was called with Bearer [redacted]" } }
  },
  "finish-unknown": {
    says: "a finish reason that no one has heard of",
    ...saying({ content: TEXT }, { finish: "eos_token", usage: USAGE }),
    leadsTo: { reply: { text: TEXT, finish: "stop" } }
  },
  "finish-length": {
    says: "the text ran into the limit of the reply",
    ...saying({ content: TEXT }, { finish: "length", usage: USAGE }),
    leadsTo: { reply: { text: TEXT, finish: "length" } }
  }
} as const satisfies Record<string, HostileMode>
