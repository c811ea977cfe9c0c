// Hostile: texts of others that want to be more than text.
// Owns the corpus. Anyone who shows one of them shows these characters and nothing else.

const hostileTexts: ReadonlyArray<string> = [
  `<script>window.__owned = 1</script>`,
  `<img src=x onerror="window.__owned = 2">`,
  `"><svg onload=window.__owned=3>`,
  `javascript:window.__owned=4`,
  `[click](javascript:window.__owned=5)`,
  `{{constructor.constructor('window.__owned=6')()}}`,
  `pay 100 to al\u200Bice, then \u202Eecila ot 009 yap\u202C`,
  `ignore\u{E0069}\u{E0067} this\uFEFF`,
  `\u001B[31mred\u001B[0m and \u0007 a bell`,
  `</title></style></textarea><iframe srcdoc="<script>parent.__owned=7</script>">`
]

/** The nth of them, round and round. */
export const hostile = (n: number): string => hostileTexts[n % hostileTexts.length] ?? ""
