// ModuleType: how Node takes a file: as an ES module, or as CommonJS because the nearest package.json says so.

import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"

const typeIn = async (folder: string): Promise<{ readonly type: unknown } | undefined> => {
  try {
    const found: unknown = JSON.parse(await readFile(join(folder, "package.json"), "utf8"))
    return { type: typeof found === "object" && found !== null ? Reflect.get(found, "type") : undefined }
  } catch {
    return undefined
  }
}

/** Whether the package.json that counts for a file says that its `.ts` and `.js` are CommonJS. */
export const isCommonJs = async (file: string): Promise<boolean> => {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = await typeIn(folder)
    if (found !== undefined) return found.type === "commonjs"
    if (folder === dirname(folder)) return false
  }
}
