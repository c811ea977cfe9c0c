import { execFile } from "node:child_process"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { headersIn } from "../src/opening/tracing.ts"

const program = join(import.meta.dirname, "children/exporting.ts")

interface Exported {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
}

interface Body {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: Exported["attributes"] }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Exported> }>
  }>
}

interface Request {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Body
}

/** A collector that answers as it is asked. */
const collecting = async <A>(
  answer: (response: ServerResponse) => void,
  work: (url: string, requests: ReadonlyArray<Request>) => Promise<A>
): Promise<A> => {
  const requests: Array<Request> = []
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Body
      requests.push({ path: request.url, headers: request.headers, body })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await work(`127.0.0.1:${(server.address() as AddressInfo).port}`, requests)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Runs to its end in a process with these variables. */
const running = async (variables: Readonly<Record<string, string>>, sleepMs = 0) => {
  const env = { ...process.env, ...variables }
  const { stderr, stdout } = await promisify(execFile)(process.execPath, [program, String(sleepMs)], { env })
  assert.deepStrictEqual(JSON.parse(stdout), { answer: "Nothing to be seen.", again: "Nothing to be seen." })
  return stdout + stderr
}

const fine = (response: ServerResponse) => response.writeHead(200, { "content-type": "application/json" }).end("{}")

const spansIn = (requests: ReadonlyArray<Request>): ReadonlyArray<Exported> =>
  requests.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  )

const textOf = ({ attributes }: Pick<Exported, "attributes">, key: string): unknown =>
  attributes.find((each) => each.key === key)?.value["stringValue"]

describe("OTEL_EXPORTER_OTLP_ENDPOINT", { timeout: 60_000 }, () => {
  it("has the spans sent there, under the names that people read, each below its parent", () =>
    collecting(fine, async (host, requests) => {
      const said = await running({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://keeper:pass-canary@${host}/base/`,
        OTEL_SERVICE_NAME: "harbor",
        OTEL_EXPORTER_OTLP_HEADERS: "x-team=lamps%20east, =none, api-key=header-canary"
      })
      assert.isAbove(requests.length, 0)
      for (const { body, headers, path } of requests) {
        assert.strictEqual(path, "/base/v1/traces")
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(headers["x-team"], "lamps east")
        assert.strictEqual(headers["api-key"], "header-canary")
        assert.strictEqual(headers.authorization, `Basic ${btoa("keeper:pass-canary")}`)
        for (const { resource } of body.resourceSpans) assert.strictEqual(textOf(resource, "service.name"), "harbor")
      }
      const spans = spansIn(requests)
      const turn = spans.find(({ name }) => name === "invoke_agent desk")
      const within = spans.filter(({ parentSpanId }) => parentSpanId === turn?.spanId).map(({ name }) => name)
      assert.includeMembers(within, [
        "assistant.decide",
        "ledger.commit",
        "context.assemble",
        "chat lamp-1",
        "execute_tool look"
      ])
      const accept = spans.find(({ name, traceId }) => name === "mailbox.accept" && traceId === turn?.traceId)
      assert.strictEqual(turn?.parentSpanId, accept?.spanId)
      assert.isUndefined(accept?.parentSpanId)
      const chat = spans.find(({ name }) => name === "chat lamp-1")
      assert.strictEqual(chat && textOf(chat, "reverie.verb"), "model.infer")
      assert.strictEqual(chat && textOf(chat, "gen_ai.provider.name"), "openai")
      const tool = spans.find(({ name }) => name === "execute_tool look")
      assert.strictEqual(tool && textOf(tool, "error.type"), "threw")
      for (const { spanId, traceId } of spans) {
        assert.match(traceId, /^[0-9a-f]{32}$/)
        assert.match(spanId, /^[0-9a-f]{16}$/)
      }
      const sent = JSON.stringify(requests.map(({ body }) => body)) + said
      for (const secret of ["canary", "glass of the lamp", "What is there?"]) assert.notInclude(sent, secret)
    }))

  it("X1 X2 a collector that is away delays and breaks nothing", async () => {
    const gone = await collecting(fine, (host) => Promise.resolve(host))
    await running({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${gone}` }, 1_500)
  })

  it("X1 X2 one that never answers is not waited for, and the process ends by itself", () =>
    collecting(
      () => {},
      async (host, requests) => {
        await running({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}` }, 1_500)
        assert.isAbove(requests.length, 0)
      }
    ))

  it("X1 one that refuses is left alone", () =>
    collecting(
      (response) => response.writeHead(401).end("no"),
      async (host, requests) => {
        await running({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://${host}/here` }, 1_500)
        assert.deepStrictEqual(
          requests.map(({ path }) => path),
          ["/here"]
        )
      }
    ))

  it("what is no URL is said once, without the value, and OTEL_SDK_DISABLED turns it off", () =>
    collecting(fine, async (host, requests) => {
      const said = await running({ OTEL_EXPORTER_OTLP_ENDPOINT: "canary://nowhere" })
      assert.match(said, /OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL/)
      assert.notInclude(said, "canary")
      await running({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}`, OTEL_SDK_DISABLED: "true" })
      assert.isEmpty(requests)
    }))

  it("headers are read as far as they are pairs", () => {
    assert.deepStrictEqual(headersIn("a=b,c==d,e,=f,g h=i,j=%zz"), { a: "b", c: "=d", j: "%zz" })
  })
})
