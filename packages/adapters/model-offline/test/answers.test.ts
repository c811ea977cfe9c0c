import { assert, describe, it } from "@effect/vitest"
import { rowsFor } from "./asked.ts"
import { answersIt } from "../src/sleep/answers.ts"

const DAY = "2024-02-29T09:30Z"

const factsOf = (...lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  rowsFor("consolidate", ...lines)
    .flatMap(({ facts }) => facts as ReadonlyArray<{ readonly text: string }>)
    .map(({ text }) => text)

describe("answers", () => {
  it("C3 who speaks in another conversation neither answers nor is meant by you", () => {
    const lines = [
      "Conversation 1:",
      `[m/1/0] ${DAY} Gus: When did you move into that flat?`,
      "Conversation 2:",
      `[m/2/0] ${DAY} Ann: In 2019.`,
      `[m/3/0] ${DAY} Ann: I saw you at your desk in Graz.`
    ]
    assert.deepStrictEqual(factsOf(...lines), ["Ann saw you at your desk in Graz"])
    const together = lines.filter((line) => line.startsWith("["))
    assert.strictEqual(factsOf(...together)[0], "Ann told Gus when Ann did move into that flat: In 2019")
  })

  it("C3 what the assistant answered waits for no one", () => {
    const [question, reply] = [`[a] ${DAY} Gus: When did you move into that flat?`, `[b] ${DAY} Ann: In 2019.`]
    assert.lengthOf(factsOf(question, reply), 1)
    assert.deepStrictEqual(factsOf(question, "(answered)", reply), [])
  })

  it("P1 P2 what does not fit the question, or is about something else, answers nothing", () => {
    const meeting = "The weekly meeting is on Tuesday at 10."
    const none: ReadonlyArray<readonly [question: string, answer: string]> = [
      ["When is my biopsy for the melanoma?", meeting],
      ["Who knows about my bankruptcy in Quagmire?", "I work at the airport."],
      ["What time is it?", meeting],
      ["Is the crane broken?", meeting],
      ["Do you like oysters?", "I work at the airport."],
      ["Where did you grow up?", "I have a dog."],
      ["How many ships came in?", "The ships are late."],
      ["When does the ferry leave?", "The ferry is red."],
      ["What is my balance?", "I live in Oslo."]
    ]
    for (const [question, answer] of none) assert.isFalse(answersIt(question, answer, answer), `${question} ${answer}`)
  })

  it("P2 a time, a place, a number, a name, yes or no, about the same", () => {
    const fitting: ReadonlyArray<readonly [question: string, answer: string]> = [
      ["When did you move into that flat?", "In 2019."],
      ["When does the ferry leave?", "The ferry leaves at noon."],
      ["Where did you grow up?", "In a village near Turin, with my grandparents."],
      ["How many dogs do you have?", "Two of them."],
      ["Who fixed the roof?", "My neighbour Petra did it."],
      ["Do you have any pets?", "I have a dog and a cat."],
      ["Are you still living out by the airport?", "Nope, I rent a room near the old mill now."],
      ["Why are you limping?", "I tore a muscle at football practice on Tuesday."],
      ["Which camera do you use?", "A Fuji that my aunt gave me."]
    ]
    for (const [question, answer] of fitting)
      assert.isTrue(answersIt(question, answer, answer), `${question} ${answer}`)
  })
})
