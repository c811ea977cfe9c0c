import { AssistantId, DEFAULT_TENANT, type Json, type ToolCall } from "@reverie/protocol"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import * as Schema from "effect/Schema"
import { defineTool, type Tool, type ToolBasics, type ToolRun } from "../src/index.ts"
import { type RunContext } from "../src/execute.ts"

export const context: RunContext = {
  address: { tenant: DEFAULT_TENANT, assistant: AssistantId.make("desk") },
  key: "default/desk/7/tools.0",
  hops: 2,
  names: ["search", "berth_list", "send_note"]
}

export const callOf = (tool: string, args: Json = {}): ToolCall => ({ id: "7.1.0", tool, arguments: args })

/** A tool without arguments around a function. */
export const running = (
  run: (run: ToolRun) => unknown,
  more: Partial<Pick<ToolBasics<undefined>, "background" | "final" | "needsApproval" | "timeoutMs">> = {}
) => defineTool({ name: "probe", description: "For tests.", ...more, run: (_args, toolRun) => run(toolRun) })

export interface Berth {
  readonly quay: string
  readonly meters: number
}

type Checked = StandardSchemaV1.Result<Berth>

const berthIssues = (value: unknown): ReadonlyArray<StandardSchemaV1.Issue> => {
  const { meters, quay } = Object(value) as { readonly meters?: unknown; readonly quay?: unknown }
  return [
    ...(typeof quay === "string" ? [] : [{ path: ["quay"], message: "should be a text" }]),
    ...(typeof meters === "number" ? [] : [{ path: [{ key: "meters" }], message: "should be a number" }])
  ]
}

/** A Standard Schema by hand: it doubles `meters` when decoding, so that a test can tell decoded from raw. */
export const handMade = (
  validate: (value: unknown) => Checked | Promise<Checked> = (value) => {
    const issues = berthIssues(value)
    const { meters, quay } = Object(value) as Berth
    return issues.length > 0 ? { issues } : { value: { quay, meters: meters * 2 } }
  }
): StandardSchemaV1<Berth, Berth> & StandardJSONSchemaV1<Berth, Berth> => {
  const shown = ({ target }: StandardJSONSchemaV1.Options) => ({
    $schema: target,
    type: "object",
    properties: { quay: { type: "string" }, meters: { type: "number" } },
    required: ["quay", "meters"]
  })
  return { "~standard": { version: 1, vendor: "by-hand", validate, jsonSchema: { input: shown, output: shown } } }
}

interface Crate {
  readonly label: string
  readonly inside: ReadonlyArray<Crate>
}

const Crate: Schema.Codec<Crate> = Schema.Struct({
  label: Schema.String,
  inside: Schema.Array(Schema.suspend((): Schema.Codec<Crate> => Crate))
}).annotate({ identifier: "Crate" })

/** One tool for each form an input can have, the recursive ones among them. */
export const everyForm: ReadonlyArray<Tool> = [
  defineTool({ name: "none", description: "No input.", run: () => "ran" }),
  defineTool({ name: "by_hand", description: "Standard Schema.", input: handMade(), run: ({ quay }) => quay }),
  defineTool({ name: "crate", description: "Effect Schema.", input: Crate, run: ({ label }) => label }),
  defineTool({
    name: "dated",
    description: "Effect Schema that decodes.",
    input: Schema.Struct({ at: Schema.Date, many: Schema.optional(Schema.Int) }),
    run: ({ at }) => at.getTime()
  }),
  defineTool({
    name: "plain",
    description: "JSON Schema.",
    input: {
      type: "object",
      properties: {
        a: { type: "integer" },
        list: { type: "array", items: { $ref: "#/$defs/item" } },
        constructor: { type: "string" }
      },
      required: ["a"],
      $defs: {
        item: { anyOf: [{ type: "string" }, { type: "object", properties: { next: { $ref: "#/$defs/item" } } }] }
      }
    },
    run: (args) => args
  })
]
