// Words: the step that refuses words which the project gave up for the standard terms of the field.
// Owns the list and the search. The terms that stand for them are explained in the table of ARCHITECTURE.md.
// W1  A word is found in every name, also inside camelCase, snake_case and kebab-case, and in file names.
// W2  A word that no plain sentence needs is refused in texts and comments as well.
// W3  An exception names its files and its reason; one that nothing uses fails.
// W4  Prose says who acts: a comment or a text with a word that hides it is refused. A name, and a text of one word, may be so.

import { filesOfRepository, readText } from "../../test/architecture/repository.ts"
import type { Step } from "./step.ts"

interface Retired {
  /** All forms of the word, in lower case. */
  readonly forms: ReadonlyArray<string>
  readonly instead: string
  /** In texts and comments too; otherwise in names only, for there the word has its everyday meaning. */
  readonly everywhere: boolean
}

const retired = (forms: string, instead: string, everywhere = true): Retired => ({
  forms: forms.split(" "),
  instead,
  everywhere
})

export const retiredWords: ReadonlyArray<Retired> = [
  retired("fold folds folding foldings folded unfold unfolded unfolding", "compact, compaction, undo", false),
  retired("wish wishes", "request, options, query", false),
  retired("errand errands", "assignment"),
  retired("kin kinship", "sub-agents"),
  retired("commission commissions", "sub-agent start", false),
  retired("bury buries buried burial burials", "dead letter, dead-lettered", false),
  retired("birth births born unborn newborn", "creation, created, planned", false),
  retired("aside", "discard, discarded", false),
  retired("parcel parcels removal removals", "bundle, export, import", false),
  retired("bedtime bedside", "sleep timer, sleep blockers"),
  retired("linger", "idle timeout"),
  retired("chronicle belongings shredder", "entry history, entry rows, secure delete", false),
  retired("aftermath", "follow-up"),
  retired("overheard", "ambient messages", false),
  retired("tally tallies", "totals", false),
  retired("house houses household households", "data store, open fleet, built-in, rig", false),
  retired("desk desks", "own records, tool records, gateway", false),
  retired("shelf shelves", "read cache, overrides, entry source", false),
  retired("giver givers takers roster", "publisher, waiters, hosts", false),
  retired("visit visits", "lease session", false)
]

/** A word or a phrase that prose is refused: in comments, in texts with a space, and in titles of tests. */
interface Unclear {
  readonly says: string
  readonly found: RegExp
  readonly instead: string
}

const unclear = (says: string, instead: string): Unclear => ({
  says,
  found: new RegExp(String.raw`(?<![\w-])(?:${says.replaceAll(" ", String.raw`\s+`)})(?![\w-])`, "i"),
  instead
})

/** Each has a plain word of the present day that says more: who acts, who learns of it, whose it is. */
export const unclearWords: ReadonlyArray<Unclear> = [
  unclear("whoever", "the caller, the one who, anyone who, no matter who"),
  unclear("nobody", "no one, or the subject that does not act"),
  unclear("somebody", "someone, or who it is"),
  unclear("is told|are told", "learns, receives, is asked to; of what is said: is reported"),
  unclear("hears of it|hear of it", "learns of it, learn of it"),
  unclear("what is of", "what belongs to, what concerns"),
  unclear("thereof|therein|thereby|whereof|wherein|whereby|hitherto|henceforth", "the noun that it stands for")
]

export interface Exception {
  readonly path: RegExp
  readonly word: string
  readonly reason: string
}

export const exceptions: ReadonlyArray<Exception> = [
  { path: /reverie\/src\/moving\/bundle-stream\.ts$/, word: "unfold", reason: "Stream.unfold of Effect" },
  {
    path: /^(scripts\/house|scripts\/check\/sizes|test\/tooling\/)/,
    word: "house",
    reason: "the command that measures the source is called so"
  },
  { path: /scripts\/house\/circles\.ts$/, word: "visit", reason: "a standard word for walking a graph" },
  { path: /apps\/cli\/src\/commands\/init\.ts$/, word: "desk", reason: "the first assistant of a new fleet" },
  {
    path: /assistant\/test\/filter\.(property\.)?test\.ts$/,
    word: "desks",
    reason: "a longer name is no mention of @desk"
  },
  { path: /memory\/src\/text\/porter\.ts$/, word: "shelf", reason: "an English word and its plural" },
  { path: /memory\/src\/text\/porter\.ts$/, word: "shelves", reason: "an English word and its plural" },
  { path: /memory\/test\/facts\/consolidate\.test\.ts$/, word: "house", reason: "what a person says in a sample" },
  { path: /test\/architecture\/scope\.ts$/, word: "visit", reason: "a standard word for walking a syntax tree" },
  {
    path: /^packages\/(assistant\/src\/(chart\/ignored|machine\/tool-calls|sub-agents\/steps|team\/(directory|team))|context\/src\/layout\/context-types|runtime\/src\/sub-agents\/sent-definition|adapters\/model-offline\/src\/sleep\/summary)\.ts$/,
    word: "nobody",
    reason: "a text that a model reads: another one would answer otherwise"
  },
  {
    path: /^(packages\/(assistant\/test\/(awake\.test|persona-corpus)|adapters\/(mcp|model-offline)\/test\/.*|runtime\/test\/(relay|team)\.test|reverie\/test\/fleet\.test|tools\/test\/define\.test)|test\/night\/conversation|apps\/(cli\/test\/failures|dashboard\/test\/live)\.test)\.ts$/,
    word: "nobody",
    reason: "an id, a sample, or a text that a model reads"
  },
  ...["born", "house", "wish"].map((word) => ({
    path: /testing\/dreams\/labelled(-held-out)?\.ts$/,
    word,
    reason: "what a person says in a sample"
  })),
  { path: /assistant\/src\/self\/reflection\.ts$/, word: "nobody", reason: "a list of English words" },
  { path: /assistant\/src\/self\/reflection\.ts$/, word: "somebody", reason: "a list of English words" },
  { path: /assistant\/test\/persona-corpus\.ts$/, word: "whoever", reason: "what a person says in a sample" },
  { path: /model-offline\/(src|test)\//, word: "somebody", reason: "the name of a speaker who is not known" },
  {
    path: /^(apps\/cli\/src\/commands\/init|test\/(attack\/fleets|bench)\/.*)\.ts$/,
    word: "is told|are told",
    reason: "a prompt"
  },
  {
    path: /memory\/src\/integrity\/instruction\.ts$/,
    word: "thereof|therein|thereby|whereof|wherein|whereby|hitherto|henceforth",
    reason: "the words of a rule"
  },
  { path: /(^|\/)(test|examples|testkit)\//, word: "desk", reason: "the assistant at the front desk of the harbour" }
]

export interface TextFile {
  readonly path: string
  readonly text: string
}

export interface Found {
  readonly path: string
  readonly line: number
  readonly word: string
  readonly instead: string
}

const NAME = /[A-Za-z_$][A-Za-z0-9_$]*/g
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g
const PROSE = /^\s*(?:\/\/|\*|\/\*)/

const TEXT = /"[^"\n]* [^"\n]*"|'[^'\n]* [^'\n]*'|`[^`]* [^`]*`?|(?<!:)\/\/.*$|>[^<>{}]* [^<>{}]*</g

/** The comments and texts of a line. Code between backticks is quoted, not said. */
const proseOf = (line: string): string =>
  (PROSE.test(line) ? [line] : (line.match(TEXT) ?? []))
    .map((part) => (part.startsWith("`") ? part : part.replaceAll(/`[^`]*`/g, " ")))
    .join(" ")

/** Texts with a space between words are prose: what is left of a line are its names. */
const namesOnly = (line: string): string =>
  PROSE.test(line)
    ? ""
    : line.replaceAll(/"[^"\n]* [^"\n]*"|'[^'\n]* [^'\n]*'|`[^`]*`?|\/\/ .*$|>[^<>{}]* [^<>{}]*</g, " ")

const partsOf = (text: string): ReadonlySet<string> =>
  new Set((text.match(NAME) ?? []).flatMap((name) => name.match(PART) ?? []).map((part) => part.toLowerCase()))

/** Every retired word of a file that no exception allows. `used` collects the exceptions that were needed. */
export const retiredIn = (
  { path, text }: TextFile,
  used = new Set<Exception>(),
  allowed: ReadonlyArray<Exception> = exceptions
): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const note = (word: string, instead: string, line: number): void => {
    const exception = allowed.find((each) => each.word === word && each.path.test(path))
    if (exception === undefined) found.push({ path, line, word, instead })
    else used.add(exception)
  }
  const look = (part: string, line: number): void => {
    const names = partsOf(namesOnly(part))
    const all = partsOf(part)
    const prose = proseOf(part)
    for (const { found: unclearWord, instead, says } of unclearWords) {
      if (unclearWord.test(prose)) note(says, instead, line)
    }
    for (const { everywhere, forms, instead } of retiredWords) {
      for (const word of forms) {
        if ((everywhere ? all : names).has(word)) note(word, instead, line)
      }
    }
  }
  look(path, 0)
  for (const [index, line] of text.split("\n").entries()) look(line, index + 1)
  return found
}

/** The list itself, and its test, hold every word. */
export const LISTS: ReadonlySet<string> = new Set(["scripts/check/words.ts", "test/tooling/words.test.ts"])

export const words: Step = {
  name: "words",
  unit: "files",
  prove: () => {
    const paths = filesOfRepository("*.ts", "*.tsx").filter((path) => !LISTS.has(path))
    const used = new Set<Exception>()
    const found = paths.flatMap((path) => retiredIn({ path, text: readText(path) }, used))
    const idle = exceptions.filter((exception) => !used.has(exception))
    const lines = [
      ...found.map(({ instead, line, path, word }) => `${path}:${line}: "${word}": say ${instead}`),
      ...idle.map(({ path, word }) => `the exception for "${word}" in ${path} is not needed any more`)
    ]
    return Promise.resolve({ ok: lines.length === 0, count: paths.length, output: lines.join("\n") })
  }
}
