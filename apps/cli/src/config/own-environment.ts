// OwnEnvironment: the environment as the process was given it, before files were put beside it.

let given: Readonly<Record<string, string | undefined>> | undefined

/** Keeps what was given; called before files are applied. */
export const keepEnvironment = (): Readonly<Record<string, string | undefined>> => {
  given = { ...process.env }
  return given
}

export const environment = (): Readonly<Record<string, string | undefined>> => given ?? process.env
