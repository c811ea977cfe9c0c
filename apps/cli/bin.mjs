#!/usr/bin/env node
// Bin: the command `reverie` as npm links it. Any Node from 20 on may start it, as it may the scripts of npm.
// Leaves everything to `scripts/run.mjs`, which hands over to the Node that runs TypeScript.

process.argv.splice(2, 0, "apps/cli/src/main.ts")
await import("../../scripts/run.mjs")
