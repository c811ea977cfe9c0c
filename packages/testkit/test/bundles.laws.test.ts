import { memoryDataStoresLayer, bundleLaws, bundleMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory data store: bundle laws", bundleLaws, memoryDataStoresLayer)
bite("bundle laws bite", bundleLaws, bundleMutants)
