// A process of its own, to be killed on the way: encrypts a directory, or gives it other keys, and says when it begins and when it is done.

import { encrypt, rotateKeys } from "reverie"

const [verb = "", data = "", file = ""] = process.argv.slice(2)
const encryption = { key: { file } }
process.stdout.write("begins\n")
if (verb === "encrypt") await encrypt({ data, encryption })
else await rotateKeys({ data, encryption, renew: true })
process.stdout.write("done\n")
