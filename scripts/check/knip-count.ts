// Knip count: a reporter for knip that says how many files it examined, which its own reporters keep to themselves.

import type { Reporter } from "knip"

const report: Reporter = ({ counters }) => {
  process.stdout.write(`examined ${counters.processed} files\n`)
}

export default report
