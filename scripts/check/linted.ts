// Linted: which files the linter reads, and where its rules stand.
// Owns the arguments of the linter. A pattern in its configuration would count from scripts/check, not from the root.

export const linted: ReadonlyArray<string> = [
  "--config",
  "scripts/check/oxlint.json",
  "--ignore-pattern",
  "**/dist/**",
  "--ignore-pattern",
  "**/fixtures/**",
  "--type-aware",
  "--deny-warnings"
]
