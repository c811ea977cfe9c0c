import { archiveLaws, archiveMutants, memoryArchiveLayer } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory store: archive laws", archiveLaws, memoryArchiveLayer)
bite("archive laws bite", archiveLaws, archiveMutants)
