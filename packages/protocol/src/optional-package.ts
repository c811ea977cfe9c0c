// OptionalPackage: a package that only those install who use it.
// Owns the one sentence that is said where it is missing. Leaves what needs it, and when, to its callers.
// O1  Only a package of the list that is not installed is called missing; any other failure to load stays what it was.

import * as Schema from "effect/Schema"

/**
 * Something was asked for that needs a package which is not installed. The developer must install it.
 * @example if (error instanceof PackageMissing) console.error(error.message)
 */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  packages: Schema.Array(Schema.String),
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

const isMissing = (error: unknown, packages: ReadonlyArray<string>): boolean => {
  if (!(error instanceof Error) || !String(Reflect.get(error, "code")).endsWith("MODULE_NOT_FOUND")) return false
  const [, wanted = ""] = /(?:package|module) '([^']+)'/.exec(error.message) ?? []
  return packages.some((name) => wanted === name || wanted.startsWith(`${name}/`))
}

/** Loads what stands on these packages; `what` is the subject of the sentence, e.g. `Redis`. */
export const loadWith = async <A>(
  what: string,
  packages: ReadonlyArray<string>,
  load: () => Promise<A>
): Promise<A> => {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, packages)) throw error
    const message = `${what} needs a package that is not installed: npm i ${packages.join(" ")}`
    throw new PackageMissing({ packages, message })
  }
}
