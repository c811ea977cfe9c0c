// Parts of messages: kept once and before the message, shown to models that take them, told of in words to others.

import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { later } from "@reverie/testkit/later"
import { assert, describe, test } from "vitest"
import {
  backup,
  defineAssistant,
  defineFleet,
  defineTool,
  EnvelopeInvalid,
  exportFleet,
  Fleet,
  forkTick,
  type GivenPart,
  importFleet,
  type PromiseModel,
  promptsOfTick,
  restore
} from "../src/index.ts"
import { aDirectory, failureOf } from "./rig.ts"

/** One pixel. */
const PNG = new Uint8Array(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64"
  )
)
const digest = createHash("sha256").update(PNG).digest("hex")
const berth: GivenPart = { type: "image", data: PNG, mediaType: "image/png", name: "berth.png" }
const plan: GivenPart = { type: "file", data: "JVBERi0xLjQK", mediaType: "application/pdf", name: "plan.pdf" }

type Asked = Parameters<PromiseModel["infer"]>[0]

/** A model that says the same to everything, and what it was asked. */
const listening = (accepts?: ReadonlyArray<string>, says?: ReturnType<PromiseModel["infer"]>) => {
  const asked: Array<Asked> = []
  const model: PromiseModel = {
    name: "listener",
    ...(accepts === undefined ? {} : { accepts }),
    infer: async (prompt) => {
      asked.push(prompt)
      return (await says) ?? "I see."
    }
  }
  return { asked, model }
}

const open = (model: PromiseModel, over: Partial<Parameters<typeof Fleet.open>[0]> = {}, tools = [] as never[]) =>
  Fleet.open({
    data: ":memory:",
    model,
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", tools })] }),
    ...over
  })

const entriesOf = async (fleet: Fleet) => (await fleet.history.entries("desk", 1, 100)).map(({ entry }) => entry)

const messagesOf = async (fleet: Fleet) => (await entriesOf(fleet)).flatMap(({ messages }) => messages)

describe("a message with parts", () => {
  test("is kept as a reference, and its bytes once; a model that takes images is shown them", async () => {
    const { asked, model } = listening(["image"])
    await using fleet = await open(model)
    assert.strictEqual(await fleet.answer("desk", "What is this?", { parts: [berth, plan] }), "I see.")
    const said = (await messagesOf(fleet)).find(({ role }) => role === "user")
    const image = { type: "image", digest, mediaType: "image/png", bytes: 70, width: 1, height: 1, name: "berth.png" }
    assert.deepStrictEqual(said?.parts?.[0] as unknown, image)
    assert.strictEqual(said?.content, "What is this?")
    assert.deepStrictEqual(await fleet.blob(digest), PNG)

    const shown = asked[0]?.messages.at(-1)
    assert.deepStrictEqual(shown?.parts, [{ ...image, data: PNG }] as never)
    assert.strictEqual(
      shown?.content,
      "What is this?\n[image berth.png, image/png, 70 bytes]\n[file plan.pdf, application/pdf, 9 bytes: not shown to this model]"
    )
    await fleet.answer("desk", "And this?", {
      parts: [{ type: "image", data: `data:image/png;base64,${Buffer.from(PNG).toString("base64")}` }]
    })
    assert.strictEqual(asked[1]?.messages.at(-1)?.parts?.[0]?.digest, digest)
  })

  test("is a line of text for a model that takes none, also where there is no text", async () => {
    const { asked, model } = listening()
    await using fleet = await open(model)
    await fleet.answer("desk", "", { parts: [berth] })
    const shown = asked[0]?.messages.at(-1)
    assert.isUndefined(shown?.parts)
    assert.strictEqual(shown?.content, "[image berth.png, image/png, 70 bytes: not shown to this model]")
  })

  test("is refused with one sentence, and then nothing of it is kept", async () => {
    await using fleet = await open(listening().model)
    const refused: ReadonlyArray<readonly [unknown, string]> = [
      [[{ ...berth, data: "" }], "part 1 is empty"],
      [
        [plan, { ...berth, mediaType: "image/jpeg" }],
        "part 2 has the mediaType image/jpeg, and its bytes are no such image"
      ],
      [[{ ...plan, data: new Uint8Array(10 * 1_048_576 + 1) }], "part 1 has more than 10 MiB, which one part may have"],
      [Array.from({ length: 11 }, () => plan), "a message has at most 10 parts, and this one has 11"],
      [
        [1, 2, 3].map((at) => ({ ...plan, data: new Uint8Array(8 * 1_048_576).fill(at) })),
        "the parts of a message have at most 20 MiB together, and these have more"
      ],
      [
        [{ type: "image", data: "https://example.org/a.png" }],
        "part 1 is an address; give its bytes, for nothing is fetched"
      ],
      [[{ type: "video", data: PNG }], 'part 1 has the type "video"; there are image, file, audio'],
      [[{ type: "file", data: "aGFsbG8=" }], "part 1 has no mediaType, such as application/pdf"],
      [[{ type: "file", data: "no base64!", mediaType: "text/plain" }], "part 1 has data that is no base64"],
      [
        [{ type: "image", data: "PHN2Zy8+", mediaType: "image/svg+xml" }],
        "part 1 is an image of the mediaType image/svg+xml; that must be one of image/png, image/jpeg, image/gif, image/webp"
      ],
      [[{ ...berth, url: "x" }], 'part 1 has "url", which no part has; it has type, data, mediaType, name'],
      ["berth.png", "parts must be a list of { type, data, mediaType }"]
    ]
    for (const [parts, message] of refused) {
      const failure = await failureOf(fleet.send("desk", "Look.", { parts: parts as never }))
      assert.instanceOf(failure, EnvelopeInvalid)
      assert.strictEqual(failure.message, message)
    }
    assert.isUndefined(await fleet.blob(digest))
    assert.strictEqual((await entriesOf(fleet)).length, 1)
    const most = { ...plan, data: new Uint8Array(10 * 1_048_576) }
    assert.strictEqual((await fleet.send("desk", "Look.", { parts: [most] })).outcome, "accepted")
  })

  test("may refer to bytes that are kept here already, and to no others", async () => {
    const { asked, model } = listening(["image"])
    await using fleet = await open(model)
    await fleet.answer("desk", "Look.", { parts: [berth] })
    const [part] = (await messagesOf(fleet)).flatMap(({ parts = [] }) => parts)
    assert.isDefined(part)
    await fleet.post("desk", { type: "message", text: "Again.", parts: [part] })
    await fleet.idle()
    assert.deepStrictEqual(asked.at(-1)?.messages.at(-1)?.parts?.[0]?.data, PNG)

    const gone = { ...part, digest: "0".repeat(64) }
    const failure = await failureOf(fleet.post("desk", { type: "message", text: "Look.", parts: [gone] }))
    assert.include(failure.message, "no 70 bytes are kept here under the digest 0000")
    const foreign = fleet.forTenant("pier")
    await foreign.create("desk")
    assert.instanceOf(
      await failureOf(foreign.post("desk", { type: "message", text: "Look.", parts: [part] })),
      EnvelopeInvalid
    )
    assert.isUndefined(await foreign.blob(digest))
  })

  test("that is sent again under its id is a duplicate, and with another part a reused id", async () => {
    await using fleet = await open(listening().model)
    await fleet.send("desk", "Look.", { id: "a", parts: [berth] })
    assert.strictEqual((await fleet.send("desk", "Look.", { id: "a", parts: [berth] })).outcome, "duplicate")
    assert.strictEqual((await failureOf(fleet.send("desk", "Look.", { id: "a", parts: [plan] }))).name, "IdReused")
  })

  test("keeps the order of what is sent at once", async () => {
    const { asked, model } = listening()
    await using fleet = await open(model)
    await Promise.all([fleet.send("desk", "one", { parts: [berth] }), fleet.send("desk", "two")])
    await fleet.idle()
    assert.match(asked[0]?.messages.at(-1)?.content ?? "", /^one/)
  })
})

describe("what makes parts", () => {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    run: () => ({ text: "A berth.", parts: [{ type: "image" as const, data: PNG, mediaType: "image/png" }] })
  })

  const calling = (accepts: ReadonlyArray<string>) => {
    const asked: Array<Asked> = []
    const model: PromiseModel = {
      name: "looker",
      accepts,
      infer: async (prompt) => {
        asked.push(prompt)
        return asked.length === 1 ? { calls: [{ tool: "look" }] } : "Seen."
      }
    }
    return { asked, model }
  }

  test("a tool gives them beside its text, and the model is shown them with the result", async () => {
    const { asked, model } = calling(["image"])
    await using fleet = await open(model, {}, [look] as never[])
    assert.strictEqual(await fleet.answer("desk", "Look."), "Seen.")
    const result = asked[1]?.messages.find(({ role }) => role === "tool")
    assert.strictEqual(result?.content, "A berth.")
    assert.deepStrictEqual(result?.parts?.[0]?.data, PNG)
    const kept = (await messagesOf(fleet)).find(({ role }) => role === "tool")
    assert.strictEqual(kept?.parts?.[0]?.digest, digest)
    assert.deepStrictEqual(await fleet.blob(digest), PNG)
  })

  test("what can not be kept is named in the result", async () => {
    const { asked, model } = calling(["image"])
    const empty = defineTool({
      name: "look",
      description: "Looks.",
      run: () => ({ text: "A berth.", parts: [{ type: "image" as const, data: "", mediaType: "image/png" }] })
    })
    await using fleet = await open(model, {}, [empty] as never[])
    await fleet.answer("desk", "Look.")
    const result = asked[1]?.messages.find(({ role }) => role === "tool")
    assert.strictEqual(result?.content, "A berth.\n[What belongs to it is not kept: part 1 is empty.]")
  })

  test("a model answers with them: recorded before they are used, and part of the answer", async () => {
    const made = { text: "Here it is.", parts: [{ ...berth, name: "made.png" }] }
    const { asked, model } = listening(["image"], Promise.resolve(made))
    await using fleet = await open(model)
    const parts = await Array.fromAsync(fleet.ask("desk", "Draw a berth."))
    const done = parts.at(-1)
    assert.strictEqual(done?.type, "done")
    assert.strictEqual(done?.type === "done" ? done.parts?.[0]?.digest : "", digest)
    assert.deepStrictEqual(await fleet.blob(digest), PNG)
    await fleet.answer("desk", "Bluer.")
    const own = asked[1]?.messages.find(({ role }) => role === "assistant")
    assert.deepStrictEqual(own?.parts?.[0]?.data, PNG)
  })

  test("an answer of an image alone is an answer", async () => {
    const { model } = listening([], Promise.resolve({ parts: [berth] }))
    await using fleet = await open(model)
    const end = (await Array.fromAsync(fleet.ask("desk", "Draw."))).at(-1)
    assert.deepStrictEqual(end?.type === "done" ? [end.reply, end.parts?.length] : end, ["", 1])
  })
})

describe("a language model of the AI SDK", () => {
  const model = (specificationVersion: string, asked: Array<never>) => {
    const data = specificationVersion === "v4" ? { type: "data", data: PNG } : PNG
    const content = [{ type: "file", mediaType: "image/png", data }]
    const end = {
      finishReason: specificationVersion === "v2" ? "stop" : { unified: "stop", raw: "stop" },
      usage: { inputTokens: 1, outputTokens: 1 }
    }
    return {
      specificationVersion,
      provider: "seeing.chat",
      modelId: "seeing-1",
      supportedUrls: { "image/*": [] },
      doStream: async ({ prompt }: { readonly prompt: never }) => {
        asked.push(prompt)
        return { stream: ReadableStream.from([...content, { type: "finish", ...end }]) }
      },
      doGenerate: async ({ prompt }: { readonly prompt: never }) => {
        asked.push(prompt)
        return { content, ...end, warnings: [] }
      }
    } as never
  }

  test.each(["v2", "v3", "v4"])("%s is given file parts and gives them", async (version) => {
    const asked: Array<never> = []
    await using fleet = await open(model(version, asked))
    await fleet.send("desk", "What is this?", { parts: [berth, plan] })
    await fleet.idle()
    const data = version === "v4" ? { type: "data", data: PNG } : PNG
    const [, said] = asked[0] as unknown as ReadonlyArray<{ readonly content: ReadonlyArray<unknown> }>
    assert.deepStrictEqual(said?.content.slice(1), [
      { type: "file", data, mediaType: "image/png", filename: "berth.png" }
    ])
    const answer = (await messagesOf(fleet)).findLast(({ role }) => role === "assistant")
    assert.strictEqual(answer?.parts?.[0]?.digest, digest)
  })
})

describe("a life with parts", () => {
  test("counts them towards the window as far as its model takes them", async () => {
    const tokensWith = async (accepts: ReadonlyArray<string>) => {
      await using fleet = await open(listening(accepts).model)
      await fleet.answer("desk", "Look.", { parts: [berth] })
      return (await messagesOf(fleet)).find(({ role }) => role === "user")?.tokens ?? 0
    }
    const [taken, told] = [await tokensWith(["image"]), await tokensWith([])]
    assert.isAtLeast(taken, 255)
    assert.isBelow(told, 60)
  })

  test("is in a backup, and back with it", async () => {
    const [data, to] = [aDirectory(), aDirectory()]
    const { model } = listening(["image"])
    {
      await using fleet = await open(model, { data })
      await fleet.answer("desk", "Look.", { parts: [berth] })
    }
    await backup({ data, to })
    const other = aDirectory()
    await restore({ data: other, from: to })
    await using fleet = await open(model, { data: other })
    assert.deepStrictEqual(await fleet.blob(digest), PNG)
  })

  test("is durable before it is accepted: a process that is killed then leaves a message whose bytes are there", async () => {
    const data = aDirectory()
    const child = fileURLToPath(new URL("children/sending-parts.ts", import.meta.url))
    const word = "the quay"
    await new Promise<void>((resolve, reject) => {
      const options = ["--disable-warning=ExperimentalWarning", "--conditions=@reverie/source", child, data, word]
      const running = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] })
      later(() => void running.kill("SIGKILL"))
      running.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (text.includes("accepted")) running.kill("SIGKILL")
      })
      running.on("close", (_, signal) => (signal === "SIGKILL" ? resolve() : reject(new Error("it ended by itself"))))
    })
    const { asked, model } = listening(["file"])
    await using fleet = await open(model, { data })
    await fleet.idle()
    assert.strictEqual(
      Buffer.from(asked[0]?.messages.at(-1)?.parts?.[0]?.data ?? []).toString(),
      "the plan of the quay"
    )
  }, 60_000)

  test("moves with its blobs, forks and replays", async () => {
    const { model } = listening(["image"])
    const fleetOf = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
    const [here, there] = [aDirectory(), aDirectory()]
    const lines: Array<string> = []
    {
      await using fleet = await Fleet.open({ data: here, model, fleet: fleetOf })
      await fleet.answer("desk", "What is this?", { parts: [berth] })
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      const fork = await forkTick(fleet, fleetOf, { assistant: "desk", tick: 1, model: "recorded" })
      assert.deepStrictEqual(fork.differs, [])
      const [prompt] = await promptsOfTick(fleet, fleetOf, { assistant: "desk", tick: 1 })
      assert.isTrue(prompt?.exact)
      const seen = listening(["image"])
      await forkTick(fleet, fleetOf, { assistant: "desk", tick: 1, model: seen.model })
      assert.deepStrictEqual(seen.asked[0]?.messages.at(-1)?.parts?.[0]?.data, PNG)
    }
    for await (const line of exportFleet({ from: { data: here } })) lines.push(line)
    assert.include(lines.join(""), `"kind":"blob","digest":"${digest}"`)
    const source = async function* () {
      yield new TextEncoder().encode(lines.join(""))
    }
    await importFleet({ into: { data: there }, source })
    await using moved = await Fleet.open({ data: there, model, fleet: fleetOf })
    assert.deepStrictEqual(await moved.blob(digest), PNG)
  }, 60_000)

  test("goes on where a part is too large for the prompt: a line stands in its place", async () => {
    const { asked, model } = listening(["file"])
    const small = defineAssistant({ id: "desk", instructions: "You are under test.", maxContextTokens: 6_000 })
    await using fleet = await open(model, { fleet: defineFleet({ assistants: [small] }) })
    await fleet.answer("desk", "Read this.", { parts: [{ ...plan, data: new Uint8Array(2_000_000).fill(65) }] })
    const shown = asked[0]?.messages.at(-1)
    assert.isUndefined(shown?.parts)
    assert.strictEqual(
      shown?.content,
      "Read this.\n[file plan.pdf, application/pdf, 2.0 MB: too large for this prompt]"
    )
  })
})
