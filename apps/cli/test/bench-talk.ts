// BenchTalk: two people who talk, as the suite `locomo` publishes it, for the tests of `bench memory`.

export const SAID: ReadonlyArray<readonly [string, string]> = [
  ["Mara", "My brother Ivo keeps the lighthouse on Skerry Point."],
  ["Tove", "Does he like the quiet there?"],
  ["Mara", "He does. We rowed out on Sunday with a basket of plums."],
  ["Tove", "I sold my old accordion to a neighbour."],
  ["Mara", "You played it so well!"],
  ["Tove", "The reeds were broken, and I want a cello instead."]
]

const QUESTIONS = [
  { question: "Who keeps the lighthouse?", answer: "Ivo", category: 4, evidence: ["D1:1"] },
  { question: "Which instrument does Tove want?", answer: "a cello", category: 1, evidence: ["D1:4; D1:6"] },
  { question: "Which ferry does Ivo own?", category: 5, evidence: [], adversarial_answer: "none" }
]

export const locomo = [
  {
    sample_id: "conv-1",
    conversation: {
      speaker_a: "Mara",
      speaker_b: "Tove",
      session_1_date_time: "1:56 pm on 8 May, 2023",
      session_1: SAID.map(([speaker, text], index) => ({ speaker, text, dia_id: `D1:${index + 1}` }))
    },
    qa: QUESTIONS
  }
]
