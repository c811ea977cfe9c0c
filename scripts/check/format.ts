// npm run format

import { formatted } from "./formatted.ts"
import { allOf, run } from "./program.ts"

const said = await run("oxfmt", formatted)
process.stdout.write(allOf(said))
process.exitCode = said.code
