// Version: which Reverie this is.

import { readFileSync } from "node:fs"
import { say, sayJson } from "../output.ts"

/** Read from the manifest, the only place where it stands. */
export const ownVersion = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  return String(Reflect.get(manifest as object, "version"))
}

export const version = ({ json }: { readonly json: boolean }): number => {
  if (json) sayJson({ ok: true, version: ownVersion(), node: process.versions.node })
  else say(ownVersion())
  return 0
}
