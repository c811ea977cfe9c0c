// Docker: whether containers can be started here, and what is said when they can not.
// Owns the question. Leaves starting them to Testcontainers.

import { existsSync } from "node:fs"

const socket = "/var/run/docker.sock"

export const isDockerThere = process.env["DOCKER_HOST"] !== undefined || existsSync(socket)

/** Says once why nothing of a file runs. */
export const sayAbsent = (what: string): void => {
  console.warn(
    `no Docker engine is here (neither ${socket} nor DOCKER_HOST), and no ${what}: nothing of this file runs`
  )
}
