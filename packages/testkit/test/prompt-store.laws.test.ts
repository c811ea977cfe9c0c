import { memoryPromptStoreLayer, promptStoreLaws, promptStoreMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory prompt store: prompt store laws", promptStoreLaws, () => memoryPromptStoreLayer())
bite("prompt store laws bite", promptStoreLaws, promptStoreMutants)
