import { memorySegmentPlaceLayer, segmentPlaceLaws, segmentPlaceMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory: segment place laws", segmentPlaceLaws, memorySegmentPlaceLayer)
bite("segment place laws bite", segmentPlaceLaws, segmentPlaceMutants)
