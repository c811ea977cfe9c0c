// Tidy: loaded before each test file, so that what its rigs opened is closed at its end, and what it set in the
// environment is not set for the next.

import { tidy } from "@reverie/testkit/later"
import { afterAll, vi } from "vitest"

/** A long run of random lives leaves thousands of directories. */
const MOST_MILLIS = 600_000

afterAll(tidy, MOST_MILLIS)
afterAll(() => void vi.unstubAllEnvs())
