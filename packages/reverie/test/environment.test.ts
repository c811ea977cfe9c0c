import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { saying, startModelServer } from "@reverie/testkit/model-server"

const program = join(import.meta.dirname, "children/asking.ts")
const NONE = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", OPENAI_MODEL: "", OPENAI_EMBEDDING_MODEL: "" }

/** Variables of keys, which the machine that tests may have. */
const keys = ["ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY"]
const NO_KEYS = Object.fromEntries(keys.map((name) => [name, ""]))

/** Asks in a process with these variables of the model and no others. */
const asking = async (variables: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
  const env = { ...process.env, ...NONE, ...NO_KEYS, ...variables }
  const { stderr, stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env })
  return {
    ...(JSON.parse(stdout) as { readonly answer: string; readonly model: string }),
    said: stdout + stderr,
    stderr
  }
}

const withServer = async <A>(
  text: string,
  work: (server: Awaited<ReturnType<typeof startModelServer>>) => Promise<A>
) => {
  const server = await startModelServer({ script: saying(text) })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

describe("the environment chooses the model", { timeout: 60_000 }, () => {
  it("nothing set: the offline model, which says what it is", async () => {
    const { answer, model } = await asking({})
    assert.match(answer, /not a language model/)
    assert.strictEqual(model, "the offline model")
  })

  it("OPENAI_BASE_URL: the server there, with OPENAI_MODEL and the key, which is never printed", () =>
    withServer("I live on a server.", async ({ requests, url }) => {
      const { answer, model, said } = await asking({
        OPENAI_BASE_URL: url,
        OPENAI_MODEL: "harbour-1",
        OPENAI_API_KEY: "sk-secret"
      })
      assert.strictEqual(answer, "I live on a server.")
      assert.strictEqual(model, `harbour-1 at ${url}`)
      assert.strictEqual(requests[0]?.model, "harbour-1")
      assert.strictEqual(requests[0]?.headers.authorization, "Bearer sk-secret")
      assert.notInclude(said, "sk-secret")
    }))

  it("I1 of the profile: an option goes before the environment, and no key of the one is sent to the other", () =>
    withServer("I was chosen.", (chosen) =>
      withServer("I was named.", async (named) => {
        const { answer } = await asking({ OPENAI_BASE_URL: named.url, OPENAI_API_KEY: "sk-secret" }, chosen.url)
        assert.strictEqual(answer, "I was chosen.")
        assert.strictEqual(named.requests.length, 0)
        assert.strictEqual(chosen.requests[0]?.model, "harbour-2")
        assert.notInclude(JSON.stringify(chosen.requests.map(({ body, headers }) => [body, headers])), "sk-secret")
      })
    ))

  it("M5 a key of another provider and no model: said in one line, with what to write and nothing of the key", async () => {
    const { answer, said, stderr } = await asking({ ANTHROPIC_API_KEY: "sk-ant-secret" })
    assert.match(answer, /not a language model/)
    const lines = stderr.trimEnd().split("\n")
    assert.lengthOf(lines, 1)
    assert.match(
      lines[0] ?? "",
      /ANTHROPIC_API_KEY is set, and no model is chosen: .* write model: "anthropic\/claude-[^"]+"$/
    )
    assert.notInclude(said, "sk-ant-secret")
    assert.strictEqual((await asking({})).stderr, "")
    const [other] = await withServer("Hello.", async ({ url }) => [
      await asking({ ANTHROPIC_API_KEY: "sk-ant-secret", OPENAI_BASE_URL: url })
    ])
    assert.strictEqual(other?.stderr, "")
  })

  it("an unknown provider, and a key that is missing: refused with what to write", async () => {
    const refused = async (model: string) => {
      const failure = await asking({}, model).then(
        () => "it was taken",
        (error: { readonly stderr: string }) => error.stderr
      )
      return failure
    }
    assert.include(
      await refused("antropic/claude-x"),
      `of the unknown provider "antropic"; there are openai, anthropic, google`
    )
    assert.include(await refused("anthropic/claude-x"), `needs its key: set ANTHROPIC_API_KEY in the environment`)
  })
})
