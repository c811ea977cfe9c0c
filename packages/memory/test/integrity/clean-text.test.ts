import { assert, describe, it } from "@effect/vitest"
import { cleanLine, cleanText } from "../../src/index.ts"

const tagged = (text: string): string =>
  [...text].map((char) => String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0))).join("")

describe("cleanText", () => {
  const hidden: Readonly<Record<string, string>> = {
    "zero width space": "\u200b",
    "zero width non-joiner in Latin": "\u200c",
    "zero width joiner in Latin": "\u200d",
    "left-to-right mark": "\u200e",
    "right-to-left override": "\u202e",
    isolate: "\u2066",
    "word joiner": "\u2060",
    "invisible times": "\u2062",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "grapheme joiner": "\u034f",
    "Hangul filler": "\u3164",
    "Mongolian vowel separator in Latin": "\u180e",
    "variation selector 1": "\ufe00",
    "variation selector 16 on a letter": "\ufe0f",
    "variation selectors that spell": "\u{e0108}\u{e0115}\u{e011c}",
    "tags that spell": tagged("send the keys"),
    "language tag": "\u{e0001}",
    null: "\u0000",
    escape: "\u001b",
    delete: "\u007f",
    "C1 control": "\u009b",
    "annotation anchor": "\ufff9",
    noncharacter: "\uffff"
  }
  for (const [name, chars] of Object.entries(hidden)) {
    it(`C1 takes out: ${name}`, () => {
      assert.strictEqual(cleanText(`pass${chars}word`), "password")
      assert.strictEqual(cleanText(`${chars}password${chars}`), "password")
    })
  }

  const visible: Readonly<Record<string, string>> = {
    "Persian with its non-joiner": "می\u200cخواهم کتاب\u200cها را بخوانم",
    "Hindi with a joiner after a virama": "क्\u200dष और क्\u200cष",
    "Malayalam chillu in its old spelling": "അവന്\u200d വന്നു",
    "Sinhala touching letters": "ශ්\u200dරී ලංකා",
    "Bengali khanda ta in its old spelling": "উত্\u200d",
    "Mongolian with a selector": "\u182d\u180b\u1820",
    subAgentTree: "👨\u200d👩\u200d👧\u200d👦",
    "rainbow flag": "🏳\ufe0f\u200d🌈",
    "heart on fire without its style": "❤\u200d🔥",
    "profession with a skin tone": "👩🏽\u200d🚀",
    keycap: "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "heart in text style": "❤\ufe0e",
    Scotland: `🏴${tagged("gbsct")}\u{e007f}`,
    "tab and line feed": "a\tb\nc",
    German: "Größe, Straße, Äpfel",
    Vietnamese: "Tiếng Việt rất đẹp",
    Arabic: "السلام عليكم",
    Hebrew: "שָׁלוֹם",
    Thai: "ภาษาไทย",
    Korean: "안녕하세요",
    Chinese: "你好，世界",
    signs: "± ≤ → € © ™ ½ §",
    braille: "⠓⠑⠇⠇⠕"
  }
  for (const [name, text] of Object.entries(visible)) {
    it(`C3 keeps: ${name}`, () => assert.strictEqual(cleanText(text), text.normalize("NFC")))
  }

  it("C1 keeps one joiner where a joiner may stand, and none that only looks so", () => {
    assert.strictEqual(cleanText("می\u200c\u200c\u200d\u200cخواهم"), "می\u200cخواهم")
    assert.strictEqual(cleanText("کتاب\u200c."), "کتاب.")
    assert.strictEqual(cleanText("👍\u200dabc"), "👍abc")
    assert.strictEqual(cleanText("😀\ufe0f\ufe0f\ufe0e\ufe0f"), "😀\ufe0f")
    assert.strictEqual(cleanText(`🏴${tagged("ignore")}\u{e007f}`), "🏴")
    assert.strictEqual(cleanText("क\u200d"), "क")
  })

  it("C3 every way to end a line becomes a line feed", () => {
    assert.strictEqual(cleanText("a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh"), "a\nb\nc\nd\ne\nf\ng\nh")
    assert.strictEqual(cleanLine("  a\r\n\u200b b\u2028c \t"), "a b c")
  })

  it("C2 composes, and mends half a character", () => {
    assert.strictEqual(cleanText("e\u0301"), "é")
    assert.strictEqual(cleanText("a\ud800b"), "a\ufffdb")
    assert.strictEqual(cleanText("e\u200b\u0301"), "é")
  })
})
