import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type ModelRequest, startModelServer } from "@reverie/testkit/model-server"
import { assert, describe, test } from "vitest"
import { liveThrough } from "../src/bench/lives.ts"
import { sampled } from "../src/bench/memory-bench.ts"
import { plainSearch } from "../src/bench/plain-search.ts"
import { type Life, readSuite } from "../src/bench/suites.ts"
import { locomo, SAID } from "./bench-talk.ts"
import { assertFailure, temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

const turn = (role: string, content: string, more: object = {}) => ({ role, content, ...more })

const long = [
  {
    question_id: "q7_abs",
    question_type: "single-session-user",
    question: "Which ferry do I own?",
    answer: "It was not said.",
    question_date: "2023/05/30 (Tue) 23:40",
    haystack_dates: ["2023/05/20 (Sat) 02:21", "2023/05/19 (Fri) 10:00"],
    haystack_session_ids: ["s1", "s2"],
    haystack_sessions: [
      [turn("user", "I want a cello."), turn("assistant", "A fine idea.")],
      [turn("user", "My ferry is late.", { has_answer: true })]
    ],
    answer_session_ids: ["s2"]
  }
]

const chat = [
  {
    batch_number: 1,
    time_anchor: "March-15-2024",
    turns: [
      [
        turn("user", "I keep bees.", { id: 0, time_anchor: "March-15-2024" }),
        turn("assistant", "How many hives of bees do you keep behind the car?", { id: 1 })
      ],
      [turn("user", "Two hives.", { id: 2, time_anchor: null })]
    ]
  }
]

const probing = {
  abstention: [{ question: "What is my car?", ideal_response: "That is not in the chat.", rubric: ["not known"] }],
  knowledge_update: [
    { question: "How many hives?", answer: "Two", source_chat_ids: { first: [0], updated: [[2]] }, rubric: ["two"] }
  ]
}

/** Writes the files of a suite into a directory. */
const written = async (folder: string, files: Readonly<Record<string, unknown>>): Promise<string> => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), typeof content === "string" ? content : JSON.stringify(content))
  }
  return folder
}

describe("S1 files as their authors publish them", () => {
  test("locomo: sessions, times, turns and what each question is answered by", async () => {
    await using folder = await temporary()
    const [life] = await readSuite("locomo", await written(folder.path, { "locomo10.json": locomo }))
    assert.strictEqual(life?.turns.length, SAID.length)
    assert.deepInclude(life?.turns[1], { id: "D1:2", from: "Tove", session: "session_1" })
    assert.strictEqual(life?.turns[1]?.atMillis, Date.UTC(2023, 4, 8, 13, 56, 20))
    assert.deepStrictEqual(
      life?.questions.map(({ category, evidence, isUnanswered }) => ({ category, evidence, isUnanswered })),
      [
        { category: "single-hop", evidence: ["D1:1"], isUnanswered: false },
        { category: "multi-hop", evidence: ["D1:4", "D1:6"], isUnanswered: false },
        { category: "adversarial", evidence: [], isUnanswered: true }
      ]
    )
  })

  test("longmemeval: a history a question, in the order of its days", async () => {
    await using folder = await temporary()
    const [life] = await readSuite("longmemeval-s", await written(folder.path, { "longmemeval_s_cleaned.json": long }))
    assert.deepStrictEqual(
      life?.turns.map(({ text }) => text),
      ["My ferry is late.", "I want a cello.", "A fine idea."]
    )
    assert.deepInclude(life?.questions[0], { evidence: ["1/s2/0"], sessions: ["s2"], isUnanswered: true })
  })

  test("beam: chats of several sizes, sources however deep", async () => {
    await using folder = await temporary()
    const files = { "100K/1/chat.json": chat, "100K/1/probing_questions/probing_questions.json": probing }
    const [life] = await readSuite("beam", await written(folder.path, files))
    const day = Date.UTC(2024, 2, 15)
    assert.deepStrictEqual(
      life?.turns.map(({ atMillis, id }) => [id, atMillis - day]),
      [
        ["0", 0],
        ["1", 20_000],
        ["2", 40_000]
      ]
    )
    assert.deepStrictEqual(
      life?.questions.map(({ answer, evidence, isUnanswered }) => [answer, evidence, isUnanswered]),
      [
        ["That is not in the chat.", [], true],
        ["Two", ["0", "2"], false]
      ]
    )
  })

  test("what is none of it is refused with its file, conversation and field", async () => {
    await using folder = await temporary()
    const refused = async (suite: string, name: string, content: unknown, words: string) => {
      await using own = await temporary()
      await written(own.path, { [name]: content })
      const failed = await said(["bench", "memory", "--suite", suite, "--data", own.path, "--json"])
      assertFailure(failed, 2, "suite-invalid", words)
      assert.include(failed.stderr, join(own.path, name))
    }
    const [sample] = locomo
    const talk = { ...sample?.conversation, session_1_date_time: "yesterday" }
    const when = 'conversation 1 (conv-1) is not of the form of this suite: session_1_date_time is no date: "yesterday"'
    await refused("locomo", "locomo10.json", [{ ...sample, conversation: talk }], when)
    const none =
      "conversation 2 (conv-2) is not of the form of this suite: conversation is missing, an object is expected"
    await refused("locomo", "locomo10.json", [...locomo, { sample_id: "conv-2", qa: [] }], none)
    const mute = { ...sample?.conversation, session_1: [{ speaker: "Mara", dia_id: "D1:1" }] }
    const place = "conversation 1 (conv-1), session_1, number 1 is not of the form of this suite: text must be a text"
    await refused("locomo", "locomo10.json", [{ ...sample, conversation: mute }], place)
    const lined = { id: "D1:1", at: "yesterday", from: "Mara", text: "Hello.", session: "1" }
    await written(folder.path, { "conv-1.questions.jsonl": JSON.stringify({ question: "Who?" }) })
    await written(folder.path, { "conv-1.jsonl": JSON.stringify(lined) })
    const late = await said(["bench", "memory", "--suite", "locomo", "--data", folder.path, "--json"])
    assertFailure(
      late,
      2,
      "suite-invalid",
      'conv-1.jsonl, line 1 is not of the form of this suite: at is no date: "yesterday"'
    )
    const [row] = long
    const dated = { ...row, haystack_dates: ["2023/05/20 (Sat) 02:21", "soon"] }
    const day = 'conversation 1 (q7_abs), session 2 is not of the form of this suite: haystack_dates is no date: "soon"'
    await refused("longmemeval-s", "longmemeval_s.json", [dated], day)
  })

  test("what is none of it is refused with its place", async () => {
    await using folder = await temporary()
    await written(folder.path, {
      "locomo10.json": [{ conversation: { session_1: [], session_1_date_time: "noon" }, qa: [] }]
    })
    const bench = (suite: string, data = folder.path) =>
      said(["bench", "memory", "--suite", suite, "--data", data, "--json"])
    assertFailure(await bench("locomo"), 2, "suite-invalid", "session_1")
    assertFailure(await bench("mine"), 2, "usage", "there is no suite mine")
    assertFailure(await bench("beam"), 2, "suite-invalid", "nothing of beam is there")
    assertFailure(await bench("locomo", join(folder.path, "none")), 4, "no-such-file", "can not be read")
    await written(folder.path, { "longmemeval_s.json": "[{" })
    assertFailure(await bench("longmemeval-s"), 2, "suite-invalid", "longmemeval_s.json")
  })
})

describe("bench memory", () => {
  test("finds what was said, beside plain search, without any model", async () => {
    await using folder = await temporary()
    await written(folder.path, { "locomo10.json": locomo })
    const { code, stderr, stdout } = await said([
      "bench",
      "memory",
      "--suite",
      "locomo",
      "--data",
      folder.path,
      "--json"
    ])
    const report = JSON.parse(stdout)
    assert.strictEqual(code, 0, stderr)
    const { answers, measured, questions, retrieval, tokens } = report
    assert.deepStrictEqual([questions, measured, answers], [3, 2, undefined])
    for (const each of ["plain", "before", "after"]) {
      assert.strictEqual(retrieval[each].categories["single-hop"]["recall@5"], 1, each)
      assert.strictEqual(retrieval[each].overall["sessions@5"], 1, each)
    }
    assert.isAbove(tokens.whole, 60)
    assert.isAbove(tokens.memory, 0)
    assert.notInclude(stderr, "WARN")
  })

  test("S3 a turn without a text is left out and counted, in every suite", async () => {
    const counted = async (suite: string, files: Readonly<Record<string, unknown>>, turns: number) => {
      await using folder = await temporary()
      await written(folder.path, files)
      const asked = ["bench", "memory", "--suite", suite, "--data", folder.path]
      const { code, stderr, stdout } = await said([...asked, "--json"])
      assert.strictEqual(code, 0, stderr)
      const report = JSON.parse(stdout)
      assert.deepStrictEqual([report.turns, report.emptyTurns], [turns, 1])
      assert.match(stderr, /^1 turn without a text is left out, the first of .+: .+$/m)
      return (await said(asked)).stdout
    }
    const [sample] = locomo
    const silent = SAID.map(([speaker], index) => ({
      speaker,
      text: index === 3 ? "" : `Hello ${index}.`,
      dia_id: `D1:${index + 1}`
    }))
    const talk = [{ ...sample, conversation: { ...sample?.conversation, session_1: silent } }]
    assert.include(await counted("locomo", { "locomo10.json": talk }, SAID.length - 1), "(1 without a text left out)")
    const sessions = [
      [turn("user", " \n", { has_answer: true }), turn("assistant", "A fine idea.")],
      [turn("user", "My ferry is late.")]
    ]
    await counted("longmemeval-s", { "longmemeval_s.json": [{ ...long[0], haystack_sessions: sessions }] }, 2)
    const [batch] = chat
    const mute = [{ ...batch, turns: [[...(batch?.turns[0] ?? [])], [turn("user", "", { id: 2 })]] }]
    await counted("beam", { "1/chat.json": mute, "1/probing_questions/probing_questions.json": probing }, 2)
  })

  test("a turn that can not be told is named with its conversation", async () => {
    await using folder = await temporary()
    const [sample] = locomo
    const session = [{ speaker: "Mara".repeat(100), text: "Hello.", dia_id: "D1:1" }]
    const talk = [{ ...sample, conversation: { ...sample?.conversation, session_1: session } }]
    await written(folder.path, { "locomo10.json": talk })
    const failed = await said(["bench", "memory", "--suite", "locomo", "--data", folder.path, "--json"])
    assertFailure(failed, 2, "suite-invalid", "conv-1, turn D1:1: ")
  })

  test("a judge without a model, and a model without its key, are refused before anything is lived through", async () => {
    await using folder = await temporary()
    await written(folder.path, { "locomo10.json": locomo })
    const bench = (...more: ReadonlyArray<string>) =>
      said(["bench", "memory", "--suite", "locomo", "--data", folder.path, "--json", ...more])
    assertFailure(
      await bench("--judge", "openai/x"),
      2,
      "usage",
      "--judge judges the answers of a --model, and none is named"
    )
    const keyless = await bench("--model", "groq/x")
    assertFailure(keyless, 2, "fleet-invalid", "needs its key: set GROQ_API_KEY")
    assert.include(JSON.parse(keyless.stdout).error.hint, "offline needs no key")
  })

  test("B3 A1 with a model every way is asked and judged, and what is no verdict is counted as wrong", async () => {
    await using folder = await temporary()
    await written(folder.path, { "locomo10.json": locomo })
    const textOf = ({ messages }: ModelRequest): string => messages.map(({ content }) => String(content)).join("\n")
    const server = await startModelServer({
      script: (request) => {
        const text = textOf(request)
        if (!text.startsWith("You judge answers")) return { text: text.includes("cello instead") ? "A cello." : "Ivo." }
        return { text: text.includes("ferry") ? "perhaps" : text.includes("Answer: Ivo") ? "Yes." : "no" }
      }
    })
    try {
      const model = `${server.url}#fake`
      const asked = ["--suite", "locomo", "--data", folder.path, "--model", model, "--top", "6", "--window", "400"]
      const { code, stderr, stdout } = await said(["bench", "memory", ...asked, "--json"])
      assert.strictEqual(code, 0, stderr)
      const { memory, plain, whole } = JSON.parse(stdout).answers
      assert.deepInclude(memory, { asked: 3, unjudged: 1 })
      assert.deepInclude(plain, { asked: 3, unjudged: 1 })
      assert.isAbove(memory.inputTokens, 0)
      // 9 answers with a verdict each; the rest is asked by the dream.
      assert.isAbove(server.requests.length, 18)
      // With the whole text in view "A cello." is all that this model says.
      assert.deepInclude(whole, { asked: 3, right: 0, tooLong: 0 })
      const short = await said(["bench", "memory", ...asked.slice(0, -1), "10"])
      assert.include(short.stdout, "3 too long to ask")
      assert.include(short.stdout, `answers of ${model}`)
    } finally {
      await server.close()
    }
  })

  test("B5 a model that refuses is found out before anything is lived through; one that fails later loses no figure", async () => {
    await using folder = await temporary()
    await written(folder.path, { "locomo10.json": locomo })
    let left = 3
    const server = await startModelServer({
      script: (request) => {
        const isDream = !request.messages.some(({ content }) =>
          /^You (?:judge answers|answer a question)/.test(String(content))
        )
        return isDream || left-- > 0 ? { text: "yes" } : { refuse: "no more" }
      }
    })
    const asked = (url: string) =>
      said(["bench", "memory", "--suite", "locomo", "--data", folder.path, "--model", `${url}#fake`, "--json"])
    try {
      const { code, stdout } = await asked(server.url)
      assert.strictEqual(code, 0)
      const { answers, retrieval } = JSON.parse(stdout)
      assert.deepInclude(answers.memory, { asked: 0, failed: 3 })
      assert.strictEqual(retrieval.after.overall.questions, 2)
      const refused = await asked(server.url)
      assert.notStrictEqual(refused.code, 0)
      assert.notInclude(refused.stderr, "turns")
    } finally {
      await server.close()
    }
  })

  test("B5 A2 a request of a dream that is refused, and a question that is, end nothing: the question is neither right nor wrong", async () => {
    await using folder = await temporary()
    await written(folder.path, { "locomo10.json": locomo })
    let dreamt = 0
    const server = await startModelServer({
      script: (request) => {
        const text = request.messages.map(({ content }) => String(content)).join("\n")
        const isFirst = !/^You (?:judge answers|answer a question)/m.test(text) && dreamt++ === 0
        return isFirst || /Question: .*ferry/.test(text) ? { refuse: "filtered" } : { text: "yes" }
      }
    })
    try {
      const asked = ["bench", "memory", "--suite", "locomo", "--data", folder.path, "--model", `${server.url}#fake`]
      const { code, stderr, stdout } = await said(asked)
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^memory +2 +1\.000 +\d+   1 failed$/m)
      assert.match(stderr, /q2: filtered/)
      assert.isAbove(dreamt, 0)
    } finally {
      await server.close()
    }
  })

  test("L1 in a chat the assistant answers in the words of the file, and they are found", async () => {
    await using folder = await temporary()
    const files = { "100K/1/chat.json": chat, "100K/1/probing_questions/probing_questions.json": probing }
    const [life] = await readSuite("beam", await written(folder.path, files))
    assert.isDefined(life)
    const { before } = await liveThrough(life, { top: 5 })
    const [car = [], hives] = before.map(({ turns }) => turns.toSorted())
    assert.include(car, "1")
    assert.deepStrictEqual(hives, ["0", "1", "2"])
  })

  test("B1 a seed chooses the same questions again, and another one others", () => {
    const question = (id: number) => ({
      id: String(id),
      text: "",
      category: "",
      evidence: [],
      sessions: [],
      answer: "",
      rubric: [],
      isUnanswered: false
    })
    const lives: ReadonlyArray<Life> = [0, 1].map((each) => ({
      name: String(each),
      isChat: false,
      turns: [],
      questions: Array.from({ length: 40 }, (_, index) => question(each * 40 + index))
    }))
    const ids = (seed: number) => sampled(lives, seed, 10).flatMap(({ questions }) => questions.map(({ id }) => id))
    assert.lengthOf(ids(1), 10)
    assert.deepStrictEqual(ids(1), ids(1))
    assert.notDeepEqual(ids(1), ids(2))
  })

  test("plain search ranks rare words above common ones, and leaves out what has none", () => {
    const turns = SAID.map(([from, text], index) => ({ id: String(index), atMillis: 0, from, text }))
    assert.deepStrictEqual(plainSearch(turns)("the lighthouse", 2)[0], "0")
    assert.deepStrictEqual(plainSearch(turns)("zeppelin", 5), [])
  })

  test("the guide names the command as it is", async () => {
    const guide = await readFile(new URL("../../../docs/guides/memory.md", import.meta.url), "utf8")
    assert.include(guide, "reverie bench memory --suite")
  })
})
