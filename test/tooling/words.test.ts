import { assert, describe, test } from "vitest"
import { type Exception, exceptions, retiredIn, retiredWords, unclearWords } from "../../scripts/check/words.ts"

const wordsIn = (text: string, path = "packages/x/src/y.ts") => retiredIn({ path, text }).map(({ word }) => word)

describe("words", () => {
  test("W1 a retired word is found in every kind of name", () => {
    assert.deepStrictEqual(wordsIn("const nextErrand = 1"), ["errand"])
    assert.deepStrictEqual(wordsIn("const ERRANDS_OVER = 1"), ["errands"])
    assert.deepStrictEqual(wordsIn('import { a } from "./fold-job.ts"'), ["fold"])
    assert.deepStrictEqual(wordsIn("", "packages/runtime/src/fold/plan.ts"), ["fold"])
    assert.deepStrictEqual(wordsIn("const folder = manifold(fold_now)"), ["fold"])
  })

  test("W2 a word that plain sentences need may stand in them; a private one may not", () => {
    assert.deepStrictEqual(wordsIn("// As you wish, it was born."), [])
    assert.deepStrictEqual(wordsIn('say("whatever you wish for")'), [])
    assert.deepStrictEqual(wordsIn("/** The errand is over. */"), ["errand"])
  })

  test("W3 an exception allows its word in its files, and is seen to be used", () => {
    const exception: Exception = { path: /^packages\/x\//, word: "wish", reason: "a test" }
    const used = new Set<Exception>()
    assert.deepStrictEqual(retiredIn({ path: "packages/x/a.ts", text: "const wish = 1" }, used, [exception]), [])
    assert.isTrue(used.has(exception))
    assert.lengthOf(retiredIn({ path: "packages/y/a.ts", text: "const wish = 1" }, used, [exception]), 1)
  })

  test("W4 prose that hides who acts is refused; a name, a text of one word and quoted code may be so", () => {
    const TOLD = "is told|are told"
    assert.deepStrictEqual(wordsIn("// Whoever asks is told so."), ["whoever", TOLD])
    assert.deepStrictEqual(wordsIn(' * It is told\n * "a b" nobody'), [TOLD, "nobody"])
    assert.deepStrictEqual(wordsIn('test("N1 nobody reads it", () => {})'), ["nobody"])
    assert.deepStrictEqual(wordsIn("say(`the model ${id} is  told ${why}`)"), [TOLD])
    assert.deepStrictEqual(wordsIn("<p>It knows nobody yet</p>"), ["nobody"])
    assert.deepStrictEqual(wordsIn("run() // nobody waits"), ["nobody"])
    assert.deepStrictEqual(wordsIn('const nobody = find("nobody", NOBODY)'), [])
    assert.deepStrictEqual(wordsIn("// `nobody` is told-like."), [])
    assert.deepStrictEqual(wordsIn("// The caller learns why; no one waits."), [])
  })

  test("every word stands in the list once, and every exception is of a word of the list", () => {
    const forms = [...retiredWords.flatMap((each) => each.forms), ...unclearWords.map(({ says }) => says)]
    assert.strictEqual(new Set(forms).size, forms.length)
    for (const { reason, word } of exceptions) {
      assert.include(forms, word)
      assert.isNotEmpty(reason)
    }
  })
})
