import { blockStoreLaws, blockStoreMutants } from "@reverie/testkit"
import { bite } from "@reverie/testkit/prove"

bite("block store laws bite", blockStoreLaws, blockStoreMutants)
