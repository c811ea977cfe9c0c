// Rewriting: a planted fault as a change of one line of a module, made while the server loads it.
// R1  A fault that is not planted is never passed over: where the line is not found, the server does not start.

import { registerHooks } from "node:module"

/** Replaces `line` of the module whose URL ends so; for what no prototype offers, like an exported function. */
export const rewrite = (module: string, line: string, planted: string): void => {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      if (!url.endsWith(module)) return loaded
      const source = String(loaded.source)
      if (!source.includes(line)) throw new Error(`planted: ${module} has no such line: ${line}`)
      return { ...loaded, source: source.replace(line, () => planted) }
    }
  })
}
