import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { sharePostgres } from "@reverie/testkit/shared-servers"

const program = join(import.meta.dirname, "children/leaking.ts")
const KEY = "sk-canary-4f1c0de5ecret0f0penai"
const PASSWORD = "canary%2Fpa55word-of-the-database"
/** As they stand, as they are meant, and every half of them that a cut could leave. */
const canaries = [KEY, PASSWORD, decodeURIComponent(PASSWORD), KEY.slice(0, 18), KEY.slice(-14), PASSWORD.slice(-16)]

const MOST_MILLIS = 120_000

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

const serving = async (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) => {
  const server = createServer(
    (request, response) => void bodyOf(request).then((body) => answer(request, response, body))
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** What the provider does with the key that it was sent: it says it again. */
const echoes: Readonly<Record<string, (key: string) => readonly [status: number, body: unknown]>> = {
  denied: (key) => [401, { error: { message: `Incorrect API key provided: ${key}.`, code: "invalid_api_key" } }],
  refused: (key) => [400, { error: { message: `bad request by ${key}`, type: key } }],
  broken: (key) => [500, { error: { message: `${"x".repeat(290)} ${key}` } }],
  garbled: (key) => [200, `no JSON but ${key}`],
  spoken: (key) => [200, replied({ content: `Your key is ${key}.` })],
  called: (key) => [200, replied({ content: null, tool_calls: [toolCall("call-1", { key })] })],
  leaked: () => [200, replied({ content: null, tool_calls: [toolCall("call-1", {}), toolCall("call-2", {})] })]
}

const toolCall = (id: string, args: object) => ({
  id,
  type: "function",
  function: { name: "leak", arguments: JSON.stringify(args) }
})

const replied = (message: object) => ({
  id: "r",
  object: "chat.completion",
  model: "lamp-1",
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls" in message ? "tool_calls" : "stop",
      message: { role: "assistant", ...message }
    }
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
})

/** Everything that a process lets out: its output, its spans, and what it sends to its model. */
const lettingOut = async (variables: Readonly<Record<string, string>>, place: string) => {
  const heard: Array<string> = []
  const asked: Array<string> = []
  let keys = 0
  const provider = await serving((request, response, body) => {
    asked.push(body)
    const key = (request.headers.authorization ?? "").replace("Bearer ", "")
    if (key === KEY) keys++
    const kind = Object.keys(echoes).find((each) => body.includes(`Please: ${each}`)) ?? "spoken"
    const isSecond = body.includes('"role":"tool"')
    const [status, said] = isSecond
      ? ([200, replied({ content: "Done." })] as const)
      : (echoes[kind]?.(key) ?? [500, ""])
    response.writeHead(status, { "content-type": "application/json" })
    response.end(typeof said === "string" ? said : JSON.stringify(said))
  })
  const collector = await serving((_, response, body) => {
    heard.push(body)
    response.writeHead(200).end("{}")
  })
  const env = {
    ...process.env,
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${provider.url}/v1`,
    OPENAI_MODEL: "lamp-1",
    OPENAI_EMBEDDING_MODEL: "",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...variables
  }
  try {
    const { stderr, stdout } = await promisify(execFile)(process.execPath, [program, place, ...Object.keys(echoes)], {
      env,
      maxBuffer: 64 * 1024 * 1024
    })
    return { stdout, stderr, spans: heard.join("\n"), prompts: asked.join("\n"), keys }
  } finally {
    provider.close()
    collector.close()
  }
}

/** Nothing of it holds a canary, and there was something to hold one. */
const isClean = (texts: Readonly<Record<string, string>>): void => {
  for (const [what, text] of Object.entries(texts)) {
    for (const canary of canaries) {
      const place = text.indexOf(canary)
      const around = text.slice(Math.max(0, place - 200), place + 60)
      if (place >= 0) assert.fail(`${what} holds ${canary}: ${around}`)
    }
  }
}

const examined = ({ keys, prompts, spans, stdout }: Awaited<ReturnType<typeof lettingOut>>): void => {
  assert.isAtLeast(keys, Object.keys(echoes).length, "the provider was sent the key")
  for (const kind of Object.keys(echoes)) assert.include(prompts, `Please: ${kind}`)
  assert.match(prompts, /The tool \\"leak\\" failed: no connection to/)
  assert.include(spans, "gen_ai.input.messages")
  assert.include(spans, "ModelDenied")
  assert.match(stdout, /Incorrect API key provided: \[redacted\]/)
  assert.match(stdout, /gen_ai_client_operation_duration_count/)
  assert.match(stdout, /can not be opened/)
}

describe("a key or a password that a fleet was given", { timeout: MOST_MILLIS }, () => {
  it("LLM02 S1 stands in no log, span, metric, entry, notice, prompt or error, and in no byte of the store", async () => {
    const data = await mkdtemp(join(tmpdir(), "reverie-secrets-"))
    try {
      const out = await lettingOut({ DATABASE_URL: `postgres://reverie:${PASSWORD}@127.0.0.1:1/none` }, data)
      examined(out)
      const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
      assert.isAbove(files.length, 0)
      const bytes = files.map(({ name, parentPath }) => readFileSync(join(parentPath, name), "latin1")).join("\n")
      assert.include(bytes, "Incorrect API key provided")
      const { prompts, spans, stderr, stdout } = out
      isClean({ stdout, stderr, spans, prompts, bytes })
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

const postgres = sharePostgres({ fsync: false })

postgres.describe("the same on PostgreSQL", () => {
  it("LLM02 S1 neither does the password of the database that is in use", { timeout: MOST_MILLIS }, async () => {
    const url = new URL(postgres.server().url)
    url.password = PASSWORD
    const out = await lettingOut({ DATABASE_URL: url.href, REDIS_URL: "", REVERIE_DEPLOYMENT: `s${process.pid}` }, "-")
    examined(out)
    const { prompts, spans, stderr, stdout } = out
    isClean({ stdout, stderr, spans, prompts })
  })
})
