import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, test } from "@effect/vitest"
import { porterStem } from "../../src/text/porter.ts"

const roots = `relate condition ration valence hesitate digit conform radical differ vile analog vital predicate operate
  feudal decisive hope callous formal sensitive triplicate form electric good revive allow infer airline gyroscope adjust
  defense irritate replace depend adopt homolog communism activate angular effect bowdler probe rate cease control roll fly
  agree happy sky plaster motor conflate trouble size hop tan fall hiss fizz fail file log theory apology biology toy die
  lie box fix bus kiss generous general university paint harbour sail`.split(/\s+/)

const endings =
  `s es ed ing eed ly y ies al ally ational tional enci anci izer logi bli abli alli entli eli ousli ization
  ation ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness ance ence er ic able
  ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize ll e`.split(/\s+/)

/** Every root with every ending, as it is, without its e, and with its last letter doubled. */
const made = roots.flatMap((root) => [
  root,
  ...endings.flatMap((ending) => [root + ending, root.replace(/e$/, "") + ending, root + root.slice(-1) + ending])
])

// Real conversations stand beside the checkout, never in it. Without them the made words have to do.
const directory = resolve(import.meta.dirname, "../../../../../shared/data/locomo-dev")
const said = (existsSync(directory) ? readdirSync(directory) : []).flatMap(
  (name) =>
    readFileSync(join(directory, name), "utf8")
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
)

test("P1 a stem is what the porter tokeniser of SQLite makes of the word", () => {
  const words = [...new Set([...made, ...said])].filter((word) => word.length < 64)
  const database = new DatabaseSync(":memory:")
  database.exec(`CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = 'porter unicode61');
    CREATE VIRTUAL TABLE stems USING fts5vocab (words, instance); BEGIN`)
  const insert = database.prepare("INSERT INTO words (rowid, word) VALUES (?, ?)")
  for (const [index, word] of words.entries()) insert.run(index, word)
  const stems = database.prepare("SELECT doc, term FROM stems").all()
  const differing = stems.flatMap(({ doc, term }) => {
    const word = words[Number(doc)] ?? ""
    return porterStem(word) === term ? [] : [`${word}: ${porterStem(word)}, not ${String(term)}`]
  })
  database.close()
  assert.isAtLeast(stems.length, 10_000)
  assert.deepStrictEqual(differing, [])
})
