// HostileModes: the closed list of ways in which a model server misbehaves.
// Owns the list, joined from its four families. Leaves the judging to one table-driven test per client.

import type { HostileMode } from "./hostile-mode.ts"
import { contentModes } from "./modes-content.ts"
import { httpModes } from "./modes-http.ts"
import { streamModes } from "./modes-stream.ts"
import { toolModes } from "./modes-tools.ts"

const all = { ...httpModes, ...contentModes, ...toolModes, ...streamModes }

export type HostileModeName = keyof typeof all

export const hostileModes: Readonly<Record<HostileModeName, HostileMode>> = all

export const hostileModeNames = Object.keys(all) as ReadonlyArray<HostileModeName>
