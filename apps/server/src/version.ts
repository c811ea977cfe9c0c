// Version: of this server, as its package says.

import packageOfServer from "../package.json" with { type: "json" }

export const version: string = packageOfServer.version
