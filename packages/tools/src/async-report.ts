// AsyncReport: what a run gives that has its report at hand already, and still owes it as a later envelope.
// Owns the pair and how it is recognised. Leaves sending the report to the runtime.
// I1  Only what `asyncReport` made is one: an object of a user with the same members is shown as any other value.

export class AsyncReport {
  readonly acknowledgement: string
  readonly report: string
  constructor(acknowledgement: string, report: string) {
    if (typeof acknowledgement !== "string") throw new TypeError("asyncReport needs a text as its first argument")
    if (typeof report !== "string") throw new TypeError("asyncReport needs a text as its second argument")
    this.acknowledgement = acknowledgement
    this.report = report
    Object.freeze(this)
  }
}

/**
 * The acknowledgement answers the step that started the call; the report arrives as an envelope of its own. Only a
 * tool with `background: true` may give it.
 */
export const asyncReport = (acknowledgement: string, report: string): AsyncReport =>
  new AsyncReport(acknowledgement, report)
