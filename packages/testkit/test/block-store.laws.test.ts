import { blockDisk, blockStoreLaws, memoryBlockStoreLayer } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"

prove("memory block store: block store laws", blockStoreLaws, () => memoryBlockStoreLayer())
prove("memory block store without a document in memory: block store laws", blockStoreLaws, () =>
  memoryBlockStoreLayer(blockDisk(), { documents: 0 })
)
