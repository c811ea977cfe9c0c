// Save: gives a value to the browser as a JSON file.

/** A name that every file system takes. */
export const fileName = (...parts: ReadonlyArray<string | number>): string =>
  `${parts
    .join("-")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .slice(0, 120)}.json`

export const saveJson = (name: string, value: unknown): void => {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: "application/json" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // The browser has taken hold of it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
