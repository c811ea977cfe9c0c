// Environment: variables that are set for a while.

export const withVariables = async (
  variables: Readonly<Record<string, string>>,
  use: () => Promise<void>
): Promise<void> => {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  try {
    await use()
  } finally {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}
