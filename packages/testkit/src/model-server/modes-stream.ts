// Hostile modes of streams: cut, stalled, endless, or no stream at all.

import {
  aCall,
  begin,
  drip,
  drop,
  flood,
  HOSTILE_TOOL,
  type HostileMode,
  hang,
  saying,
  STREAM_TYPE
} from "./hostile-mode.ts"
import { completion, DONE, event, piece, stream, USAGE } from "./wire.ts"

const TEXT = "The berth is free."

const text = (model: string): string => piece(model, { role: "assistant", content: "The berth " })

const halfCall = (model: string): string => piece(model, { tool_calls: [{ index: 0, ...aCall('{"text":"ber') }] })

const cut = { error: "ModelUnavailable", kind: "cut" } as const
const idle = { error: "ModelUnavailable", kind: "idle" } as const

export const streamModes = {
  "stream-cut-text": {
    says: "the stream ends in the middle of a text, without a finish reason",
    stream: begin(text, (response) => response.end()),
    leadsTo: cut
  },
  "stream-cut-call": {
    says: "the stream ends in the middle of a call",
    stream: begin(halfCall, (response) => response.end()),
    leadsTo: cut
  },
  "stream-cut-mid-line": {
    says: "the stream ends in the middle of a line",
    stream: begin(
      (model) => text(model) + text(model).slice(0, 60),
      (response) => response.end()
    ),
    leadsTo: cut
  },
  "stream-reset": { says: "the connection is dropped mid-stream", stream: begin(text, drop), leadsTo: cut },
  "stream-empty": {
    says: "a stream without one event",
    stream: begin(
      () => ": hello\n\n",
      (response) => response.end()
    ),
    leadsTo: cut
  },
  "stream-stall": { says: "the stream stops and stays open", stream: begin(text, hang), leadsTo: idle },
  "stream-stall-call": {
    says: "the stream stops in the middle of a call",
    stream: begin(halfCall, hang),
    leadsTo: idle
  },
  "stream-only-pings": {
    says: "comments keep the connection alive, and nothing else comes",
    stream: begin(text, (response) => drip(response, ": ping\n\n", 20)),
    leadsTo: { error: "ModelUnavailable", kind: "timeout" }
  },
  "slow-loris": {
    says: "one letter at a time, for ever",
    stream: begin(text, (response) => drip(response, piece("slow", { content: "x" }), 20)),
    leadsTo: { error: "ModelUnavailable", kind: "timeout" }
  },
  "stream-bad-json": {
    says: "an event that is no JSON",
    stream: begin(
      (model) => `${text(model)}data: {"choices": [oops\n\n${DONE}`,
      (response) => response.end()
    ),
    leadsTo: { error: "ModelUnavailable", kind: "not-json" }
  },
  "stream-error-event": {
    says: "an error event after some text",
    stream: begin(
      (model) => `${text(model)}event: error\n${event({ error: { message: "Upstream died", code: null } })}`,
      (response) => response.end()
    ),
    leadsTo: { error: "ModelUnavailable", kind: "server-error" }
  },
  "stream-error-data": {
    says: "an error object as data after some text",
    stream: begin((model) => text(model) + event({ error: { message: "Upstream died" } }), hang),
    leadsTo: { error: "ModelUnavailable", kind: "server-error" }
  },
  "stream-no-finish": {
    says: "[DONE] without a finish reason",
    stream: begin(
      (model) => text(model) + DONE,
      (response) => response.end()
    ),
    leadsTo: { error: "ModelUnavailable", kind: "malformed" }
  },
  "stream-endless": {
    says: "50 MB of text in small events",
    stream: begin(text, (response) =>
      flood(response, piece("endless", { content: "a".repeat(8_000) }), 50 * 2 ** 20, DONE)
    ),
    leadsTo: { error: "ModelUnavailable", kind: "too-large" }
  },
  "stream-one-line": {
    says: "50 MB without a line break",
    stream: begin(
      () => "data: ",
      (response) => flood(response, "a".repeat(65_536), 50 * 2 ** 20, "\n\n")
    ),
    leadsTo: { error: "ModelUnavailable", kind: "too-large" }
  },
  "stream-after-finish-hangs": {
    says: "the answer is whole, but the stream is never closed",
    stream: begin((model) => piece(model, { content: TEXT }) + piece(model, {}, "stop"), hang),
    leadsTo: { reply: { text: TEXT, finish: "stop", usage: "counted" } }
  },
  "stream-after-done-floods": {
    says: "the answer is whole, and 50 MB follow",
    stream: begin(
      (model) => stream(model, { message: { content: TEXT }, finish: "stop", usage: USAGE }),
      (response) => flood(response, piece("more", { content: "a".repeat(8_000) }), 50 * 2 ** 20, "")
    ),
    leadsTo: { reply: { text: TEXT, finish: "stop", usage: "provider" } }
  },
  "stream-without-done": {
    says: "the answer is whole, and the stream ends without [DONE]",
    stream: begin(
      (model) => piece(model, { content: TEXT }) + piece(model, {}, "stop"),
      (response) => response.end()
    ),
    leadsTo: { reply: { text: TEXT, finish: "stop" } }
  },
  "stream-carriage-returns": {
    says: "lines end in carriage returns, alone and with line feeds, a byte at a time",
    stream: (request, response) => {
      response.writeHead(200, STREAM_TYPE)
      const said = (piece(request.model, { content: TEXT }) + piece(request.model, {}, "stop")).replaceAll(
        "\n\n",
        "\r\n\r"
      )
      for (const char of said + DONE) response.write(char)
      response.end()
    },
    leadsTo: { reply: { text: TEXT, finish: "stop" } }
  },
  "stream-one-index": {
    says: "parallel calls that all claim index 0",
    stream: begin(
      (model) =>
        piece(model, { tool_calls: [{ index: 0, ...aCall('{"text":"x"}', HOSTILE_TOOL, "call_a") }] }) +
        piece(model, { tool_calls: [{ index: 0, ...aCall('{"text":"y"}', HOSTILE_TOOL, "call_b") }] }) +
        piece(model, {}, "tool_calls") +
        DONE,
      (response) => response.end()
    ),
    leadsTo: {
      reply: {
        calls: [
          { tool: HOSTILE_TOOL, arguments: { text: "x" } },
          { tool: HOSTILE_TOOL, arguments: { text: "y" } }
        ]
      }
    }
  },
  "stream-huge-index": {
    says: "a call with an index of two thousand million",
    stream: begin(
      (model) =>
        piece(model, { tool_calls: [{ index: 2_000_000_000, ...aCall('{"text":"x"}') }] }) +
        piece(model, {}, "tool_calls") +
        DONE,
      (response) => response.end()
    ),
    leadsTo: { reply: { calls: [{ tool: HOSTILE_TOOL, arguments: { text: "x" } }] } }
  },
  "stream-unasked": {
    says: "a stream where one JSON object was asked for, and the other way round",
    plain: saying({ content: TEXT }).stream,
    stream: (request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(completion(request.model, { message: { content: TEXT }, finish: "stop", usage: USAGE }))
    },
    leadsTo: { reply: { text: TEXT, finish: "stop", usage: "provider" } }
  }
} as const satisfies Record<string, HostileMode>
