// The module of an isolated tool.

import type { IsolatedRun } from "reverie"

export default (_: unknown, { assistant }: IsolatedRun): string => `${assistant}, in process ${process.pid}`
