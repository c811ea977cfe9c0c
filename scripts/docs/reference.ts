// Reference: the pages about the command line, settings, HTTP and errors, made from what the program itself goes by.
// Owns reading the command tree, the tables of settings, the contract and the classes of errors, and their form as Markdown.
// Leaves what programs import to sdk.ts.
// N1  A page that would have no entry breaks the build.

import * as OpenApi from "effect/http-api/OpenApi"
import { secretFiles, settings } from "../../apps/cli/src/config/settings.ts"
import { everyCommand, treeOf } from "../../apps/cli/src/program.ts"
import { Stop } from "../../apps/cli/src/running/stop.ts"
import { factsOf } from "../../apps/cli/src/tree/leaf.ts"
import { Api } from "../../apps/server/src/api/index.ts"
import { DEFAULT_SETTINGS, settingRanges } from "../../packages/assistant/src/settings.ts"
import { settingNames } from "../../packages/reverie/src/define-assistant.ts"
import { filesOfRepository, moduleOf, readText } from "../../test/architecture/repository.ts"
import { markdownOf, type Syntax } from "./sdk.ts"

type Command = ReturnType<typeof treeOf>
type Option = Command["options"][number]
type Argument = Command["registeredArguments"][number]

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").trim()
const code = (text: string): string => `\`${text}\``

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows.length === 0
    ? ""
    : [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

const joined = (...parts: ReadonlyArray<string>): string => parts.filter((part) => part !== "").join("\n\n")

const entriesOf = (what: string, entries: ReadonlyArray<string>): string => {
  if (entries.length === 0) throw new Error(`the reference of ${what} has no entry`)
  return entries.join("\n\n")
}

const root = (): Command => treeOf({ stop: new Stop(), onExit: () => {} })

/** The whole name, as it is typed. */
const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

const optionRow = ({ defaultValue, description, flags }: Option): ReadonlyArray<string> => {
  const byDefault = defaultValue === undefined || defaultValue === false ? "" : code(JSON.stringify(defaultValue))
  return [code(flags), description, byDefault]
}

const argumentRow = (argument: Argument): ReadonlyArray<string> => [
  code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
  argument.description,
  ""
]

const commandEntry = (command: Command): string => {
  const facts = factsOf(command)
  if (facts === undefined) {
    const names = command.commands.map((each) => code(pathOf(each)))
    return joined(`## ${pathOf(command)}`, `${command.description()}: ${names.join(", ")}.`)
  }
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)]
  return joined(
    `## ${pathOf(command)}`,
    facts.says.replace(/^./, (first) => first.toUpperCase()).replace(/([^.])$/, "$1."),
    `\`\`\`sh\n${pathOf(command)} ${command.usage()}\nreverie ${facts.example}\n\`\`\``,
    table(["Argument or option", "Meaning", "Default"], rows)
  )
}

export const commandLineText = (): string =>
  entriesOf(
    "the command line",
    everyCommand(root())
      .filter((command) => command.parent !== null)
      .map(commandEntry)
  )

/** What is read from the environment and is no setting of the command line. */
const otherVariables: ReadonlyArray<readonly [name: string, says: string]> = [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "Where spans go; none are made without it."],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "The same for traces alone, as a whole address."],
  ["OTEL_EXPORTER_OTLP_HEADERS", "Headers that are sent with them; a secret."],
  ["OTEL_SERVICE_NAME", "The name of the service in the spans."],
  ["OTEL_SDK_DISABLED", "`true` exports nothing."],
  ["QDRANT_COLLECTION", "The collection of the memory index in Qdrant."],
  ["REVERIE_KEY", "The key that a data directory is encrypted with, 32 bytes in hex or base64; a secret."],
  ["REVERIE_KEY_FILE", "A file with it, in its place."],
  ["REVERIE_SEGMENTS", "A directory in which the compressed older part of the ledger lies, apart from the store."],
  ["REVERIE_NEW_KEY", "The key from now on, for `reverie keys rotate`; a secret."],
  ["REVERIE_NEW_KEY_FILE", "A file with that."],
  ["REVERIE_DEBUG", "Set, a command that failed prints the stack too."],
  ["NO_COLOR", "Set, nothing is coloured."]
]

interface Member {
  readonly name: string
  readonly type: string
  readonly says: string
}

/** The members of an interface of a source file, each with its comment. A comment above several is that of the first. */
const membersOf = (path: string, name: string): ReadonlyArray<Member> => {
  const { program, text } = moduleOf(path, readText(path))
  const nodes = program.body as unknown as ReadonlyArray<{ readonly declaration?: Syntax }>
  const found = nodes.find(({ declaration }) => (declaration?.["id"] as { name?: string } | undefined)?.name === name)
  const { body } = (found?.declaration?.["body"] ?? { body: [] }) as { readonly body: ReadonlyArray<Syntax> }
  return body.map((member, index) => {
    const before = text.slice(body[index - 1]?.end ?? Math.max(0, member.start - 600), member.start)
    const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1] ?? ""
    const own = text.slice(member.start, member.end)
    const [, key = "", type = ""] = /^(?:readonly )?(\w+)\??: ([\s\S]*)$/.exec(own) ?? []
    return { name: key, type, says: markdownOf(comment) }
  })
}

const settingRows = (): ReadonlyArray<ReadonlyArray<string>> =>
  settings.map(({ fallback, isSecret, name, says, variable }) => {
    const file = Object.entries(secretFiles).find(([, of]) => of === name)?.[0]
    const where = isSecret === true && file !== undefined ? `${code(file)} names a file with it` : code(name)
    return [
      code(variable),
      isSecret === true && file === undefined ? "" : where,
      says,
      fallback === undefined ? "" : code(fallback)
    ]
  })

const isSetting = (name: string): name is keyof typeof settingNames => Object.hasOwn(settingNames, name)

/** From the least to the most that is taken; a share of the window has no whole numbers. */
const rangeOf = (name: keyof typeof settingNames): string => {
  const inEngine = settingNames[name]
  const [least, most] = Object.entries(settingRanges).find(([each]) => each === inEngine)?.[1] ?? [0, 1]
  if (typeof DEFAULT_SETTINGS[inEngine] === "boolean") return ""
  return most === Number.MAX_SAFE_INTEGER ? `${least} and more` : `${least} to ${most}`
}

/** Under the names that a program writes; those of the engine are of no use to it. */
const assistantRows = (): ReadonlyArray<ReadonlyArray<string>> =>
  membersOf("packages/reverie/src/define-assistant.ts", "AssistantSettings").map(({ name, says, type }) => {
    if (!isSetting(name)) throw new Error(`defineAssistant takes no setting ${name}`)
    const byDefault = DEFAULT_SETTINGS[settingNames[name]]
    return [code(name), code(type), says, rangeOf(name), code(JSON.stringify(byDefault))]
  })

export const settingsText = (): string => {
  if (settings.length === 0 || assistantRows().length === 0) throw new Error("the reference of settings has no entry")
  return joined(
    "## Command line and servers",
    "A flag wins over the environment, that over `reverie.config.json` in the project, that over `.env` while developing, " +
      "that over the user's own configuration. Secrets never stand in a configuration file. `reverie config` shows where each value is from.",
    table(["Variable", "In a file", "Meaning", "Default"], settingRows()),
    "## Other variables",
    table(
      ["Variable", "Meaning"],
      otherVariables.map(([name, says]) => [code(name), says])
    ),
    "## Settings of an assistant",
    "The option `settings` of `defineAssistant`. Durations are in milliseconds. A value outside its range is refused, and so is a name that is not here.",
    table(["Setting", "Type", "Meaning", "Range", "Default"], assistantRows()),
    "Model calls of a tick (`maxSteps`), sub-agents, budgets, prices, hours of sleep and the window are options beside `settings`: [SDK](sdk.md) lists them under `AssistantOptions`, `SpendingOptions` and `ModelOptions`."
  )
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema?: unknown
  }>
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> }
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>
}

export const contract = (): ReturnType<typeof OpenApi.fromApi> => OpenApi.fromApi(Api)

interface Route {
  readonly title: string
  readonly operation: Operation
}

const routesOf = (): ReadonlyArray<Route> =>
  Object.entries(contract().paths).flatMap(([path, methods]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation
    }))
  )

export const routeNames = (): ReadonlyArray<string> => routesOf().map(({ title }) => title)

/** A schema in one line: the name of one that has a name, else its type. */
const typeOf = (schema: unknown): string => {
  const {
    $ref,
    anyOf,
    enum: values,
    items,
    type
  } = (schema ?? {}) as {
    readonly $ref?: string
    readonly anyOf?: ReadonlyArray<unknown>
    readonly enum?: ReadonlyArray<unknown>
    readonly items?: unknown
    readonly type?: string
  }
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? ""
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" or ")
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ")
  return type === "array" ? `array of ${typeOf(items)}` : (type ?? "any")
}

const bodyText = ({ requestBody }: Operation): string => {
  const [found] = Object.entries(requestBody?.content ?? {})
  if (found === undefined) return ""
  const [type, { schema }] = found
  return `Body (${code(type)}):\n\n\`\`\`json\n${JSON.stringify(schema, undefined, 2)}\n\`\`\``
}

const routeEntry = ({ operation, title }: Route): string => {
  const { description, operationId, parameters = [], responses = {}, summary } = operation
  const rows = parameters.map(({ description: says, in: where, name, required, schema }) => [
    code(name),
    where,
    `${typeOf(schema)}${required === true ? ", required" : ""}`,
    says ?? ""
  ])
  const answers = Object.entries(responses).map(([status, { description: says }]) => [code(status), says ?? ""])
  return joined(
    `## ${title}`,
    [summary, description].filter((text) => text !== undefined && text !== "").join(" "),
    operationId === undefined ? "" : `Operation ${code(operationId)}.`,
    table(["Parameter", "In", "Type", "Meaning"], rows),
    bodyText(operation),
    table(["Status", "Answer"], answers)
  )
}

export const httpText = (): string =>
  joined(
    "Every server has this contract at `/openapi.json` and, for people, at `/docs`; `fetchHandler` of `reverie/server` answers by the same one.",
    entriesOf("HTTP", routesOf().map(routeEntry))
  )

export interface ErrorClass {
  readonly tag: string
  readonly says: string
  readonly recovery: string
  readonly fields: ReadonlyArray<string>
  readonly status: string
  readonly isApi: boolean
}

/** One word; or those that it may be, where it depends on what happened. */
const recoveryIn = (body: string): string => {
  const [, one, several = ""] = /recovery(?:(?:: [^=]*)? = "([a-z-]+)"|\(\): ([^{]*) \{)/.exec(body) ?? []
  return one ?? several.replaceAll('"', "").replaceAll(" | ", " or ")
}

/** Errors of the source, the testkit's own apart. */
const errorClasses = (): ReadonlyArray<ErrorClass> => {
  const files = filesOfRepository("packages/*.ts", "apps/*.ts").filter(
    (path) => path.includes("/src/") && !path.startsWith("packages/testkit/") && readText(path).includes("TaggedError<")
  )
  const found = files.flatMap((path) => {
    const text = readText(path)
    return [...text.matchAll(/^export class (\w+) extends Schema\.TaggedError</gm)].map((match): ErrorClass => {
      const [, tag = ""] = match
      const body = text.slice(match.index, (text.indexOf("\nexport ", match.index + 1) + 1 || text.length + 1) - 1)
      const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, match.index))?.[1] ?? ""
      const [, fields = ""] = /\{([\s\S]*?)\}\)? \{?/.exec(body.slice(body.indexOf("("))) ?? []
      return {
        tag,
        says: markdownOf(comment),
        recovery: recoveryIn(body),
        fields: [...fields.matchAll(/^ {2}(\w+): /gm)].map(([, name = ""]) => name),
        status: /httpApiStatus: (\d+)/.exec(body)?.[1] ?? "",
        isApi: path.startsWith("apps/server/src/api/")
      }
    })
  })
  return found.toSorted((one, other) => (one.tag < other.tag ? -1 : 1))
}

const recoveries: ReadonlyArray<readonly [string, string]> = [
  ["retry", "The same may succeed later. Reverie tries again by itself where it can."],
  ["park", "The work waits, durably, until what is missing is there."],
  ["drop-tick", "Somebody else goes on with this assistant. Nothing is to be done."],
  ["tell-owner", "Whoever asked must ask for something else."],
  ["stop", "A person must correct a program, an option or a machine."]
]

const errorEntry = ({ fields, isApi, recovery, says, status, tag }: ErrorClass): string =>
  joined(
    `### ${tag}`,
    says,
    [
      recovery === "" ? "" : `Recovery: ${code(recovery)}.`,
      status === "" ? "" : `HTTP status: ${status}.`,
      isApi || fields.length === 0 ? "" : `Fields: ${fields.map(code).join(", ")}.`
    ]
      .filter((line) => line !== "")
      .join(" ")
  )

export const errorsText = (): string => {
  const all = errorClasses()
  return joined(
    "Each error has a tag (`_tag`), one line of `message` that says what happened and what to do, and a `recovery` that says who acts next.",
    table(
      ["Recovery", "Meaning"],
      recoveries.map(([name, says]) => [code(name), says])
    ),
    "## Errors of programs",
    entriesOf("errors", all.filter(({ isApi }) => !isApi).map(errorEntry)),
    "## Errors of the HTTP API",
    entriesOf("errors of HTTP", all.filter(({ isApi }) => isApi).map(errorEntry))
  )
}
