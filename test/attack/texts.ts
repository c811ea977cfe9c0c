// Texts: long texts of every kind that costs something somewhere: counting, cleaning, indexing, judging, storing.
// Owns their number and form. The same at every run.

export const CHARACTERS = 1_000_000

let state = 12_345
const random = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((state / 4_294_967_296) * below)
}

const filled = (unit: (index: number) => string): string => {
  const units: Array<string> = []
  for (let length = 0, index = 0; length < CHARACTERS; index++) {
    const next = unit(index)
    units.push(next)
    length += next.length
  }
  return units.join("").slice(0, CHARACTERS)
}

const oneOf = (choices: ReadonlyArray<string>): string => choices[random(choices.length)] ?? ""
const signs = (text: string): (() => string) => {
  const choices = [...text]
  return () => oneOf(choices)
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const WORDS = ["the ", "harbour ", "master ", "said ", "that ", "boat ", "seven ", "would ", "come ", "at ", "noon. "]

/** Each by its kind. */
export const kinds: Readonly<Record<string, () => string>> = {
  letters: () => filled(signs("abcdefghijklmnopqrstuvwxyz")),
  "one word": () => "a".repeat(CHARACTERS),
  punctuation: () => filled(signs("!?.,;:-_#*+~")),
  base64: () => filled(signs(BASE64)),
  CJK: () => filled(() => String.fromCharCode(0x4e00 + random(20_000))),
  emoji: () => filled(() => String.fromCodePoint(0x1f600 + random(70))),
  digits: () => filled(signs("0123456789")),
  // A message of nothing but white space says nothing, and is refused.
  spaces: () => `.${" ".repeat(CHARACTERS - 1)}`,
  "line ends": () => `.${"\n".repeat(CHARACTERS - 1)}`,
  "a@a@": () => "a@".repeat(CHARACTERS / 2),
  brackets: () => "[".repeat(CHARACTERS / 2) + "]".repeat(CHARACTERS / 2),
  addresses: () => filled((index) => `https://h${index}.example.com/p/${random(1e9)}?q=${random(1e9)}&x=${index} `),
  marks: () => filled((index) => (index % 9 === 0 ? "e" : String.fromCharCode(0x300 + random(100)))),
  "lone surrogates": () => filled(() => String.fromCharCode(0xd800 + random(0x800))),
  "zero width": () => filled(() => oneOf(["\u200B", "\u200C", "\u200D", "\u2060", "\uFEFF"])),
  "mixed scripts": () => filled(() => oneOf(["а", "β", "漢", "ا", "א", "ก", "ह", "あ", "x", "é"])),
  markdown: () => filled((index) => `## Head ${index}\n- **bold** and _it_ [link](http://x.y/${index})\n`),
  JSON: () => filled((index) => `{"id":${index},"name":"n${random(1e6)}","tags":["a","b"],"v":{"x":${random(1e9)}}},`),
  code: () => filled((index) => `function f${index}(a, b) { return a_${random(99)}.map((x) => x * ${index}) }\n`),
  "one word again and again": () => filled(() => "buffalo "),
  numbers: () => filled(() => `${random(1e9)}${random(1e9)}.${random(1e9)} `),
  bytes: () => filled(() => String.fromCharCode(random(256))),
  English: () => filled(() => oneOf(WORDS))
}
