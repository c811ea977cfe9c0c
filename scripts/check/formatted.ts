// Formatted: which files have the repository's form, and where that form is described.
// Owns the arguments of the formatter. Prose, the lockfile, data and fixtures keep the form they have.

export const formatted: ReadonlyArray<string> = [
  "--config",
  "scripts/check/oxfmt.json",
  ".",
  "!**/*.md",
  "!package-lock.json",
  "!**/*.jsonl",
  "!**/fixtures/**"
]
