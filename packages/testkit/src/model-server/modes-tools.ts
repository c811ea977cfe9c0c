// Hostile modes of tool calls.

import { aCall, answer, calling, HOSTILE_TOOL, type HostileMode, saying, STREAM_TYPE } from "./hostile-mode.ts"
import { DONE, piece, USAGE } from "./wire.ts"

const TEN_THOUSAND = Array.from({ length: 10_000 }, (_, index) => ({
  index,
  ...aCall('{"text":"x"}', HOSTILE_TOOL, `call_${index}`)
}))

const whole = { tool: HOSTILE_TOOL, arguments: { text: "x" } }
const spoilt = { reply: { finish: "tool-calls", calls: [{ tool: HOSTILE_TOOL, malformed: true }] } } as const

export const toolModes = {
  "arguments-not-json": {
    says: "arguments that are no JSON",
    ...calling(aCall('{"text": berth seven}')),
    leadsTo: spoilt
  },
  "arguments-cut": {
    says: "the reply ran into its limit in the middle of the arguments",
    ...saying({ content: null, tool_calls: [aCall('{"text":"berth se')] }, { finish: "length", usage: USAGE }),
    leadsTo: { reply: { finish: "length", calls: [{ tool: HOSTILE_TOOL, malformed: true }] } }
  },
  "arguments-array": { says: "arguments are a list", ...calling(aCall('["x"]')), leadsTo: spoilt },
  "arguments-number": { says: "arguments are a number, not even a text", ...calling(aCall(7)), leadsTo: spoilt },
  "arguments-too-deep": {
    says: "arguments ten thousand levels deep",
    ...calling(aCall(`{"text":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)),
    leadsTo: spoilt
  },
  "arguments-object": {
    says: "arguments as an object instead of a text",
    ...calling(aCall({ text: "x" })),
    leadsTo: { reply: { finish: "tool-calls", calls: [whole] } }
  },
  "arguments-twice-encoded": {
    says: "arguments are JSON inside a JSON text",
    ...calling(aCall(JSON.stringify('{"text":"x"}'))),
    leadsTo: { reply: { calls: [whole] } }
  },
  "arguments-empty": {
    says: "an empty text for no arguments",
    ...calling(aCall("")),
    leadsTo: { reply: { calls: [{ tool: HOSTILE_TOOL, arguments: {} }] } }
  },
  "arguments-nul": {
    says: "NUL and a lone surrogate inside the arguments, and inside a key",
    ...calling(aCall('{"text":"a\\u0000b\\ud800","k\\u0000":["\\udc00"]}')),
    leadsTo: {
      reply: { calls: [{ tool: HOSTILE_TOOL, arguments: { text: "a\ufffdb\ufffd", "k\ufffd": ["\ufffd"] } }] }
    }
  },
  "arguments-proto": {
    says: "keys that reach for the prototype",
    ...calling(aCall('{"text":"x","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')),
    leadsTo: { reply: { calls: [whole] } }
  },
  "arguments-proto-escaped": {
    says: "keys that reach for the prototype, spelt with escapes",
    ...calling(aCall('{"text":"x","\\u005f_proto__":{"polluted":true},"c\\u006fnstructor":{"polluted":true}}')),
    leadsTo: { reply: { calls: [whole] } }
  },
  "arguments-object-proto": {
    says: "an object of arguments with a key that reaches for the prototype",
    ...calling(aCall(JSON.parse('{"text":"x","__proto__":{"polluted":true}}'))),
    leadsTo: { reply: { calls: [whole] } }
  },
  "unknown-tool": {
    says: "a tool that was not offered",
    ...calling(aCall('{"text":"x"}', "launch_missiles")),
    leadsTo: { reply: { finish: "tool-calls", calls: [{ tool: "launch_missiles", arguments: { text: "x" } }] } }
  },
  "tool-name-hostile": {
    says: "a tool name with an escape sequence and a path",
    ...calling(aCall('{"text":"x"}', "\u001b[31m../../etc/passwd")),
    leadsTo: { reply: { calls: [{ tool: "__31m______etc_passwd", arguments: { text: "x" } }] } }
  },
  "tool-name-missing": {
    says: "a call that names no tool",
    ...calling({ id: "call_0", type: "function", function: { arguments: "{}" } }),
    leadsTo: { reply: { calls: [{ tool: "unnamed", arguments: {} }] } }
  },
  "call-no-object": {
    says: "a list of calls that holds null and a text",
    ...saying({ content: "The berth is free.", tool_calls: [null, "look"] }),
    leadsTo: { reply: { text: "The berth is free.", calls: [] } }
  },
  "duplicate-call-ids": {
    says: "two calls with one id",
    ...calling(aCall('{"text":"x"}'), aCall('{"text":"y"}')),
    leadsTo: { reply: { calls: [whole, { tool: HOSTILE_TOOL, arguments: { text: "y" } }] } }
  },
  "ten-thousand-calls": {
    says: "ten thousand calls in one reply",
    plain: calling(...TEN_THOUSAND).plain,
    stream: answer(
      200,
      piece("many", { tool_calls: TEN_THOUSAND }) + piece("many", {}, "tool_calls") + DONE,
      STREAM_TYPE
    ),
    leadsTo: { reply: { finish: "tool-calls", callCount: 16 } }
  },
  "legacy-function-call": {
    says: "the call in the form that came before tools",
    ...saying(
      { content: null, function_call: { name: HOSTILE_TOOL, arguments: '{"text":"x"}' } },
      { finish: "function_call", usage: USAGE }
    ),
    leadsTo: { reply: { finish: "tool-calls", calls: [whole] } }
  },
  "finish-contradicts": {
    says: "calls that claim to have finished with `stop`",
    ...saying({ content: null, tool_calls: [aCall('{"text":"x"}')] }),
    leadsTo: { reply: { finish: "tool-calls", calls: [whole] } }
  }
} as const satisfies Record<string, HostileMode>
